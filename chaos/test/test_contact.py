# SPDX-License-Identifier: Apache-2.0
"""Nobody without a key takes a drone's commands away, or keeps it out, by being first."""

from __future__ import annotations

import contact
from contact import Contact, problems
from overtaking import is_data


def test_whoever_wins_the_first_race_takes_no_command_away() -> None:
    assert problems([contact.race(6.0)]) == []


def test_forged_copies_of_a_handshake_spoil_nothing() -> None:
    assert problems([contact.forged(2.0)]) == []


def test_recordings_do_not_keep_a_drone_out() -> None:
    assert problems([contact.recordings(4)]) == []


def test_data_is_told_from_what_an_overtaker_passes_on() -> None:
    assert [is_data(bytes([first])) for first in (0x03, 0x13, 0x23, 0x43, 0x53, 0x63)] == [True, False, True] + [
        False
    ] * 3
    assert [is_data(bytes([first, 1])) for first in (0x80, 0xA0, 0xC0)] == [True, True, False]


def test_what_came_and_how_late_is_judged() -> None:
    assert problems([Contact("race", 1.0, 100, 99), Contact("recordings", 1.0)]) == []
    assert problems([Contact("race", 1.0, 100, 98), Contact("forged", None), Contact("recordings", 9.0)]) == [
        "race: 98 of 100 commands delivered",
        "forged: up never",
        "recordings: up after 9.0 s",
    ]
