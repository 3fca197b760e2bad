# SPDX-License-Identifier: Apache-2.0
"""The tc command lines for a kernel with netem."""

from __future__ import annotations

import pytest

from pqc_mav_sim.impairment.netem import commands, netem_arguments
from pqc_mav_sim.impairment.settings import NORMAL, Impairment, ImpairmentError


def words(**settings: object) -> str:
    return " ".join(netem_arguments(Impairment.from_dict(settings)))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "limit 100000"),
        ({"loss": 0.3}, "limit 100000 loss random 30%"),
        ({"loss": 0.125, "duplicate": 0.01}, "limit 100000 loss random 12.5% duplicate 1%"),
        ({"delay_ms": 150}, "limit 100000 delay 150ms"),
        ({"delay_ms": 50, "jitter_ms": 2.5, "keep_order": False}, "limit 100000 delay 50ms 2.5ms"),
        (
            {"delay_ms": 50, "jitter_ms": 10, "distribution": NORMAL, "keep_order": False},
            "limit 100000 delay 50ms 10ms distribution normal",
        ),
        ({"reorder": 0.25, "reorder_ms": 20}, "limit 100000 delay 20ms reorder 75%"),
        ({"loss": 0.2, "burst": 4}, "limit 100000 loss gemodel 6.25% 25%"),
        ({"down": True, "delay_ms": 300}, "limit 100000 loss 100%"),
    ],
)
def test_settings_become_words(settings: dict[str, object], expected: str) -> None:
    assert words(**settings) == expected


def test_a_rate_hangs_a_token_bucket_below_netem() -> None:
    lines = commands("air0", Impairment(rate_bit_s=64_000, queue_bytes=8_000, loss=0.01))
    assert [" ".join(line) for line in lines] == [
        "tc qdisc replace dev air0 root handle 1: netem limit 100000 loss random 1%",
        "tc qdisc replace dev air0 parent 1:1 handle 2: tbf rate 64000bit burst 1600 limit 8000",
    ]


def test_a_rate_that_ends_takes_its_bucket_away() -> None:
    lines = commands("air0", Impairment(), had_rate=True)
    assert " ".join(lines[1]) == "tc qdisc replace dev air0 parent 1:1 handle 3: pfifo limit 100000"
    assert len(commands("air0", Impairment())) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"jitter_ms": 5},
        {"loss": 0.3, "dead_ms": 100},
        {"reorder": 0.1, "delay_ms": 50},
        {"loss": 0.1, "only": "data"},
        {"overhead_bytes": -14},
    ],
)
def test_what_netem_cannot_do_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ImpairmentError, match="userspace link"):
        words(**settings)
