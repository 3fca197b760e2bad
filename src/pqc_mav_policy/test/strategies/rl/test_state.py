# SPDX-License-Identifier: Apache-2.0
"""States: every situation has one within the bins, and the edges are where they are said to be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from random_flights import LADDER, PARAMETERS, situations
from scenes import GROUND, suite, well

from pqc_mav_policy.memory import begin
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.rl.state import PARTS, SIZES, encode, in_words
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Threat


def situation(inputs: DecisionInput, rekeys: int = 0) -> Situation:
    memory = replace(begin(0.0), rekeys=tuple(float(number) for number in range(rekeys)))
    return Situation(inputs, memory, PARAMETERS, LADDER, 100.0)


def part(name: str, inputs: DecisionInput, rekeys: int = 0) -> int:
    return dict(zip((title for title, _ in PARTS), encode(situation(inputs, rekeys)), strict=True))[name]


@settings(max_examples=100, deadline=None)
@given(situations())
def test_every_situation_has_a_state(it: Situation) -> None:
    state = encode(it)
    assert all(0 <= value < size for value, size in zip(state, SIZES, strict=True))
    assert in_words(state)


@pytest.mark.parametrize(
    ("name", "change", "bin_"),
    [
        ("cpu", {"system": {"cpu_percent": 29.9, "valid": True}}, 0),
        ("cpu", {"system": {"cpu_percent": 30.0, "valid": True}}, 1),
        ("cpu", {"system": {"cpu_percent": 70.0, "valid": True}}, 2),
        ("cpu", {"system": {"cpu_percent": 99.0, "valid": False}}, 1),
        ("charge", {"battery": {"state_of_charge": 0.1}}, 0),
        ("charge", {"battery": {"state_of_charge": 0.3}}, 1),
        ("charge", {"battery": {"state_of_charge": None}}, 1),
        ("charge", {"battery": {"state_of_charge": 0.9}}, 2),
        ("gap", {"link": {"gap_p95_s": 0.01}}, 0),
        ("gap", {"link": {"gap_p95_s": 0.5}}, 2),
        ("loss", {"link": {"loss": 0.03}}, 1),
        ("loss", {"link": {"loss": 0.03, "valid": False}}, 1),
        ("loss", {"link": {"loss": 0.2}}, 2),
        ("key_age", {"session": {"key_age_s": 29.0}}, 0),
        ("key_age", {"session": {"key_age_s": 119.0}}, 2),
        ("key_age", {"session": {"key_age_s": 120.0}}, 3),
        ("threat", {"threat": Threat.SUSPICIOUS}, 1),
        ("level", {"session": {"suite": suite("ML-1024-AG-MD-87")}}, 2),
        ("phase", {"vehicle": GROUND}, 0),
        ("phase", {"vehicle": {"phase": Phase.LANDING}}, 1),
        ("phase", {"vehicle": {"phase": Phase.HOVER}}, 3),
        ("phase", {"vehicle": {"phase": Phase.HOVER, "valid": False}}, 2),
    ],
)
def test_bins(name: str, change: dict[str, object], bin_: int) -> None:
    assert part(name, well(**change)) == bin_


def test_rekeys_within_the_window_are_counted() -> None:
    assert [part("rekeys", well(), count) for count in (0, 2, 3, 4, 5)] == [0, 0, 1, 1, 2]


def test_words_name_what_stands_out() -> None:
    state = encode(situation(well(session={"key_age_s": 70.0}, link={"loss": 0.2}, threat=Threat.ATTACK)))
    assert in_words(state) == "cruising, level 3, keys 60-120 s old, under threat, much loss"
