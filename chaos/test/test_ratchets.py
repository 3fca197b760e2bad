# SPDX-License-Identifier: Apache-2.0
"""What the ratchets' figures are made of."""

from __future__ import annotations

import argparse
import os

import pytest
import ratchets

OPTIONS = argparse.Namespace(runs=2, jobs=1)
IDLE, HALF = ratchets.LOADS


def timed(kind: str, *seconds: float, failures: tuple[str, ...] = ()) -> ratchets.Timed:
    return ratchets.Timed(IDLE, kind, seconds, 2470, failures)


def test_a_ratchet_has_a_goal_and_a_full_rekey_stands_beside_it() -> None:
    assert timed("ratchet", 0.5, 0.6).verdict == "met"
    assert timed("ratchet", 0.5, 0.7).verdict == "MISSED"
    assert timed("rekey", 9.0).verdict == "-"
    assert timed("rekey", 9.0, failures=("No.",)).verdict == "FAILED"


@pytest.mark.parametrize(("seconds", "code"), [(0.6, 0), (0.7, 1)])
def test_a_goal_that_is_missed_fails_the_run(monkeypatch: pytest.MonkeyPatch, seconds: float, code: int) -> None:
    monkeypatch.setattr(ratchets, "in_processes", lambda *_: [[timed("ratchet", seconds), timed("rekey", 9.0)]])
    assert ratchets.run(argparse.Namespace(runs=1, jobs=1, seed=1, output="")) == code


def test_the_page_has_a_row_per_load_and_kind() -> None:
    results = [
        ratchets.Timed(load, kind, (0.25, 0.5), 2470, ("No.",) if load is HALF else ())
        for load in ratchets.LOADS
        for kind in ratchets.KINDS
    ]
    text = ratchets.page(results, "a machine", OPTIONS)
    assert text.count("\n| ") == 5
    assert "| idle | ratchet | 2470 | 2/2 |" in text
    assert "* No." in text


@pytest.mark.skipif(os.environ.get("PQCMAV_SLOW") != "1", reason="takes twenty seconds: PQCMAV_SLOW=1 runs it")
@pytest.mark.skipif(bool(ratchets.air.need_root()), reason="needs root and network namespaces")
def test_both_kinds_are_measured() -> None:
    ratchet, rekey = ratchets.measure((IDLE, 2, 1))
    assert len(ratchet.seconds) == len(rekey.seconds) == 2
    assert 0 < ratchet.message_bytes < rekey.message_bytes
