# SPDX-License-Identifier: Apache-2.0
"""The page of the drone side's footprint, of the measurements that are kept."""

from __future__ import annotations

import json
from typing import Any

import footprint
import footprint_page
import pytest
import rig

from pqc_mav_common import packed

KEPT = "footprint.json.gz"


@pytest.fixture
def results() -> dict[str, Any]:
    return json.loads(packed.read(rig.RESULTS / KEPT))


def test_the_page_is_that_of_the_kept_measurements(results):
    assert footprint_page.render(results) == (rig.RESULTS / "footprint.md").read_text()


def test_a_label_that_is_measured_again_is_the_newest_and_its_goals_are_judged(results, tmp_path):
    (tmp_path / KEPT).write_bytes((rig.RESULTS / KEPT).read_bytes())
    first = next(label for label, result in results.items() if "mavlink" not in result["options"])
    footprint.record(first, {**results[first], "cpu_percent_total": 99.9}, tmp_path)
    page = (tmp_path / "footprint.md").read_text()
    assert f"\n| {first} |" in page and f"\n`{first}`: 99.9 % of a core" in page


def test_one_window_has_no_interval(results):
    label, result = next(iter(results.items()))
    page = footprint_page.render({label: {**result, "windows": result["windows"][:1]}})
    assert "nan" not in page


def test_with_mavros_alone_no_goal_is_judged(results):
    of_mavros = {label: result for label, result in results.items() if "mavlink" in result["options"]}
    page = footprint_page.render(of_mavros)
    assert of_mavros and "goal <=" not in page
