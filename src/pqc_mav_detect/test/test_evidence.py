# SPDX-License-Identifier: Apache-2.0
"""Figures as words, and how many copies a network that doubles packets explains."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import Scene

from pqc_mav_detect.evidence import as_many_as_doubles, described


class Means:
    """Features that are what the test says, by channel and span."""

    def __init__(self, **means: dict[float, float]) -> None:
        self._means = means

    def mean(self, channel: str, span_s: float) -> float:
        return self._means[channel][span_s]


def means(**figures: dict[float, float]) -> Any:
    return Means(**figures)


@pytest.mark.parametrize(
    ("now", "of_5_s", "said"),
    [(20.0, 3.0, "20"), (19.9, 3.0, "3.0"), (0.0, 10.0, "10"), (0.0, 9.94, "9.9"), (0.0, -1.0, "0.0")],
)
def test_much_is_said_at_once_and_little_over_five_seconds(now: float, of_5_s: float, said: str) -> None:
    words = described(means(forged={0.5: now, 5.0: of_5_s}), "forged", Scene().run(0.2)[0])
    assert words.split()[0] == said


@pytest.mark.parametrize(
    ("of_5_s", "now", "explained"), [(1.59, 99.0, True), (1.6, 99.0, False), (1.6, 16.0, True), (1.6, 16.1, False)]
)
def test_up_to_seven_copies_or_one_packet_in_twenty_are_doubles(of_5_s: float, now: float, explained: bool) -> None:
    figures = means(replayed={5.0: of_5_s, 1.0: now}, opened={1.0: 320.0})
    assert as_many_as_doubles(figures, "replayed") is explained
    there = means(peer_replayed={5.0: of_5_s, 1.0: now}, peer_opened={1.0: 320.0})
    assert as_many_as_doubles(there, "peer_replayed") is explained
