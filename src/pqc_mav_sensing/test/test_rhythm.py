# SPDX-License-Identifier: Apache-2.0
import math
import random

import pytest

from pqc_mav_sensing.rhythm import Rhythm


def heard(*at_s: float) -> Rhythm:
    rhythm = Rhythm()
    for each in at_s:
        rhythm.heard(each)
    return rhythm


def test_two_gaps_are_the_least_that_says_how_it_comes() -> None:
    assert Rhythm().came_s == -math.inf
    assert [heard(*range(count)).gap_s for count in (0, 1, 2, 3)] == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("odd", [(60.0,), (4.001,), (4.001, 60.0)], ids=["a silence", "two together", "both"])
def test_what_happens_once_is_not_how_it_comes(odd: tuple[float, ...]) -> None:
    rhythm = heard(0.0, 1.0, 2.0, 3.0, 4.0, *odd)
    assert rhythm.gap_s == pytest.approx(1.0) and rhythm.came_s == odd[-1]


def test_a_change_is_known_after_three_gaps() -> None:
    assert heard(*range(10), 9.5, 10.0, 10.5).gap_s == 0.5


def test_jitter_does_not_matter_and_the_bounds_hold() -> None:
    chance = random.Random(3)
    rhythm = heard(*(2.0 * number + chance.uniform(-0.1, 0.1) for number in range(50)))
    assert rhythm.limit_s(1.5, 0.5, 9.0) == pytest.approx(3.0, abs=0.3)
    assert (rhythm.limit_s(1.5, 5.0, 9.0), rhythm.limit_s(1.5, 0.5, 2.0)) == (5.0, 2.0)
