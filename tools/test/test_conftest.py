# SPDX-License-Identifier: Apache-2.0
"""The workspace's conftest: a file that skips itself takes no other with it, whatever else looks into test files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# As launch_testing does: a file is imported to see whether it has an entry point of its own.
CURIOUS = """
import runpy

def pytest_pycollect_makemodule(module_path, parent):
    runpy.run_path(str(module_path))
"""


@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_skips_itself_takes_no_other_with_it(tmp_path: Path, kept: bool) -> None:
    (tmp_path / "curious.py").write_text(CURIOUS)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    folder = tmp_path / "test"
    folder.mkdir()
    (folder / "test_absent.py").write_text('import pytest\npytest.importorskip("no_such_module")\n')
    (folder / "test_here.py").write_text("def test_it() -> None:\n    pass\n")
    if kept:
        shutil.copy(ROOT / "conftest.py", tmp_path)
    line = [sys.executable, "-m", "pytest", "-q", "-p", "curious", "-p", "no:cacheprovider", "test"]
    ended = subprocess.run(
        line, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert ("1 passed, 1 skipped" in ended.stdout) == kept, ended.stdout + ended.stderr
