# SPDX-License-Identifier: Apache-2.0
"""Links in words, and when a goal counts as met."""

from __future__ import annotations

import argparse

import handshakes
import pytest
from handshakes import ROWS, Row, Timed, cells, suites_page
from links import Link, NamedLink

from pqc_mav_bench.link_presets import PRESETS
from pqc_mav_sim.impairment.settings import Impairment


def timed(*seconds: float | None, goal: float | None = 1.0) -> Timed:
    return Timed(Row("connect", "cs-mlkem768-aesgcm-mldsa65", Link(), goal), seconds, ())


def test_a_link_says_what_it_is_and_every_row_can_be_simulated() -> None:
    assert str(Link(dead_ms=100)) == "30% loss in dead times of 100 ms, RTT 100 ms, 10 Mbit/s, queue 24 kB"
    assert str(Link(loss=0.0, rate_kbit_s=64)) == "0% loss, RTT 100 ms, 64 kbit/s, queue 24 kB"
    for row in ROWS:
        assert Impairment.from_dict(row.link.impairment()).delay_ms == row.link.rtt_ms / 2


def test_a_goal_is_met_by_the_95th_percentile_and_only_when_all_ended() -> None:
    assert timed(*[0.5] * 19, 3.0).verdict == "met"
    assert timed(*[0.5] * 18, 3.0, 3.0).verdict == "MISSED"
    assert timed(*[0.5] * 19, None).verdict == "FAILED"
    assert timed(9.0, goal=None).verdict == "-"


@pytest.mark.parametrize(("seconds", "goal", "code"), [(0.5, 1.0, 0), (3.0, 1.0, 1), (None, 1.0, 1), (3.0, None, 0)])
def test_a_goal_that_is_missed_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, seconds: float | None, goal: float | None, code: int
) -> None:
    monkeypatch.setattr(handshakes, "in_processes", lambda *_: [timed(seconds, goal=goal)])
    parser = argparse.ArgumentParser()
    handshakes.arguments(parser)
    parser.add_argument("--output", default="")
    assert handshakes.run(parser.parse_args([])) == code


def test_a_row_says_how_many_ended_and_how_fast() -> None:
    line = [str(cell) for cell in cells(timed(0.5, 0.7, None))]
    assert line[3:7] == ["2/3", "0.50", "0.70", "0.70"]
    assert line[8] == "FAILED"


def test_the_page_of_suites_has_the_median_of_both_runs_and_its_interval() -> None:
    suites = ("cs-mlkem768-aesgcm-mldsa65", "cs-hqc3-aesgcm-mldsa65")
    runs = [
        Timed(Row("connect", suite, link), tuple(0.1 * run + 0.01 * each for each in range(30)), ())
        for run in (1, 2)
        for suite in suites
        for link in map(NamedLink, PRESETS)
    ]
    text = suites_page(runs, "a machine", argparse.Namespace(runs=30, jobs=1))
    assert "median of two runs of 30 connects each" in text
    # The interval of two runs is far wider than their span.
    assert text.count("| ML-768-AG-MD-65 | yes | 0.295 (0.0") == 1
    assert text.count("| HQC-3-AG-MD-65 | no | 0.295 (0.0") == 1
