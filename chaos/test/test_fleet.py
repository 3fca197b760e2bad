# SPDX-License-Identifier: Apache-2.0
"""What the fleet is judged by; and a small fleet for real."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

import fleet
import pytest
from fleet_page import page
from fleet_result import FleetResult, judge, summary


def result(**changes: Any) -> FleetResult:
    counts = {"streams": [{"sent": 100, "received": 100, "duplicates": 0}], "corrupted": 0, "misdelivered": 0}
    counts |= changes.pop("counts", {})
    base: dict[str, Any] = {"rekeys_ok": 9, "least_rekeys": 1, "states": Counter({"UP": 4})}
    return FleetResult(2, 10.0, counts, **(base | changes))


def test_a_good_fleet_passes() -> None:
    assert judge(result()) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": {"misdelivered": 1}}, "1 messages delivered to the wrong drone"),
        ({"counts": {"streams": [{"sent": 100, "received": 98, "duplicates": 0}]}}, "2 messages lost"),
        ({"counts": {"streams": [{"sent": 0, "received": 0, "duplicates": 0}]}}, "nothing was sent"),
        ({"counts": {"corrupted": 3}}, "3 messages spoiled"),
        ({"rekeys_refused": Counter({"Busy.": 2})}, "2 x Busy."),
        ({"least_rekeys": 0}, "not every drone has rekeyed"),
        ({"states": Counter({"UP": 3, "DOWN": 1})}, "states at the end"),
    ],
)
def test_each_fault_is_named(changes: dict[str, Any], words: str) -> None:
    assert any(words in each for each in judge(result(**changes)))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_small_fleet_flies(threads: int) -> None:
    options = argparse.Namespace(
        drones=3, rate=30.0, seconds=2.0, rekey_every=0.7, processes=2, seed=2, data_threads=threads, ahead=False,
        also=[], also_seconds=1.0, perf=None,
    )  # fmt: skip
    flown = fleet.fly(options)
    assert judge(flown) == []
    assert "delivered to the wrong end | 0" in page(flown, [], options, "a machine")
    seen = json.loads(json.dumps(summary(flown, [], options, "a machine")))
    assert (seen["drones"], seen["states"], seen["problems"]) == (3, {"UP": 6}, [])
    assert len(seen["counts"]["streams"]) == 6
