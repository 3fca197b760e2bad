# SPDX-License-Identifier: Apache-2.0
"""The judgement of the strategies: pairs on the same variant, and a page whose sentences follow from the figures."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pqc_mav_policy.settings import STRATEGIES
from pqc_mav_policy_lab.compare.comparison import HEAVY, LEVEL5, STATIC
from pqc_mav_policy_lab.compare.judged import AT_LEVEL5, Judged, judge
from pqc_mav_policy_lab.compare.judged_report import as_content, as_markdown, verdicts
from pqc_mav_policy_lab.compare.rows_json import as_json
from pqc_mav_policy_lab.compare.variants import Figure, figure


@pytest.fixture(scope="module")
def found() -> list[Judged]:
    return judge(["hot"], seeds=2)


@pytest.fixture(scope="module")
def content(found: list[Judged]) -> dict[str, Any]:
    return as_content(found, "published")


def test_everybody_flies_every_variant_and_level5_differs_from_itself_in_nothing(found: list[Judged]) -> None:
    assert [each.strategy for each in found] == [STATIC, LEVEL5, HEAVY, *STRATEGIES, AT_LEVEL5]
    of = {each.strategy: each for each in found}
    assert all((each.mission, each.seeds) == ("hot", 2) for each in found)
    assert all(difference == Figure(0.0, 0.0) for difference in of[LEVEL5].difference.values())
    assert of[STATIC].difference["security"].mean == pytest.approx(-0.2, abs=0.02)
    assert of[STATIC].difference["security"].sign == -1
    assert of[HEAVY].difference["handshakes"].mean > 10
    assert of[AT_LEVEL5].difference["security"].mean == pytest.approx(0.0, abs=0.003)


def test_the_interval_of_one_value_says_nothing() -> None:
    assert figure([1.0]).sign == 0
    assert figure([1.0, 1.0]) == Figure(1.0, 0.0)
    assert (Figure(0.5, 0.5).sign, Figure(-0.5, 0.4).sign) == (0, -1)


def test_the_page_says_that_adapting_does_not_pay_against_level_5(content: dict[str, Any]) -> None:
    page = as_markdown(content)
    assert "Against `static-level5` adapting does not pay" in page
    assert "2 variants" in page
    assert f"| mission | {STATIC} | {LEVEL5} | {HEAVY} |" in page
    security, violations, energy, outage = (part.partition("\n\n")[2] for part in page.split("\n## ")[2:])
    assert all(part.count("\n| hot | ") == 1 for part in (security, violations, energy))
    assert outage.strip() == "The same with every strategy: 0 on hot."
    assert json.loads(as_json(content)) == content


def test_other_figures_give_other_sentences(content: dict[str, Any]) -> None:
    changed = copy.deepcopy(content["rows"])
    of = {row["strategy"]: row for row in changed}
    of["expert"]["against_level5"]["security"] = [0.02, 0.005]
    told = verdicts(changed)[0]
    assert told.startswith("**Against `static-level5` adapting pays**")
    assert "`expert` on hot" in told
    of["expert"]["against_level5"]["security"] = [0.02, 0.03]  # within its interval: nothing
    assert "does not pay" in verdicts(changed)[0]
    of["measured"]["against_level5"]["security"] = of[STATIC]["against_level5"]["security"]
    assert any("gains no security that the intervals tell" in sentence for sentence in verdicts(changed))
