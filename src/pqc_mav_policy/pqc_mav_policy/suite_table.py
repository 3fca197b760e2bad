# SPDX-License-Identifier: Apache-2.0
"""Suites in order of cost next to their published tier and, where they are known, their measured handshakes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suite_order import SuiteOrder, octave, published_tier
from pqc_mav_policy.suites import Suite


@dataclass(frozen=True)
class SuiteRow:
    """One suite: rank in the order of cost, published tier (None outside it), computation and handshake [ms]."""

    suite: Suite
    rank: int
    octave: int
    tier: int | None
    work_ms: float
    handshake_ms: float | None


def rows(suites: Iterable[Suite], handshakes_ms: Mapping[str, float] | None = None) -> list[SuiteRow]:
    """From light to heavy, ranked among themselves."""
    measured = handshakes_ms or {}
    order = SuiteOrder(suites)
    return [
        SuiteRow(
            suite=suite,
            rank=order.rank(suite.id),
            octave=octave(suite),
            tier=published_tier(suite),
            work_ms=work_ms(suite.kem_token, suite.sig_token),
            handshake_ms=measured.get(suite.id),
        )
        for suite in order.suites
    ]
