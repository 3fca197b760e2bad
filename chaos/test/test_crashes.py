# SPDX-License-Identifier: Apache-2.0
"""A node that crashes costs no packet; a tunnel that crashes comes back as it was wanted."""

from __future__ import annotations

import argparse
import random
from contextlib import nullcontext
from typing import Any

import crashes
import pytest
from crashes import NODE, SCENES, STOP_S, Outcome, measure, page, run

RUNS = 2  # 20 and more for the record: 'tools/run chaos/run crashes'


@pytest.mark.parametrize("name", ["node", "stopped", "flooded", "tunnel", "paused"])
def test_a_crash(name: str) -> None:
    scene = SCENES[name]
    outcome = measure(scene, RUNS, random.Random(7))
    assert len(outcome.back_s) == RUNS and outcome.wrong == 0, outcome
    if scene.program == NODE:
        assert outcome.lost == 0 < outcome.sent, outcome
    assert STOP_S not in outcome.back_s, "of a node that stood still, its answer counts"


@pytest.mark.parametrize(("late", "rooms", "lost"), [(0, 1, 5), (3, 3, 5)])
def test_a_starved_machine_is_tried_again(monkeypatch: pytest.MonkeyPatch, late: int, rooms: int, lost: int) -> None:
    made: list[str] = []

    class Lossy:
        def __init__(self, ways: str) -> None:
            made.append(ways)

        def stop(self, _quiet_s: float) -> dict[str, Any]:
            return {"late": late, "streams": [{"sent": 100, "received": 95}]}

        def close(self) -> None:
            pass

    monkeypatch.setattr(crashes, "Room", lambda _proxy: nullcontext(argparse.Namespace(ways="both")))
    monkeypatch.setattr(crashes, "TrafficProcess", Lossy)
    monkeypatch.setattr(crashes, "_crash", lambda _room, _scene: (0.1, "active"))
    assert measure(SCENES["stopped"], RUNS, random.Random(7)) == Outcome(100, lost, [0.1, 0.1], 0)
    assert len(made) == rooms


def test_the_page_says_what_was_lost() -> None:
    good, late = Outcome(1000, 0, [0.5, 0.6], 0), Outcome(1000, 300, [0.5, 1.2], 0)
    told = page({"node": good, "tunnel": good, "paused": good}, "here")
    assert "FAILED" not in told and told.count("| ok |") == 3
    assert page({"node": late, "tunnel": late}, "here").count("FAILED") == 2
    assert not Outcome(1000, 0, [0.5], 1).good(SCENES["node"])
    assert not Outcome(0, 0, [0.5], 0).good(SCENES["node"])


def test_an_unknown_scene_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(argparse.Namespace(only="node,nodes")) == 2
    assert "no scene nodes; there are: node, ground" in capsys.readouterr().out
