# SPDX-License-Identifier: Apache-2.0
"""The judgement and the page of `chaos/run stations`; the network itself is the command's."""

import random
import time
from argparse import Namespace
from types import SimpleNamespace

import pytest
import stations
from stations import GOALS, NORTH, SOUTH, Failover, problems


def test_each_event_has_goals_and_words():
    assert set(GOALS) == set(stations.EVENTS) == set(stations._WATCH_S)


def test_what_is_slow_or_stale_is_named():
    good = {("killed", True): [Failover(2.1, SOUTH, 0)], ("stopped", False): [Failover(0.3, SOUTH, 0)]}
    assert problems(good) == []
    bad = {
        ("killed", True): [Failover(2.3, SOUTH, 0), Failover(2.1, SOUTH, 2)],
        ("stopped", True): [Failover(0.3, SOUTH, 0)],
    }
    assert problems(bad) == [
        "1 of 2 killed with standby took more than 2.22 s",
        "2 stale commands were accepted: killed with standby",
        "1 of 1 stopped with standby took more than 0.1 s",
    ]


def test_a_start_that_the_other_station_forestalls_is_no_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    world = object.__new__(stations.World)
    ready_s = time.monotonic() + 5.0
    north = SimpleNamespace(start=lambda: None, end=lambda _: None, said=lambda _: [ready_s])
    world.daemons, world.arrivals = {NORTH: north}, []  # type: ignore[dict-item]
    for name in ("begin", "end", "wait"):
        monkeypatch.setattr(stations.World, name, lambda *_: None)

    def work(self: stations.World, *_: object) -> bool:
        self.arrivals.append((time.monotonic(), SOUTH))
        return True

    monkeypatch.setattr(stations.World, "work", work)
    with pytest.raises(stations.StationsError, match="took so long"):
        stations.one(world, "restarted", random.Random(1))


def test_the_page_counts_where_the_restarted_station_was_first():
    results = {("restarted", True): [Failover(0.09, NORTH, 0), Failover(0.2, SOUTH, 0)]}
    text = stations.page(results, Namespace(jobs=4), "a machine", 60.0)
    assert "| yes | 2 | 0.090 | 0.200 | 0.200 | 1 | 0 | 0.1: 1 above |" in text
    assert "FAILED" in text and "a machine" in text
