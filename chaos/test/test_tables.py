# SPDX-License-Identifier: Apache-2.0
"""How the laboratory's tables show a figure."""

from __future__ import annotations

from tables import interval


def test_an_interval_needs_two_runs() -> None:
    assert interval([3.0]) == "3.0"
    assert interval([3.0, 5.0], 1) == "4.0 ± 12.7"
    assert interval([3.0, 5.0], 0) == "4 ± 13"
