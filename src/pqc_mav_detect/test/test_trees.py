# SPDX-License-Identifier: Apache-2.0
"""The tables give what xgboost gives: the shipped model against margins that xgboost computed, and live where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scenes import Scene, alarms, judged
from test_recorded import RUNS

from pqc_mav_detect import classes
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import RULES, XGBOOST, make
from pqc_mav_detect.history import NAMES
from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.trees.detector import Trees, read, shipped
from pqc_mav_detect.trees.tables import from_xgboost, load
from pqc_mav_detect.window import LinkView

MARGINS = Path(__file__).parent / "xgboost_margins.npz"  # of the model that is shipped, by xgboost 3.2.0


def test_the_shipped_model_gives_xgboosts_margins_to_the_last_bit() -> None:
    with np.load(MARGINS) as file:
        rows, margins = file["rows"].astype(np.float32), file["margins"]
    assert len(rows) > 40 and len(set(margins.argmax(1))) >= 6
    found = np.array([shipped().margins(row) for row in rows])
    assert np.array_equal(found, margins)


def test_the_tables_survive_a_file() -> None:
    tables = shipped()
    again = load(tables.save())
    row = np.ones(len(NAMES), np.float32)
    assert np.array_equal(again.margins(row), tables.margins(row)) and again.limits == dict(tables.limits)
    assert tables.probabilities(row).sum() == pytest.approx(1.0, abs=1e-5)


def test_any_booster_live() -> None:
    xgboost = pytest.importorskip("xgboost")
    generator = np.random.default_rng(3)
    rows = generator.normal(size=(2000, 9)).astype(np.float32)
    goals = (rows[:, 0] > 0.3).astype(int) + (rows[:, 1] * rows[:, 2] > 0.5)
    settings = {"objective": "multi:softprob", "num_class": 3, "max_depth": 5, "gamma": 0.5, "nthread": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(rows, goals), 25)
    names, kinds = tuple(map(str, range(9))), ("a", "b", "c")
    tables = from_xgboost(booster.save_raw("json"), names, kinds, {})
    want = booster.predict(xgboost.DMatrix(rows), output_margin=True)
    assert np.array_equal(np.array([tables.margins(row) for row in rows]), want)


def test_calm_traffic_is_calm_and_attacks_are_named() -> None:
    assert alarms(judged(Trees(), Scene().run(60.0))) == [(Level.NONE, "")]
    for kind, counter in (("forgery", "drop_auth_fail"), ("handshake_flood", "hs_gate"), ("flood", "drop_malformed")):
        scene = Scene()
        verdicts = judged(Trees(), [*scene.run(20.0), *scene.run(3.0, **{counter: 60.0})])
        assert verdicts[-1].kind == kind and verdicts[-1].level is Level.ATTACK
        assert verdicts[-1].evidence and verdicts[-1].first_seen_s is not None


def test_few_copies_are_only_suspected_and_a_silence_is_a_blackout() -> None:
    scene = Scene()
    verdicts = judged(Trees(), [*scene.run(20.0), *scene.run(5.0, drop_replay=9.0)])
    assert {verdict.level for verdict in verdicts} <= {Level.NONE, Level.SUSPICIOUS}
    verdicts = judged(Trees(), [*scene.run(20.0), *scene.run(2.0, opened=0.0)])
    assert (verdicts[-1].kind, verdicts[-1].level) == (classes.BLACKOUT, Level.SUSPICIOUS)
    assert "nothing heard" in verdicts[-1].reason


def test_a_loss_that_its_sum_names_is_named_even_when_the_trees_call_it_calm(monkeypatch: pytest.MonkeyPatch) -> None:
    calm = np.zeros(len(OUTPUTS), np.float32)
    calm[0] = 1.0
    scene = Scene()
    windows = scene.run(20.0)
    quiet = len(windows)
    scene.link = LinkView(0.0, loss=0.12, packets_per_s=320.0)
    windows += scene.run(4.0)
    detector = Trees()
    monkeypatch.setattr(detector, "_probabilities", lambda _: calm)
    found = judged(detector, windows)
    assert {verdict.level for verdict in found[:quiet]} == {Level.NONE}
    assert (found[-1].level, found[-1].kind) == (Level.SUSPICIOUS, classes.ON_PATH)
    assert judged(make(RULES), windows)[-1].kind == classes.ON_PATH


def test_what_was_recorded_is_named() -> None:
    for (run, end), rows in RUNS.items():
        kind = next((row.episode for row in rows if row.episode), "")
        if kind in (classes.FLOOD, classes.FORGERY, classes.HANDSHAKE_FLOOD):
            said = {verdict.kind for verdict in judged(Trees(), [row.window for row in rows])}
            assert kind in said, (run, end)


def test_a_model_of_another_version_is_refused(tmp_path: Path) -> None:
    tables = shipped()
    other = type(tables)(tables.feature, tables.threshold, tables.leaf, tables.base, ("x",), OUTPUTS, {})
    (tmp_path / "model.npz").write_bytes(other.save())
    with pytest.raises(ModelError, match="another version"):
        read(tmp_path / "model.npz")
    (tmp_path / "model.npz").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot be read"):
        make(XGBOOST, tmp_path / "model.npz")
