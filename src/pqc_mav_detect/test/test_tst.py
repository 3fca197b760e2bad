# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scenes import Scene, alarms, judged

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import TST, make
from pqc_mav_detect.tst.inputs import COLUMNS, WINDOW, framed, scaled


def test_without_onnx_runtime_it_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"needs the Python package onnxruntime: pip install 'pqc_mav_detect\[tst\]'"):
        make(TST)


def test_rows_are_scaled_and_the_time_before_the_first_is_told_apart() -> None:
    rows = np.zeros((3, len(CHANNELS)), np.float32)
    rows[1, list(CHANNELS).index("forged")] = 2000.0
    found = framed(scaled(rows))
    assert found.shape == (1, WINDOW, len(COLUMNS))
    assert found[0, :-3].max() == 0 and list(found[0, -3:, -1]) == [1, 1, 1]
    assert 2 < found[0, -2, COLUMNS.index("forged")] < 3


def test_a_model_that_is_none_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot be used"):
        make(TST, tmp_path / "model.onnx")


def test_calm_traffic_is_calm_and_attacks_are_not() -> None:
    pytest.importorskip("onnxruntime")
    assert alarms(judged(make(TST), Scene().run(30.0))) == [(Level.NONE, "")]
    # Made-up counters are not what it was trained with: that it speaks is asked here, the class by its results page.
    for counter in ("drop_auth_fail", "hs_gate", "drop_malformed"):
        scene = Scene()
        verdicts = judged(make(TST), [*scene.run(20.0), *scene.run(3.0, **{counter: 60.0})])
        assert verdicts[-1].level is not Level.NONE, counter
