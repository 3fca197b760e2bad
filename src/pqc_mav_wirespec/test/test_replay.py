# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec.replay import SEQUENCE_LIMIT, ReplayWindow, Verdict


@given(st.lists(st.one_of(st.integers(0, 400), st.integers(0, SEQUENCE_LIMIT + 2)), max_size=200))
def test_agrees_with_remembering_everything(numbers):
    window, accepted = ReplayWindow(64), set()
    for number in numbers:
        verdict = window.check(number)
        if number >= SEQUENCE_LIMIT or (accepted and number <= max(accepted) - 64):
            assert verdict is Verdict.OLD
        elif number in accepted:
            assert verdict is Verdict.SEEN
        else:
            assert verdict is Verdict.NEW
            window.accept(number)
            accepted.add(number)


def test_checking_moves_nothing():
    window = ReplayWindow(64)
    window.accept(5)
    assert window.check(1 << 47) is Verdict.NEW
    assert window.check(4) is Verdict.NEW
    assert window.highest == 5


@pytest.mark.parametrize("bits", [0, 63, 65, 100, 8256])
def test_sizes_that_are_not_offered(bits):
    with pytest.raises(ValueError, match="multiple of 64"):
        ReplayWindow(bits)
