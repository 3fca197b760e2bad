# SPDX-License-Identifier: Apache-2.0
"""Pairs against static suites: what a pair is, what its interval says, and what the page says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scenes import CATALOGUE, CORE, suite

from pqc_mav_policy_lab.compare.against_static import Pair, against_static, distinct
from pqc_mav_policy_lab.compare.rows_json import as_json
from pqc_mav_policy_lab.compare.static_report import as_content, as_markdown, negligible, verdict
from pqc_mav_policy_lab.compare.variants import T_95, figure

BEST, HQC = suite("ML-1024-AG-FA-1024"), suite("HQC-192-AG-MD-65")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return against_static("measured", ["hot"], [HQC, BEST], seeds=2)


def test_a_pair_is_the_same_flight_twice_from_the_same_suite(pairs: list[Pair]) -> None:
    assert [(pair.mission, pair.suite, pair.seeds) for pair in pairs] == [("hot", HQC, 2), ("hot", BEST, 2)]
    hqc, best = pairs
    assert hqc.static["security"] == pytest.approx(0.8, abs=0.01)
    assert hqc.strategy["security"] > 0.9
    assert (hqc.static["violations"], hqc.strategy["violations"]) == (1.0, 0.0)
    assert hqc.difference["energy"].mean < -1.0
    assert best.difference["security"].mean == pytest.approx(0.0, abs=0.003)
    assert best.strategy["violations"] == 0.0


def test_one_suite_for_each_key_exchange_and_signature() -> None:
    found = [CATALOGUE[name] for name in distinct(CATALOGUE, CORE)]
    assert len(found) == len({(each.kem_token, each.sig_token) for each in found}) == 24


def test_the_interval_is_students() -> None:
    found = figure([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half == pytest.approx(T_95 * 1.0 / 3**0.5)


def row(security: float, half: float = 0.01, **more: float) -> dict[str, Any]:
    def part(difference: float, interval: float) -> dict[str, float]:
        return {"static": 100.0, "strategy": 100.0 + difference, "difference": difference, "half_interval": interval}

    others = {name: part(more.get(name, 0.0), 0.0) for name in ("violations", "energy", "outage")}
    return {"mission": "hot", "suite": HQC, "seeds": 30, "security": part(security, half), **others}


@pytest.mark.parametrize(
    ("content", "said", "small"),
    [
        (row(0.1), "better", True),
        (row(0.009), "same", True),
        (row(-0.1), "worse", False),
        (row(-0.004, 0.001), "worse", True),
        (row(0.1, energy=0.05), "better; energy", True),
        (row(0.1, energy=1.0), "better; energy", False),
        (row(0.1, violations=1.0, outage=2.0), "better; violations; outage", False),
    ],
)
def test_what_is_said_of_a_pair(content: dict[str, Any], said: str, small: bool) -> None:
    assert (verdict(content), negligible(content)) == (said, small)


def test_the_page_and_the_json_are_of_the_same_figures(pairs: list[Pair]) -> None:
    content = as_content(pairs, "measured", "made up")
    assert json.loads(as_json(content)) == content
    page = as_markdown(content, CATALOGUE)
    assert "| hot | HQC-192-AG-MD-65 | 3 |" in page
    assert "## Where a static suite wins" in page
    assert "2 variants each" in page and "2 static suites" in page
    won = {**content, "rows": [row(0.1)]}
    assert "Nowhere." in as_markdown(won, CATALOGUE)
