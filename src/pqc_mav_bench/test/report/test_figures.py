# SPDX-License-Identifier: Apache-2.0
"""The texts of charts and tables: each row of assets/figures.csv is asked for, whole, and none is missing."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pandas as pd
import pytest

from pqc_mav_bench.report.report_input import published_2025
from pqc_mav_bench.report.sections import figures
from pqc_mav_bench.report.shipped import asset

ROWS = list(csv.DictReader(asset("figures.csv").splitlines()))
SOURCES = "".join(path.read_text(encoding="utf-8") for path in Path(figures.__file__).parent.glob("*.py"))


def test_each_key_has_one_row_and_is_asked_for():
    keys = [row["key"] for row in ROWS]
    assert len(keys) == len(set(keys))
    assert not [key for key in keys if f'"{key}"' not in SOURCES]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["key"])
def test_a_row_is_whole(row):
    assert None not in row and None not in row.values(), "a cell too many, or too few"
    for text in row.values():
        assert text == text.strip()
        for name in re.findall(r"{(.*?)}", text):
            assert re.search(rf"\b{name}=|\"{name}\": ", SOURCES), f"nobody gives {name}"


def test_own_texts_go_before_those_of_the_table_and_into_their_braces():
    made = figures.table(published_2025(), "any", pd.DataFrame(), of="family", family="HQC", place=13, shows="Own.")
    assert (made.key, made.title) == ("any", "HQC results, [endurance-paper] Table 13")
    assert made.explanation is not None and made.explanation.shows == "Own."


def test_a_table_without_a_title_is_refused():
    with pytest.raises(KeyError):
        figures.table(published_2025(), "no-such-key", pd.DataFrame())
