# SPDX-License-Identifier: Apache-2.0
"""Links in words."""

import pytest

from pqc_mav_sim.impairment.described import EXAMPLE, described
from pqc_mav_sim.impairment.settings import ImpairmentError


def test_the_example():
    assert described(EXAMPLE) == {"delay_ms": 20.0, "loss": 0.05, "rate_bit_s": 1e6, "queue_bytes": 62_500.0}


@pytest.mark.parametrize(
    "text, settings",
    [
        ("", {}),
        ("0.5ms", {"delay_ms": 0.5}),
        ("64kbit", {"rate_bit_s": 64e3, "queue_bytes": 4_000.0}),
        ("2Gbit 1%", {"rate_bit_s": 2e9, "queue_bytes": 125e6, "loss": 0.01}),
    ],
)
def test_parts_in_any_order_and_case(text, settings):
    assert described(text) == settings


@pytest.mark.parametrize(
    "text, says",
    [
        ("fast", "'fast' says nothing about a link"),
        ("20", "'20' says nothing"),
        ("-1ms", "'-1ms' says nothing"),
        ("20ms 30ms", "two values of its delay"),
        ("1Mbit 64kbit", "two values of its rate"),
        ("101%", "loss = 1.01 is out of range"),
        ("70000ms", "delay_ms = 70000 is out of range"),
    ],
)
def test_what_makes_no_sense_is_refused(text, says):
    with pytest.raises(ImpairmentError, match=says):
        described(text)
