# SPDX-License-Identifier: Apache-2.0
"""How the laboratory's tables show a figure."""

from __future__ import annotations

from pqc_mav_bench.analysis.statistics import shown_mean


def test_an_interval_needs_two_runs() -> None:
    assert shown_mean([3.0]) == "3.0"
    assert shown_mean([3.0, 5.0], 1) == "4.0 ± 12.7"
    assert shown_mean([3.0, 5.0], 0) == "4 ± 13"
