# SPDX-License-Identifier: Apache-2.0
"""A recorded flight is judged by what both proxies counted in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pqc_mav_detect.classes import FORGERY, Level
from pqc_mav_detect.flight import read
from pqc_mav_detect.score import ScoreError, score

NS = 1_000_000_000


def flight(path: Path, forged_per_s: float, seconds: float = 30.0, below: str = "") -> Path:
    """Counters of a gcs and a drone, ten times a second; the gcs gets forged packets from the 20th second on."""
    from pqc_mav_interfaces.msg import LinkQuality, ServerStats, TunnelStatus
    from rclpy.serialization import serialize_message

    from pqc_mav_recorder.file import RecordingFile
    from pqc_mav_recorder.schema import installed_topic

    file = RecordingFile(path, {})

    def write(end: str, topic: str, message: Any, at_s: float) -> None:
        info = installed_topic(f"{below}/{end}/pqc_proxy/{topic}", f"pqc_mav_interfaces/msg/{type(message).__name__}")
        file.write(info, serialize_message(message), int(at_s * NS), int(at_s * NS))

    for end in ("gcs", "drone"):
        write(end, "status", TunnelStatus(state=TunnelStatus.UP, role=end, drone_id="d1"), 99.9)
    for turn in range(round(seconds * 10)):
        at_s = 100.0 + turn / 10
        for end in ("gcs", "drone"):
            forged = int(max(0.0, turn / 10 - 20.0) * forged_per_s) if end == "gcs" else 0
            counted = {"delivered": 32 * turn, "enc_rx_datagrams": 32 * turn + forged, "drop_auth_fail": forged}
            write(end, "server_stats", ServerStats(drone_ids=["d1"], opened=[32 * turn], **counted), at_s)
            if turn % 10 == 0:
                for side in ("local", "peer"):
                    figures = {"rtt_ms": float("nan"), "rtt_min_ms": 1.0, "loss": 0.0, "packets_per_s": 320.0}
                    write(end, "link", LinkQuality(drone_id="d1", side=side, **figures), at_s)
    file.finish()
    return path


def test_what_was_forged_is_named_at_the_end_that_got_it(tmp_path: Path) -> None:
    found = {each.name.split()[-1]: each for each in score(flight(tmp_path / "f.mcap", 40.0))}
    assert set(found) == {"gcs", "drone"} and not found["drone"].alarms and not found["gcs"].labelled
    (alarm,) = found["gcs"].alarms
    assert (alarm.kind, alarm.level) == (FORGERY, Level.ATTACK) and 120.0 <= alarm.begin_s <= 120.5


def test_one_that_was_not_finished_is_judged_too(tmp_path: Path) -> None:
    partial = flight(tmp_path / "f.mcap", 40.0).rename(tmp_path / "f.mcap.partial")
    partial.write_bytes(partial.read_bytes()[:-2000])  # without its index
    found = score(partial)
    assert any(each.alarms for each in found)
    assert all(each.name.endswith(", as far as it can be read") for each in found)


def test_ends_below_a_namespace_are_two(tmp_path: Path) -> None:
    found, problem = read(flight(tmp_path / "f.mcap", 0.0, 3.0, below="/fleet"))
    assert set(found) == {"fleet/gcs", "fleet/drone"} and problem == ""


def test_a_calm_flight(tmp_path: Path) -> None:
    ends, _ = read(flight(tmp_path / "f.mcap", 0.0, 12.0))
    assert {len(windows) for windows in ends.values()} == {119}
    assert not any(each.alarms for each in score(tmp_path / "f.mcap"))


def test_what_is_no_flight(tmp_path: Path) -> None:
    (tmp_path / "f.mcap").write_bytes(b"nothing")
    with pytest.raises(ScoreError, match="damaged"):
        score(tmp_path / "f.mcap")
    with pytest.raises(ScoreError, match="Cannot read"):
        score(tmp_path / "none.mcap")
