# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import pqcmav, refused

from pqc_mav_cli.detect_command import laboratory
from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.dataset import Row, write_rows
from pqc_mav_detect.rules import thresholds
from pqc_mav_detect.window import Window


def capture(path: Path) -> Path:
    """A minute of 32 MAVLink packets in 0.1 s, with 50 others from the 30th second on."""
    rows = [f"{turn / 10},{82 if 300 <= turn < 350 else 32},32,{int(300 <= turn < 350)}" for turn in range(600)]
    path.write_text("\n".join(["time_s,packets,mavlink_packets,label", *rows]) + "\n")
    return path


def test_what_is_in_a_capture_is_named(tmp_path: Path) -> None:
    ended = pqcmav("detect", "score", str(capture(tmp_path / "c.csv")))
    assert ended.returncode == 0, ended.stderr
    assert "ATTACK     volumetric" in ended.stdout and "1 of 1 attack named" in ended.stdout
    (found,) = json.loads(pqcmav("detect", "score", str(tmp_path / "c.csv"), "--json").stdout)
    assert found["alarms"][0]["kind"] == "volumetric" and found["false_alarms"] == 0


def test_a_capture_as_parquet_is_judged_alike(tmp_path: Path) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(csv.read_csv(capture(tmp_path / "c.csv")), tmp_path / "c.parquet")
    text, table = (
        json.loads(pqcmav("detect", "score", str(tmp_path / name), "--json").stdout) for name in ("c.csv", "c.parquet")
    )
    assert table[0].pop("name") == "c.parquet" and text[0].pop("name") == "c.csv"
    assert table == text and len(table[0]["alarms"]) == 1


def windows(forged: float) -> list[Row]:
    """Half a minute at a ground station, in which some packets/s are forged."""
    values = {**dict.fromkeys(CHANNELS, 0.0), "opened": 320.0, "forged": forged}
    return [Row("320/s normal", "gcs", "", "", Window(turn / 10, 0.1, values)) for turn in range(300)]


def test_thresholds_are_learned_from_recordings(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_rows(tmp_path / "train-normal-320.parquet", windows(4.0))
    ended = pqcmav("detect", "train", str(tmp_path), "--into", str(tmp_path / "models"), "--what", "rules")
    assert ended.returncode == 0, ended.stderr
    assert "learned from 300 windows of normal traffic" in " ".join(ended.stdout.split())
    learned = thresholds.parse((tmp_path / "models" / "thresholds.csv").read_text())
    assert learned["forged"].allowance == 6.0, "1.5 times the highest mean"
    assert "--steps" in refused(2, "detect", "train", str(tmp_path), "--what", "tst", "--steps", "0")


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    nothing = str(tmp_path)
    assert "no recordings for training" in refused(2, "detect", "train", nothing)
    assert "no recordings for judging" in refused(2, "detect", "evaluate", nothing)
    assert "no detector 'oracle'" in refused(2, "detect", "train", nothing, "--what", "oracle")
    assert "no form 'round'" in refused(2, "detect", "train", nothing, "--form", "round")
    assert "no detector 'oracle'" in refused(2, "detect", "evaluate", nothing, "--detectors", "oracle")


def test_recording_needs_the_laboratory(tmp_path: Path) -> None:
    assert laboratory(Path(__file__)) is not None
    assert laboratory(tmp_path) is None


def test_what_cannot_be_judged_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    assert "none of the columns" in refused(2, "detect", "score", str(tmp_path / "c.csv"))
