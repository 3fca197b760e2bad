# SPDX-License-Identifier: Apache-2.0
"""Numbers as printed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_bench.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00432, "0.00432"),
        (9.996, "10.0"),
        (12.345, "12.3"),
        (1357824.0, "1,357,824"),
        (-0.5, "-0.500"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_number(value, text):
    assert numbers.number(value) == text


@given(st.floats(1e-6, 1e9))
def test_number_keeps_three_digits(value):
    assert float(numbers.number(value).replace(",", "")) == pytest.approx(value, rel=6e-3)


@pytest.mark.parametrize(("ms", "text"), [(0.0853, "85.3 µs"), (12.8, "12.8 ms"), (9200, "9.20 s"), (math.nan, "–")])
def test_duration_chooses_its_unit(ms, text):
    assert numbers.duration(ms) == text


def test_signs_and_lists():
    assert numbers.signed(1.5, "ms") == "+1.50 ms"
    assert numbers.signed(-1.5, "ms") == "−1.50 ms"
    assert numbers.signed(math.nan, "ms") == "–"
    assert numbers.listed(["a", "b", "c"]) == "a, b and c"
    assert (numbers.count(1, "suite"), numbers.count(1234, "suite")) == ("1 suite", "1,234 suites")


def test_a_span_of_figures_that_read_the_same_is_one_figure():
    assert numbers.span(7.99, 8.0, "Mb/s") == "7.99 to 8.00 Mb/s"
    assert numbers.span(7.9996, 8.0, "Mb/s") == "8.00 Mb/s"
