# SPDX-License-Identifier: Apache-2.0
"""Working out recoveries from an arrival log; the limits."""

from __future__ import annotations

import pytest
from recovery import Outage, Recovery, RecoveryError, problems, recoveries
from tally import Arrival

S = 1_000_000_000


def log(*times: tuple[int, float]) -> list[Arrival]:
    return [Arrival(0, way, i, int(at * S), int(at * S) + 1000) for i, (way, at) in enumerate(times)]


def test_times_run_from_kill_and_restart_to_the_slower_way() -> None:
    arrivals = log((0, 9.9), (1, 9.9), (0, 13.0), (1, 13.5), (0, 21.0), (1, 20.9))
    outages = [Outage(10 * S, 11 * S), Outage(20 * S, int(20.5 * S))]
    first, second = recoveries(outages, arrivals, [(0, int(10.5 * S)), (1, int(12 * S)), (0, int(20.7 * S))])
    assert first.from_kill_s == pytest.approx(3.5, abs=1e-4)
    assert first.from_restart_s == pytest.approx(2.5, abs=1e-4)
    assert first.one_way_s == pytest.approx(2.0, abs=1e-4)
    assert (first.lost, second.lost) == (2, 1)
    assert second.from_restart_s == pytest.approx(0.5, abs=1e-4)


def test_an_outage_that_never_ends_is_an_error() -> None:
    with pytest.raises(RecoveryError, match="outage 1"):
        recoveries([Outage(10 * S, 11 * S)], log((0, 12.0)), [])


def test_slow_and_missing_recoveries_are_problems() -> None:
    slow = [Recovery(5.0, 4.0, 4.0, 1)]
    assert problems({("gcs", 0): [Recovery(3.0, 2.5, 2.5, 1)], ("drone", 0): [Recovery(1.0, 0.2, 0.2, 1)]}) == []
    assert problems({("drone", 0): slow}) == ["1 of 1 restarts of the drone took more than 3 s"]
    assert problems({("drone", 100): slow}) == ["1 of 1 restarts of the drone at RTT 100 ms took more than 3 s"]
    assert problems({("gcs", 0): []})
