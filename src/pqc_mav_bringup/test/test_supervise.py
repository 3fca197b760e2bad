# SPDX-License-Identifier: Apache-2.0
"""The process that takes the command line's place; test_up.py of pqc_mav_cli runs whole systems in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.supervise import supervise

DEADLINE_S = 60.0


def replaced(folder: Path, system: str, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What comes of a process, busy in `folder`, that is replaced."""
    code = f"from pqc_mav_bringup.supervise import replace_process as r; r('prog', {system!r}, {json.dumps(given)})"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE_S, check=False, cwd=folder
    )


def test_a_refusal_is_one_line_under_the_name_of_the_program(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.yaml")
    ended = replaced(tmp_path, "gcs", {"config": missing})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"prog: error: There is no configuration file '{missing}'.\n"


def test_what_lies_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "shutil.py").write_text("raise SystemExit('imported')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(1)"], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        pytest.skip("this Python cannot leave the current folder out for the process that is replaced")
    code = "from pqc_mav_bringup.supervise import replace_process as r; r('prog', 'gcs', {'config': '/none'})"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        cwd=tmp_path,
    )
    assert "There is no configuration file" in ended.stderr and "imported" not in ended.stderr


def test_bad_arguments_are_refused_before_anything_starts() -> None:
    with pytest.raises(BringupError, match="not an argument of 'drone'"):
        supervise("drone", {"sutie": "x"})
