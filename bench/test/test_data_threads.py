# SPDX-License-Identifier: Apache-2.0
"""What the page says of given rounds; and sockets that are filled and emptied for real."""

from __future__ import annotations

import argparse

import data_threads
import pytest
from data_threads import ARMS, WAYS, Round, page, ratio

OPTIONS = argparse.Namespace(drones=4, pairs=6, rounds=3, each=100)
ABOUT = {"date": "2026-01-01", "machine": "m", "kernel": "6", "load_average_at_start": 0.0}


def rounds(rate: float) -> list[list[Round]]:
    """Six runs that scatter by some percent."""
    return [
        [Round(1000 / (rate * (1 + 0.01 * (run - turn))), 0.01, 0.0, 1000) for turn in range(3)] for run in range(6)
    ]


def test_a_ratio_has_the_interval_of_its_pairs() -> None:
    middle, low, high = ratio(rounds(190.0), rounds(100.0))
    assert low <= middle <= high
    assert middle == pytest.approx(1.9) and high - low < 0.1
    back, _, most = ratio(rounds(100.0), rounds(190.0))
    assert back == pytest.approx(1 / 1.9) and most < 1


def test_the_page_tells_each_way_and_kind() -> None:
    rates = {"one": 100.0, "two": 150.0, "apart": 200.0}
    runs = {arm: {way: rounds(rates[arm]) for way in WAYS} for arm, _, _ in ARMS}
    text = page(runs, OPTIONS, ABOUT)
    for way in ("## To the ground", "## To the drones"):
        section = text.split(way, 1)[1].split("\n## ", 1)[0]
        assert "| two data threads |" in section and "**1.50**" in section
        assert "**2.00**" in section and "Two threads over two processes: 0.75" in section
    assert "3 times in each run and each way, 6 runs of each kind" in text


@pytest.mark.parametrize(("processes", "threads"), [(each[1], each[2]) for each in ARMS])
def test_what_fills_the_sockets_arrives(processes: int, threads: int) -> None:
    try:
        found = data_threads.one_run(processes, threads, drones=4, rounds=1, each=25)
    except OSError as error:  # a system that keeps processes from looking into their own children
        pytest.skip(str(error))
    assert {way: [each.packets for each in own] for way, own in found.items()} == {
        "to the ground": [100],
        "to the drones": [400],
    }
    assert all(each.seconds > 0 and each.cpu_s > 0 for own in found.values() for each in own)
