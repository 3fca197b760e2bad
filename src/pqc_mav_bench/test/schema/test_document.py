# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic import VERSION

from pqc_mav_bench.schema import document
from pqc_mav_bench.schema.run import all_fields

VERSION_2 = pytest.mark.skipif(VERSION.startswith("1."), reason="the JSON Schema needs pydantic 2")
DOCS = Path(__file__).resolve().parents[4] / "docs"


def test_the_page_names_every_field():
    text = document.page()
    named: set[str] = set()
    for section in text.split("\n## ")[1:]:
        usual = section.split(" (", 1)[1].split("): ", 1)[0]
        for name, own in re.findall(r"^\* `(.*?)`(?: \((.*?)\))?: ", section, re.MULTILINE):
            side = own if re.search(r"\b(drone|gcs|both|controller)\b", own) else usual
            named |= {name, f"gcs_{name}"} if side.endswith("`gcs_`") else {name}
    assert named >= {field.name for field in all_fields()}


@VERSION_2
def test_the_json_schema_has_every_category_with_units_and_sides():
    schema = json.loads(document.json_schema())
    total = schema["$defs"]["Handshake"]["properties"]["handshake_ms"]
    assert total["unit"] == "ms"
    assert total["description"].startswith("first to last byte")
    assert schema["additionalProperties"] is False


@VERSION_2
def test_a_metric_says_no_more_than_it_must():
    schema = json.loads(document.json_schema())
    assert schema["$defs"]["Handshake"]["properties"]["kdf_ms"] == {
        "type": ["number", "null"], "description": "HKDF and transcript hashes", "side": "drone", "unit": "ms",
        "zero": "shorter than the clock's resolution",
    }  # fmt: skip


def test_the_page_in_the_repository_is_up_to_date():
    assert (DOCS / "metrics.md").read_text() == document.page()
