# SPDX-License-Identifier: Apache-2.0
"""A killed proxy does not trip the autopilot's failsafe; the timer itself is tested to trip."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from children import HERE
from failsafe import ENDS, FAILSAFE_S, SETTINGS, Kill, Timer, measure, page

from pqc_mav_common.waiting import wait_until

# 20 for the record: PQCMAV_FAILSAFE_KILLS=20, or 'tools/run chaos/run failsafe'.
KILLS = int(os.environ.get("PQCMAV_FAILSAFE_KILLS", "3"))


def test_the_timer_trips_once_per_silence_and_only_beyond_its_limit() -> None:
    timer = Timer(5.0, 0.0)
    timer.check(5.0)
    assert timer.trips == 0
    for now in (5.1, 6.0, 7.0):
        timer.check(now)
    assert timer.trips == 1
    timer.heartbeat(8.0)
    timer.heartbeat(13.5)
    assert (timer.trips, timer.longest_s, timer.heartbeats) == (2, 8.0, 2)
    timer.begin()
    timer.check(14.0)
    assert (timer.trips, timer.longest_s) == (0, 0.5)


STRESSED = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from failsafe import stressed
with stressed(1):
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_what_wants_the_cores_dies_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stress = tmp_path / "stress-ng"
    stress.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    stress.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    process = subprocess.Popen([sys.executable, "-c", STRESSED], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        pid = wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip(), 30.0)
        process.kill()
    assert pid and wait_until(lambda: not Path(f"/proc/{pid}").exists(), 5.0)


@pytest.mark.parametrize("end", ENDS)
def test_no_kill_of_either_end_trips_it(end: str) -> None:
    kills = measure(end, KILLS, random.Random(7), SETTINGS)
    assert len(kills) == KILLS
    assert not [kill for kill in kills if kill.tripped], kills


def test_a_restarted_ground_station_says_so_before_silence_would() -> None:
    """The restart token: with the failsafe's own time-out for silence, version 2 of the protocol tripped here."""
    (kill,) = measure("gcs", 1, random.Random(7), {**SETTINGS, "reconnect_after_s": FAILSAFE_S})
    assert not kill.tripped, kill


def test_the_page_says_how_often_it_tripped() -> None:
    good, bad = Kill(3.2, False), Kill(6.0, True)
    assert "Verdict: **ok**" in page({"gcs": [good], "drone": [good]}, "here")
    assert "FAILED: the failsafe tripped 1 times" in page({"gcs": [good, bad], "drone": [good]}, "here")
