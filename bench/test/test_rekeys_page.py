# SPDX-License-Identifier: Apache-2.0
"""The page of rekeys has a figure for every cipher that was measured."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rekeys
import rig

from pqc_mav_common import packed


@pytest.fixture
def kept() -> dict[str, Any]:
    return json.loads(packed.read(rig.RESULTS / "rekeys.json.gz"))


def test_the_page_has_the_kept_figures(kept):
    page = rekeys.render(kept["rows"], {}, "m")
    committed = (rig.RESULTS / "rekeys.md").read_text()
    assert page.split("\n\n")[-1] == committed.split("\n\n")[-1]


def test_a_cipher_of_today_has_its_figure_and_one_that_was_not_measured_no_place(kept):
    row = {**kept["rows"][0], "suite": "ML-768-AA-MD-65", "rekey_into_ms_median": 1.25}
    head, _, line = rekeys.render([row], {}, "m").rstrip().split("\n")[-3:]
    assert "median rekey into it with AA, ms" in head
    assert line.startswith("| ML-768-*-MD-65 |") and "| 1.25 |" in line
