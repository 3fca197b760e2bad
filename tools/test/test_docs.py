# SPDX-License-Identifier: Apache-2.0
"""tools/docs.py: generated files say what the code's tables say, and a stale one is found, named and renewed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

import configuration_doc
import docs
import markdown_table
import pqc_mav_tunnel
import suites_doc


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return docs.generated()


def test_committed_files_are_current(generated: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert docs.check(generated) == 0, capsys.readouterr()


def test_stale_and_missing_files_are_named_and_renewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"docs/page.md": "one\ntwo\n", "docs/new.md": "new\n"}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text("one\n2\n")
    assert docs.check(wanted, tmp_path) == 1
    output = capsys.readouterr()
    assert "-2\n+two" in output.out
    for path in ("docs/page.md", "docs/new.md"):
        assert f"error: {path} is out of date; run 'make docs'" in output.err
    docs.write(wanted, tmp_path)
    assert "wrote docs/page.md" in capsys.readouterr().out
    assert docs.check(wanted, tmp_path) == 0
    docs.write(wanted, tmp_path)
    assert capsys.readouterr().out == "", "a second run changes nothing"


def test_every_generated_file_is_committed(generated: dict[str, str]) -> None:
    for path in generated:
        assert (docs.ROOT / path).is_file(), path


def test_every_key_has_one_row_with_its_bounds() -> None:
    lines = configuration_doc.text().splitlines()
    for role in ("drone", "gcs"):
        for entry in pqc_mav_tunnel.config_schema(role):
            rows = [line for line in lines if line.startswith(f"| `{entry['key']}` ")]
            assert len(rows) >= 1, entry["key"]
            if entry["max"] is not None:
                most = str(type(entry["default"])(entry["max"]))
                assert any(most in row for row in rows), entry["key"]


def test_every_suite_is_in_one_row() -> None:
    kems, ciphers, sigs = (
        re.findall(r"^\| `(.*?)` \| `(.*?)` \|.*?(\d*) \| (core|extended|later)(, superseded)? \|$", each, re.MULTILINE)
        for each in suites_doc.text().split("\n\n")[-3:]
    )
    told = {
        (f"{kem[0]}-{cipher[0]}-{sig[0]}", f"cs-{kem[1]}-{cipher[1]}-{sig[1]}", {kem[3], cipher[3], sig[3]} == {"core"})
        for kem in kems
        for cipher in ciphers
        for sig in sigs
        if kem[2] == sig[2] and not ("later" in (kem[3], cipher[3], sig[3]) and (kem[4] or cipher[4] or sig[4]))
    }
    suites = pqc_mav_tunnel.suites(view="all")
    assert told == {(suite.short_code, suite.id, suite.core) for suite in suites} and len(told) == 234


def test_table_escapes_bars() -> None:
    assert markdown_table.table(["a"], [["x|y"]]) == ["| a |", "| --- |", "| x\\|y |"]
