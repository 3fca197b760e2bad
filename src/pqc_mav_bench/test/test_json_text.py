# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from pqc_mav_bench.json_text import as_lines, counted, rounded

VALUE = {"rows": [{"a": 1, "b": [1, 2]}, {"a": None}], "none": [], "text": 'x"y'}


@pytest.mark.parametrize("depth", range(5))
def test_the_text_is_the_value_at_every_depth(depth):
    assert json.loads(as_lines(VALUE, depth)) == VALUE


def test_each_row_has_a_line():
    assert as_lines(VALUE, 2).splitlines() == [
        "{", '"rows": [', '{"a": 1, "b": [1, 2]},', '{"a": null}', "],", '"none": [],', '"text": "x\\"y"', "}",
    ]  # fmt: skip


def test_floats_are_cut_and_nothing_else():
    assert rounded({"a": 1.23456789012, "b": 123456789012, "c": [True, "x", None, 0.1]}, 4) == {
        "a": 1.235, "b": 123456789012, "c": [True, "x", None, 0.1],
    }  # fmt: skip


def test_counters_that_are_zero_are_left_out():
    assert counted({"gcs": {"sent": 2, "drop": 0}, "none": 0, "mean": 0.0, "ok": 1}) == {"gcs": {"sent": 2}, "ok": 1}
