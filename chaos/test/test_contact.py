# SPDX-License-Identifier: Apache-2.0
"""Nobody without a key takes a drone's commands away, or keeps it out, by being first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import contact
import pytest
from contact import Contact, problems
from overtaking import is_data


@pytest.fixture(scope="module")
def runs() -> Iterator[Mapping[str, Future[Contact]]]:
    """All attacks, three at a time: they wait more than they compute."""
    scenes: dict[str, Callable[[], Contact]] = {
        "blocked": lambda: contact.blocked(4.0),
        "moved": lambda: contact.moved(4.0),
        "race": lambda: contact.race(6.0),
        "mirrored": lambda: contact.mirrored(3.0),
        "recordings": lambda: contact.recordings(4),
        # The first commands cross while his addresses are tried: up to four of them, however long the flight.
        "many": lambda: contact.race(12.0, addresses=contact.MANY),
        "forged": lambda: contact.forged(2.0),
    }
    with ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(scene) for name, scene in scenes.items()}


@pytest.mark.parametrize("scene", ["blocked", "moved", "race", "mirrored", "recordings", "many", "forged"])
def test_nobody_without_a_key_gains_by_being_first(runs: Mapping[str, Future[Contact]], scene: str) -> None:
    found = runs[scene].result()
    assert found.sent > 0 or found.drawn > 0 or scene == "recordings"
    assert problems([found]) == []


def test_data_is_told_from_what_an_overtaker_passes_on() -> None:
    assert [is_data(bytes([first])) for first in (0x03, 0x13, 0x23, 0x43, 0x53, 0x63)] == [True, False, True] + [
        False
    ] * 3
    assert [is_data(bytes([first, 1])) for first in (0x80, 0xA0, 0xC0)] == [True, True, False]


def proof(drawn: int) -> Contact:
    return Contact("proof", None, drawn=drawn, most_drawn=10)


def test_what_came_and_how_late_is_judged() -> None:
    assert problems([Contact("race", 1.0, 100, 99), Contact("recordings", 1.0)]) == []
    assert problems([Contact("race", 1.0, 100, 98), Contact("forged", None), Contact("recordings", 9.0)]) == [
        "race: 98 of 100 commands delivered",
        "forged: up never",
        "recordings: up after 9.0 s",
    ]
    assert problems([Contact("moved", 1.0, 100, 89, most_lost=10), proof(1), proof(10)]) == []
    assert problems([Contact("moved", 1.0, 100, 88, most_lost=10), proof(0), proof(11)]) == [
        "moved: 88 of 100 commands delivered",
        "proof: 0 datagrams drawn",
        "proof: 11 datagrams drawn",
    ]


def test_without_a_drone_none_is_up() -> None:
    text = contact.section([Contact("race", 0.2, 100, 99), proof(8), proof(9)])
    assert "| race | 1/1 | 0.20 s | 99 of 100 | - |" in text
    assert "| proof | - | - | - | 9 |" in text
