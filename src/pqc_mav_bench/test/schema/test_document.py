# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import VERSION

from pqc_mav_bench.schema import document
from pqc_mav_bench.schema.run import all_fields, categories

VERSION_2 = pytest.mark.skipif(VERSION.startswith("1."), reason="the JSON Schema needs pydantic 2")
DOCS = Path(__file__).resolve().parents[4] / "docs"


def test_the_models_have_what_the_table_says():
    for field in all_fields():
        info = categories()[field.category].model_fields[field.name]
        assert info.description == field.meaning and info.json_schema_extra["unit"] == field.unit, field.path
    assert len(list(all_fields())) == sum(len(kind.model_fields) for kind in categories().values()) > 350


def test_the_page_names_every_category():
    assert all(f" `{name}`" in document.page() for name in categories())


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
    assert (DOCS / "metrics.csv").read_text().splitlines()[1].startswith("run_context.campaign_id,text,,controller,")
