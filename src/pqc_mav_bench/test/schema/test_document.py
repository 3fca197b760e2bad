# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from pqc_mav_bench.schema import document
from pqc_mav_bench.schema.run import all_fields

DOCS = Path(__file__).resolve().parents[4] / "docs"


def test_the_page_names_every_field():
    text = document.page()
    for field in all_fields():
        assert f"| `{field.name}` |" in text
    assert "(zero: " in text


def test_the_json_schema_has_every_category_with_units_and_sides():
    schema = json.loads(document.json_schema())
    total = schema["$defs"]["Handshake"]["properties"]["handshake_ms"]
    assert total["unit"] == "ms"
    assert total["description"].startswith("first to last byte")
    assert schema["additionalProperties"] is False


def test_the_documents_in_the_repository_are_up_to_date(capsys):
    assert document.main([str(DOCS / "metrics.md"), str(DOCS / "metrics.schema.json"), "--check"]) == 0, (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("which", ["page.md", "schema.json"])
def test_a_stale_document_is_reported(tmp_path, capsys, which):
    arguments = [str(tmp_path / "page.md"), str(tmp_path / "schema.json")]
    assert document.main(arguments) == 0
    assert document.main([*arguments, "--check"]) == 0
    (tmp_path / which).write_text("old")
    assert document.main([*arguments, "--check"]) == 1
    assert f"{which} is out of date" in capsys.readouterr().err
