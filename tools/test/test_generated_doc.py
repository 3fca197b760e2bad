"""tools/generated_doc.py and its pages: docs/ says what the engine's tables say, and a stale page is found."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

import configuration_doc
import generated_doc
import policy_doc
import pqc_mav_tunnel
import suites_doc

PAGES = pytest.mark.parametrize("page", [configuration_doc, policy_doc, suites_doc], ids=lambda page: page.PAGE.name)


@PAGES
def test_page_on_disk_is_up_to_date(page: ModuleType) -> None:
    differing = generated_doc.difference(page.PAGE, page.text())
    assert not differing, "\n".join(differing)


@PAGES
def test_stale_and_missing_pages_are_found_and_renewed(
    page: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / page.PAGE.name
    assert generated_doc.main(copy, page.text, ["--check"]) == 1
    assert generated_doc.main(copy, page.text, []) == 0
    assert generated_doc.main(copy, page.text, ["--check"]) == 0
    copy.write_text(copy.read_text().replace("`", "'", 1))
    assert generated_doc.main(copy, page.text, ["--check"]) == 1
    assert "out of date" in capsys.readouterr().err


def _text(entry: Mapping[str, Any], value: float) -> str:
    return str(type(entry["default"])(value))


def test_every_key_has_one_row_with_its_bounds() -> None:
    lines = configuration_doc.text().splitlines()
    for role in ("drone", "gcs"):
        for entry in pqc_mav_tunnel.config_schema(role):
            rows = [line for line in lines if line.startswith(f"| `{entry['key']}` ")]
            assert len(rows) >= 1, entry["key"]
            if entry["max"] is not None:
                assert any(_text(entry, entry["max"]) in row for row in rows), entry["key"]


def test_every_suite_has_one_row() -> None:
    lines = suites_doc.text().splitlines()
    suites = pqc_mav_tunnel.suites(view="extended")
    assert len(suites) == 132
    for suite in suites:
        assert sum(line.startswith(f"| `{suite.id}` | `{suite.short_code}` ") for line in lines) == 1


def test_table_escapes_bars() -> None:
    assert generated_doc.table(["a"], [["x|y"]]) == ["| a |", "| --- |", "| x\\|y |"]
