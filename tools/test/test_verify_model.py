# SPDX-License-Identifier: Apache-2.0
"""tools/verify_model.sh: an outcome that is not the expected one fails the run, and so does a missing tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_machine import Fake, Run, assert_one_error


@pytest.fixture
def model(workspace: Path) -> Path:
    folder = workspace / "docs" / "model"
    folder.mkdir(parents=True)
    file = folder / "handshake.pv"
    file.write_text("(* expect: 0 *)\n")
    return file


@pytest.mark.usefixtures("model")
def test_fails_in_one_line_without_proverif(run: Run) -> None:
    result = run("tools/verify_model.sh", "docs/model")
    assert_one_error(result, "PROVERIF_SOURCE=FOLDER", "ALLOW_MISSING=1")


def test_says_in_one_line_each_what_is_left_out_where_that_is_allowed(run: Run, model: Path) -> None:
    model.with_suffix(".pml").write_text("/* expect: 0 */\n")
    result = run("tools/verify_model.sh", "docs/model", ALLOW_MISSING="1")
    assert result.returncode == 0
    assert ["ProVerif" in line or "Spin" in line for line in result.stdout.splitlines()] == [True, True]


def test_unreadable_model_fails(run: Run, fake: Fake, model: Path) -> None:
    fake("proverif", "echo 'Error: Syntax error.'; exit 2")
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == 1
    assert "could not be analysed" in result.stderr


def test_no_model_fails(run: Run, workspace: Path) -> None:
    (workspace / "docs" / "model").mkdir(parents=True)
    assert "no model" in run("tools/verify_model.sh", "docs/model").stderr


@pytest.mark.parametrize(
    ("expected", "says", "exit_code"),
    [
        ("01", "is true.|is false.", 0),
        ("00", "is true.|is false.", 1),
        ("01", "is true.|cannot be proved.", 1),
        ("0?", "is true.|cannot be proved.", 0),
        ("01", "is true.", 1),
        ("", "", 1),
    ],
)
def test_outcome_of_proverif_is_compared(
    run: Run, fake: Fake, model: Path, expected: str, says: str, exit_code: int
) -> None:
    model.write_text(f"(* expect: {expected} *)\n")
    lines = "".join(f"Query some {each}\\n" for each in says.split("|"))
    fake("proverif", f"printf 'Query early is true.\\nVerification summary:\\n{lines}'")
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == exit_code, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("expected", "pan", "exit_code"),
    [
        ("01", "if grep -q =1 claim; then echo errors: 0; else echo errors: 1; fi", 0),
        ("00", "if grep -q =1 claim; then echo errors: 0; else echo errors: 1; fi", 1),
        ("00", "echo error: max search depth too small; echo errors: 0", 1),
        ("??", "echo error: max search depth too small; echo errors: 0", 0),
        ("00", "exit 1", 1),
    ],
)
def test_outcome_of_spin_is_compared(
    run: Run, fake: Fake, model: Path, tmp_path: Path, expected: str, pan: str, exit_code: int
) -> None:
    model.unlink()
    model.with_suffix(".pml").write_text(f"/* expect: {expected} */\n  claim(1, a);\n  claim(2, b);\n")
    (tmp_path / "pan").write_text(f"#!/bin/sh\n{pan}\n")
    fake("spin", 'echo "$1" >claim')
    fake("gcc", f"install -m 755 {tmp_path / 'pan'} pan")
    fake("install", 'exec /usr/bin/install "$@"')
    fake("cp", 'exec /bin/cp "$@"')
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == exit_code, result.stdout + result.stderr


def test_sources_of_another_proverif_are_refused(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "pv" / "src").mkdir(parents=True)
    (tmp_path / "pv" / "build").write_text("exit 0\n")
    (tmp_path / "pv" / "src" / "main.ml").write_text("let () = ()\n")
    result = run("tools/verify_model.sh", "docs/model", PROVERIF_SOURCE=str(tmp_path / "pv"))
    assert result.returncode == 1
    assert "is not the ProVerif" in result.stderr
