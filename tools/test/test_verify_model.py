# SPDX-License-Identifier: Apache-2.0
"""tools/verify_model.sh: a model that does not hold fails the run, and so does a missing verifpal unless allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_machine import Fake, Run


@pytest.fixture
def model(workspace: Path) -> Path:
    folder = workspace / "docs" / "model"
    folder.mkdir(parents=True)
    file = folder / "handshake.vp"
    file.write_text("attacker[active]\n")
    return file


@pytest.mark.usefixtures("model")
def test_fails_in_one_line_without_verifpal(run: Run) -> None:
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "cargo install --ignore-rust-version verifpal" in result.stderr
    assert "ALLOW_MISSING=1" in result.stderr


@pytest.mark.usefixtures("model")
def test_skips_in_one_line_without_verifpal_where_that_is_allowed(run: Run) -> None:
    result = run("tools/verify_model.sh", "docs/model", ALLOW_MISSING="1")
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 1
    assert "cargo install --ignore-rust-version verifpal" in result.stdout


@pytest.mark.parametrize(
    ("expected", "code", "exit_code"),
    [
        ("", "c0a0", 0),
        ("", "c0a1", 1),
        ("// expect: c0a1", "c0a1", 0),
        ("// expect: c0a1", "c0a0", 1),
        ("// expect: c0a1", "", 1),
        ("", "", 1),
        ("", "done", 1),
    ],
)
def test_outcome_is_compared(run: Run, fake: Fake, model: Path, expected: str, code: str, exit_code: int) -> None:
    model.write_text(f"{expected}\nattacker[active]\n")
    fake("verifpal", f"echo some text; echo {code}")
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == exit_code, result.stdout + result.stderr


@pytest.mark.usefixtures("model")
def test_unreadable_model_fails(run: Run, fake: Fake) -> None:
    fake("verifpal", "echo c0a0; exit 1")
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == 1
    assert "could not be analysed" in result.stderr


def test_no_model_fails(run: Run, fake: Fake) -> None:
    fake("verifpal", "exit 0")
    assert "no model" in run("tools/verify_model.sh", "docs/model").stderr


@pytest.mark.parametrize(
    ("expected", "says", "exit_code"),
    [
        ("01", "is true.|is false.", 0),
        ("00", "is true.|is false.", 1),
        ("01", "is true.|cannot be proved.", 1),
        ("01", "is true.", 1),
    ],
)
def test_outcome_of_proverif_is_compared(
    run: Run, fake: Fake, model: Path, expected: str, says: str, exit_code: int
) -> None:
    model.rename(model.with_name("old.txt"))
    model.with_suffix(".pv").write_text(f"(* expect: {expected} *)\n")
    lines = "".join(f"Query some {each}\\n" for each in says.split("|"))
    fake("proverif", f"printf 'Query early is true.\\nVerification summary:\\n{lines}'")
    result = run("tools/verify_model.sh", "docs/model")
    assert result.returncode == exit_code, result.stdout + result.stderr


def test_sources_of_another_proverif_are_refused(run: Run, model: Path, tmp_path: Path) -> None:
    model.rename(model.with_suffix(".pv"))
    (tmp_path / "pv" / "src").mkdir(parents=True)
    (tmp_path / "pv" / "build").write_text("exit 0\n")
    (tmp_path / "pv" / "src" / "main.ml").write_text("let () = ()\n")
    result = run("tools/verify_model.sh", "docs/model", PROVERIF_SOURCE=str(tmp_path / "pv"))
    assert result.returncode == 1
    assert "is not the ProVerif" in result.stderr
