# SPDX-License-Identifier: Apache-2.0
"""The comparison on paper: the same figures in JSON and page; equal comparisons, equal bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scenes import CATALOGUE, CORE

from pqc_mav_policy.parameter_table import plain
from pqc_mav_policy.settings import Settings
from pqc_mav_policy_lab.compare.comparison import Comparison, compare, strategies
from pqc_mav_policy_lab.compare.report import as_content, as_markdown
from pqc_mav_policy_lab.compare.rows_json import as_json
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.simulated import mission


def made() -> Comparison:
    flown = {
        name: strategy for name, strategy in strategies(CATALOGUE, Settings()).items() if name in ("static", "cascade")
    }
    costs = published_costs(CATALOGUE)
    return compare(
        [mission("hot"), mission("nominal")],
        flown,
        catalogue=CATALOGUE,
        costs=costs,
        available=CORE,
        settings=Settings(),
    )


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return as_content(made(), plain(Settings().policy))


def test_json(content: dict[str, Any]) -> None:
    text = as_json(content)
    again = json.loads(text)
    assert again["rows"][0]["mission"] == "hot" and again["settings"]["stale_s"] == 2.0
    assert text == as_json(as_content(made(), plain(Settings().policy)))
    assert all(line.count('"mission"') == 1 for line in text.splitlines() if '"strategy"' in line)


def test_page(content: dict[str, Any]) -> None:
    page = as_markdown(content)
    assert "**4 of 4 flights are simulated**" in page and "published medians" in page
    static = next(row for row in content["rows"] if row["strategy"] == "static")
    (line,) = [text for text in page.splitlines() if text.startswith("| hot (simulated") and "**I1 x1**" in text]
    assert f", {static['rekeys']}; " in line and f"| {static['mean_security']:.3f}; " in line
