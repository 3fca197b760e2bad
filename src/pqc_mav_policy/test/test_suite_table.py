# SPDX-License-Identifier: Apache-2.0
"""The table of suites and the agreement of both orders with handshake times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenes import CATALOGUE, CORE

from pqc_mav_common import packed
from pqc_mav_policy.suite_table import agreement, agreements, fractional_ranks, pearson, rows

SUITES = [CATALOGUE[name] for name in CORE]
MEASURED = Path(__file__).resolve().parents[3] / "bench" / "results" / "engine.json.gz"


def test_rows_run_from_light_to_heavy_and_hold_every_column() -> None:
    table = rows(SUITES, {SUITES[0].id: 0.6})
    assert [row.rank for row in table] == list(range(72))
    assert [row.octave for row in table] == sorted(row.octave for row in table)
    assert sum(row.handshake_ms is not None for row in table) == 1
    assert all(row.work_ms > 0 for row in table)


def test_without_measurements_the_published_computation_is_compared() -> None:
    published, cost = agreements(rows(SUITES))
    # [pqcmav-paper] claims r = 0.94 for its tier; its own primitives give far less, for it leaves out the signature.
    assert published.pearson < 0.5
    assert cost.spearman > 0.9
    assert cost.inversions == 0 < published.inversions
    assert published.pairs == 72 * 71 // 2


@pytest.mark.skipif(not MEASURED.exists(), reason="bench/results is not beside the package")
def test_the_order_of_cost_foretells_measured_handshakes_better_than_the_published_tier() -> None:
    measured = {
        row["suite"]: row["handshake_us"] / 1000
        for row in json.loads(packed.read(MEASURED))["handshake"]["rows"]
        if not row["pool"]
    }
    published, cost = agreements(rows(SUITES, measured))
    assert published.pearson < 0.5
    assert cost.pearson_log > 0.9
    assert cost.spearman > 0.9
    assert cost.inversions < published.inversions / 10


def test_suites_without_a_published_tier_do_not_count() -> None:
    table = rows(CATALOGUE.values())
    known = [row for row in table if row.tier is not None]
    assert {row.suite.kem_family for row in table if row.tier is None} >= {"FrodoKEM"}
    assert agreements(table)[0].pairs == len(known) * (len(known) - 1) // 2


def test_pearson_and_ranks() -> None:
    assert pearson([1, 2, 3, 4], [2, 4, 6, 8]) == pytest.approx(1.0)
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    # x = 1,2,3,4 and y = 1,3,2,4: covariance 4, variances 5 and 5.
    assert pearson([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert fractional_ranks([5.0, 1.0, 5.0, 9.0]) == [1.5, 0.0, 1.5, 3.0]
    for bad in (([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [1, 2])):
        with pytest.raises(ValueError, match="correlation"):
            pearson(*bad)


def test_inversions_are_pairs_the_wrong_way_round_by_more_than_a_factor_of_two() -> None:
    assert agreement("x", [0, 1, 2], [1.0, 5.0, 2.4]).inversions == 1
    assert agreement("x", [0, 1, 2], [1.0, 4.0, 2.1]).inversions == 0
    assert agreement("x", [0, 0, 1], [9.0, 1.0, 8.0]).inversions == 0
