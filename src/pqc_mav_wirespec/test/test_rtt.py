# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.rtt import Rtt


def test_before_a_sample():
    assert [Rtt(first).pto() for first in (0.2, 0.6)] == [0.2, 0.6]
    assert Rtt(0.2).ack_repeat() == 0.25


def test_a_first_sample_sets_an_eighth_of_it_as_variation():
    rtt = Rtt(0.2)
    rtt.sample(0.1)
    assert (rtt.srtt, rtt.rttvar) == (0.1, 0.0125)
    assert rtt.pto() == pytest.approx(0.1 + 0.025 + 0.01)
    rtt.sample(0.2)
    assert rtt.srtt == pytest.approx(0.1125)
    assert rtt.rttvar == pytest.approx(0.0125 + (0.1 - 0.0125) / 4)
    assert rtt.least == 0.1


def test_the_least_variation():
    rtt = Rtt(0.2)
    for _ in range(200):
        rtt.sample(0.02)
    assert rtt.pto() == pytest.approx(0.02 + 0.01 + 0.01)
    assert rtt.ack_repeat() == 0.05


def test_growth_begins_after_six_time_outs_and_ends_at_two_seconds():
    rtt = Rtt(0.2)
    assert [rtt.pto(number) for number in (0, 5, 6)] == [0.2] * 3
    assert [rtt.pto(number) for number in (7, 8)] == pytest.approx([0.3, 0.45])
    assert rtt.pto(50) == 2.0
    rtt.sample(3.0)
    assert rtt.pto(50) == rtt.pto() > 3.0
    assert Rtt(0.2).ack_repeat(40) == 1.0
