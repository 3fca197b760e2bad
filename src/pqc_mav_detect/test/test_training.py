# SPDX-License-Identifier: Apache-2.0
"""From recordings to models: the same seed makes the same trees, and steps instead of minutes the same transformer."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scenes import Scene, alarms, judged
from test_evaluation import recorded

from pqc_mav_detect import training
from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import FORGERY, Level
from pqc_mav_detect.dataset import write_rows
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import FILES, RULES, TST, XGBOOST, make
from pqc_mav_detect.examples import Seen, targets
from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.rules import thresholds
from pqc_mav_detect.training import train


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings as the laboratory names them: calm with a few forgeries that are normal there, and an attack."""
    pytest.importorskip("pyarrow")
    write_rows(tmp_path / "train-normal-25.parquet", recorded("25/s normal", "", 2.0, 10.0, 18.0))
    write_rows(tmp_path / "train-attacks-25.parquet", recorded("25/s forge@60", FORGERY, 60.0, 10.0, 18.0))
    return tmp_path


def seen(seed: int) -> list[Seen]:
    """Five minutes of noisy normal traffic, of which the fourth is for the limits, and as much of an attack."""
    generator = np.random.default_rng(seed)
    found = []
    for name, kind, forged in (("train-normal-25", "", 0.0), ("train-attacks-25", FORGERY, 30.0)):
        rows = recorded(name, kind, forged, 10.0, 290.0, 300.0)
        for row in rows:
            row.window.values["opened"] = float(generator.normal(320.0, 40.0))  # type: ignore[index]
        found.append(Seen(name, "gcs", rows, targets(rows)))
    return found


def test_the_sample_and_the_models_of_the_tree_are_small() -> None:
    package, tests = Path(training.__file__).parent, Path(__file__).parent
    files = [package / "rules" / FILES[RULES], package / "trees" / FILES[XGBOOST], package / "tst" / FILES[TST]]
    files += [path for path in tests.iterdir() if path.suffix in (".gz", ".npz", ".parquet")]
    assert len(files) >= 5 and sum(path.stat().st_size for path in files) <= 2_000_000


def test_thresholds_are_learned_from_normal_traffic_alone(folder: Path) -> None:
    said = train("rules", folder, folder / "models")
    assert said == f"{folder / 'models' / 'thresholds.csv'}: learned from 300 windows of normal traffic"
    learned = thresholds.parse((folder / "models" / "thresholds.csv").read_text())
    assert learned["forged"].allowance == pytest.approx(thresholds.ABOVE_MEAN * 2.0)
    assert learned["replayed"].allowance == CHANNELS["replayed"].allowance


def test_the_same_seed_makes_the_same_trees_and_another_one_others() -> None:
    pytest.importorskip("xgboost")
    from pqc_mav_detect.trees import train as trees

    (first, _), (again, _), (other, _) = (trees.train(seen(1), seed) for seed in (7, 7, 8))
    for name in ("feature", "threshold", "leaf", "base"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
    assert first.save() == again.save()
    assert not np.array_equal(first.leaf, other.leaf)
    attacked = seen(2)[1]
    rows, goals = trees.table(attacked)
    named = [first.probabilities(row).argmax() for row in rows[goals == OUTPUTS.index(FORGERY)]]
    assert np.mean(np.array(named) == OUTPUTS.index(FORGERY)) > 0.95


def test_the_transformer_has_the_published_form_and_one_of_patches() -> None:
    torch = pytest.importorskip("torch")
    from pqc_mav_detect.tst.inputs import COLUMNS, WINDOW
    from pqc_mav_detect.tst.network import FORMS, Transformer

    assert WINDOW == 400
    for form, patch, tokens, width in (("published", 1, 400, 128), ("patch", 8, 50, 64)):
        model = Transformer(FORMS[form])
        assert len(model.layers) == 3 and {layer.heads for layer in model.layers} == {16}
        assert tuple(model.place.shape) == (tokens, width) and model.embed.in_features == patch * len(COLUMNS)
        asked = []
        model.layers[0].register_forward_pre_hook(lambda _, given, asked=asked: asked.append(tuple(given[0].shape)))
        assert tuple(model(torch.zeros(2, WINDOW, len(COLUMNS))).shape) == (2, len(OUTPUTS))
        assert asked == [(2, tokens, width)]


def test_so_many_steps_from_one_seed_make_the_same_transformer() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("onnx")
    from pqc_mav_detect.tst import train as tst

    (first, done), (again, _), (other, _) = (tst.train(seen(1), "patch", seed, steps=2) for seed in (7, 7, 8))
    assert done == 2 and first == again != other


@pytest.mark.parametrize(
    ("given", "until"),
    [
        ({}, {"budget_s": 1200.0}),
        ({"minutes": 2.0}, {"budget_s": 120.0}),
        ({"steps": 300, "minutes": 2.0}, {"steps": 300}),
    ],
)
def test_training_ends_by_the_clock_or_after_so_many_steps(
    folder: Path, given: dict[str, Any], until: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    def trained(found: list[Seen], form: str, seed: int, **limits: Any) -> tuple[bytes, int]:
        heard.append((form, seed, limits))
        return b"model", 5

    monkeypatch.setitem(sys.modules, "pqc_mav_detect.tst.train", SimpleNamespace(train=trained))
    monkeypatch.setattr("pqc_mav_detect.tst.train", SimpleNamespace(train=trained), raising=False)
    into = folder / "models"
    train(TST, folder, into, "published", 4, **given)
    assert heard == [("published", 4, until)] and (into / "model.onnx").read_bytes() == b"model"


def test_own_thresholds_judge(folder: Path) -> None:
    train(RULES, folder, folder)
    table = folder / FILES[RULES]
    scene = Scene()
    windows = [*scene.run(10.0), *scene.run(3.0, drop_malformed=6100.0)]
    assert max(level for level, _ in alarms(judged(make(RULES, table), windows))) > Level.NONE
    table.write_text(re.sub(r"^([^,]+,[^,]+),[\d.e+-]+,", r"\1,1e9,", table.read_text(), flags=re.MULTILINE))
    assert alarms(judged(make(RULES, table), windows)) == [(Level.NONE, "")]


def test_what_is_missing_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no recordings for training"):
        train(RULES, tmp_path, tmp_path)
    table = tmp_path / FILES[RULES]
    with pytest.raises(ModelError, match="No such file"):
        make(RULES, table)
    table.write_text("a,b\n1,2\n")
    with pytest.raises(ModelError, match="cannot be read: there is no column 'allowance'"):
        make(RULES, table)


def test_a_table_of_something_else_is_no_recording(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    file = tmp_path / "train-normal-x.parquet"
    parquet.write_table(pyarrow.table({"x": [1, 2]}), file)
    for what in (RULES, XGBOOST):
        with pytest.raises(ModelError, match="is no recording of windows: it has no column"):
            train(what, tmp_path, tmp_path / "models")
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(ModelError, match="is no recording of windows"):
        train(RULES, tmp_path, tmp_path / "models")
