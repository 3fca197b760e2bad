# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing.gate import Gate, GateLimits

LIMITS = GateLimits(0.0, 100.0, jump=5.0, jump_per_s=1.0, stale_s=2.0, confirm=3)


def settled(value: float = 50.0) -> Gate:
    gate = Gate("level", "m", LIMITS)
    for step in range(3):
        gate.judge(0.1 * step, value)
    assert gate.last_s == pytest.approx(0.2)
    return gate


def test_the_first_is_believed_only_when_confirmed() -> None:
    gate = Gate("level", "m", LIMITS)
    assert "not confirmed" in gate.judge(0.0, 50.0)
    assert "not confirmed" in gate.judge(0.1, 51.0)
    assert gate.judge(0.2, 50.0) == ""


def test_what_does_not_agree_confirms_nothing() -> None:
    gate = Gate("level", "m", LIMITS)
    for step, value in enumerate([50.0, 80.0, 50.0, 80.0, 50.0, 80.0]):
        assert gate.judge(0.1 * step, value)
    assert gate.last_s is None


@pytest.mark.parametrize("value", [-0.1, 100.1, math.nan, math.inf])
def test_out_of_range(value: float) -> None:
    assert "outside" in settled().judge(0.3, value)


def test_a_jump_is_refused_and_a_slow_change_is_not() -> None:
    gate = settled()
    assert "jumped from 50 to 56" in gate.judge(0.3, 56.0)
    assert gate.judge(0.4, 50.5) == ""
    assert gate.judge(1.4, 56.4) == ""


def test_a_new_level_is_believed_once_the_old_one_is_stale() -> None:
    gate = settled()
    believed = [at for at in range(40) if gate.judge(0.3 + 0.1 * at, 80.0) == ""]
    assert believed[0] == pytest.approx(20, abs=1) and believed == list(range(believed[0], 40))


def test_a_fraction_of_the_value_may_be_jumped() -> None:
    gate = Gate("voltage", "V", GateLimits(0.0, 100.0, 0.0, 0.0, jump_fraction=0.2))
    for step in range(3):
        gate.judge(0.1 * step, 20.0)
    assert gate.judge(0.3, 16.1) == "" and gate.judge(0.4, 12.0) != ""


def test_refused_are_counted() -> None:
    gate = settled()
    before = gate.refused
    gate.judge(0.3, 90.0)
    gate.refuse("was never a number")
    assert gate.refused == before + 2


def test_what_is_old_follows_from_how_readings_come() -> None:
    gate = Gate("level", "m", LIMITS)
    believed = [step for step in range(6) if gate.judge(2.01 * step, 50.0) == ""]
    assert believed == [3, 4, 5] and gate.stale_s == pytest.approx(2.5 * 2.01)
    gate.judge(70.0, 50.0)
    assert gate.stale_s == pytest.approx(2.5 * 2.01), "one silence is not how they come"
    for step in range(5):
        gate.judge(100.0 * step + 100.0, 50.0)
    assert gate.stale_s == 10.0 and settled().stale_s == 2.0


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=2), st.floats(0.0, 100.0))
def test_one_or_two_wrong_ones_never_pass(wrong: list[float], level: float) -> None:
    gate = settled(level)
    for step, value in enumerate(wrong):
        reason = gate.judge(0.3 + 0.1 * step, value)
        if abs(value - level) > LIMITS.jump + LIMITS.jump_per_s * (0.1 * (step + 1)) + LIMITS.jump * step:
            assert reason
