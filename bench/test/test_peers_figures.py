# SPDX-License-Identifier: Apache-2.0
"""Medians with intervals, and what may be said of two of them."""

from __future__ import annotations

import math

import pytest
from peers import connecting, figures, sending
from peers.figures import AHEAD, BEHIND, FIGURES, TIE, Cell, Sheet, cell, cells, verdict
from peers.page import number, show


def test_the_interval_encloses_the_median_and_stays_within_the_values() -> None:
    found = cell([3.0, 1.0, 2.0, 4.0, 100.0, 2.5, 3.5])
    assert found.median == 3.0
    assert 1.0 <= found.low < found.median < found.high <= 100.0
    assert found.n == 7


def test_of_few_values_the_interval_comes_from_their_scatter() -> None:
    few = cell([2.0, 4.0])
    assert few.low < 2.0 < few.median == 3.0 < 4.0 < few.high
    without = cell([0.0, 1.0])
    assert math.isnan(without.low)
    assert show(without, FIGURES[0]) == number(0.5, FIGURES[0].digits)
    assert verdict(without, Cell(8.0, 7.0, 9.0, 6), True) == TIE


def test_no_value_has_no_cell() -> None:
    with pytest.raises(ValueError, match="value"):
        cell([])


@pytest.mark.parametrize(
    ("own", "other", "more", "expected"),
    [
        ((10, 12), (5, 9), True, AHEAD),
        ((10, 12), (5, 9), False, BEHIND),
        ((1, 2), (5, 9), True, BEHIND),
        ((1, 2), (5, 9), False, AHEAD),
        ((1, 5), (5, 9), True, TIE),  # they touch
        ((6, 7), (5, 9), False, TIE),  # one within the other
    ],
)
def test_only_intervals_that_do_not_touch_are_told_apart(
    own: tuple[float, float], other: tuple[float, float], more: bool, expected: str
) -> None:
    of = [Cell(sum(each) / 2, *each, 5) for each in (own, other)]
    assert verdict(of[0], of[1], more) == expected


def test_every_part_has_somebody_who_measures_it() -> None:
    for part in figures.PARTS:
        assert hasattr(sending, part) or hasattr(connecting, part), part


def test_keys_are_unique() -> None:
    keys = [figure.key for figure in FIGURES]
    assert len(keys) == len(set(keys))


def test_a_sheet_keeps_values_and_reasons() -> None:
    sheet = Sheet()
    sheet.add("rate_64", "none", 1.0)
    sheet.add("rate_64", "none", 3.0)
    sheet.fail("dtls", "it ended")
    parts = {"rate": sheet.to_dict()}
    figure = next(each for each in FIGURES if each.key == "rate_64")
    assert cells(parts, figure)["none"].median == 2.0
    assert "dtls" not in cells(parts, figure)
    assert parts["rate"]["failures"] == {"dtls": ["it ended"]}


def test_a_sheet_goes_on_where_it_was() -> None:
    sheet = Sheet()
    sheet.add("rate_64", "none", 1.0)
    again = Sheet.of(sheet.to_dict())
    again.add("rate_64", "none", 2.0)
    assert again.values == {"rate_64": {"none": [1.0, 2.0]}}
    assert again.last("rate_64", "none") == 2.0
    assert again.last("rate_64", "dtls") is None
