# SPDX-License-Identifier: Apache-2.0
"""The table of suites."""

from __future__ import annotations

from scenes import CATALOGUE, CORE

from pqc_mav_policy.suite_table import rows

SUITES = [CATALOGUE[name] for name in CORE]


def test_rows_run_from_light_to_heavy_and_hold_every_column() -> None:
    table = rows(SUITES, {SUITES[0].id: 0.6})
    assert [row.rank for row in table] == list(range(72))
    assert [row.octave for row in table] == sorted(row.octave for row in table)
    assert sum(row.handshake_ms is not None for row in table) == 1
    assert all(row.work_ms > 0 for row in table)


def test_families_that_were_not_published_have_no_tier() -> None:
    table = rows(CATALOGUE.values())
    assert {row.suite.kem_family for row in table if row.tier is None} >= {"FrodoKEM"}
