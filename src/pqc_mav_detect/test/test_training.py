# SPDX-License-Identifier: Apache-2.0
"""From recordings to models: the same seed makes the same trees, and steps instead of minutes the same transformer."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_evaluation import recorded

from pqc_mav_detect import training
from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import FORGERY
from pqc_mav_detect.dataset import write_rows
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import RULES, TST, XGBOOST
from pqc_mav_detect.examples import Seen, targets
from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.rules import thresholds
from pqc_mav_detect.training import MADE, main, train


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
    files = [package / "rules" / MADE[RULES], package / "trees" / MADE[XGBOOST], package / "tst" / MADE[TST]]
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
    ("options", "until"),
    [
        ((), {"budget_s": 1200.0}),
        (("--minutes", "2"), {"budget_s": 120.0}),
        (("--steps", "300"), {"steps": 300}),
        (("--steps", "300", "--minutes", "2"), {"steps": 300}),
    ],
)
def test_training_ends_by_the_clock_or_after_so_many_steps(
    folder: Path, options: tuple[str, ...], until: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    def trained(found: list[Seen], form: str, seed: int, **limits: Any) -> tuple[bytes, int]:
        heard.append((form, seed, limits))
        return b"model", 5

    monkeypatch.setitem(sys.modules, "pqc_mav_detect.tst.train", SimpleNamespace(train=trained))
    monkeypatch.setattr("pqc_mav_detect.tst.train", SimpleNamespace(train=trained), raising=False)
    into = folder / "models"
    assert main([str(folder), str(into), "--what", "tst", "--form", "published", "--seed", "4", *options]) == 0
    assert heard == [("published", 4, until)] and (into / "model.onnx").read_bytes() == b"model"


def test_what_is_missing_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="no recordings for training"):
        train("rules", tmp_path, tmp_path)
    assert main([str(tmp_path), str(tmp_path), "--what", "rules"]) == 2
    assert "no recordings for training" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path), str(tmp_path), "--steps", "0"])
