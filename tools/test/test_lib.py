# SPDX-License-Identifier: Apache-2.0
"""tools/lib.sh: a command that fails ends a script with one line, whatever the command said."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from bare_machine import Run, assert_one_error

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("error: no room\ngood again", "no room"),
        ("E: Unable to locate package one", "E: Unable to locate package one"),
        ("nothing of the usual words", "nothing of the usual words"),
        ("", "failed"),
    ],
)
def test_logged_names_the_cause(run: Run, said: str, line: str) -> None:
    script = """
        . tools/lib.sh
        set -euo pipefail
        failing() { printf "$SAID"; return 3; }
        logged name "try again" failing
    """
    result = run("-c", script, SAID=said)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith(f"error: name: {line}; try again (whole output: ")


def test_need_asks_for_the_packages_of_what_is_not_here(run: Run) -> None:
    script = """
        . tools/lib.sh
        set -euo pipefail
        apt_install() { echo "$@"; }
        need one cat "$PWD/Makefile=make"
        need two cat nowhere-a "nowhere-b=b b-extra" /nowhere/c=c
        echo end
    """
    result = run("-c", script)
    assert (result.returncode, result.stdout) == (0, "two nowhere-a b b-extra c\nend\n"), result.stderr


def test_a_machine_without_any_route_is_told_so_at_once(run: Run) -> None:
    alone = ["unshare", "-rn", "bash", "-c", ". tools/lib.sh; require_network 'the tool'; echo on"]
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces for this user")
    ended = subprocess.run(alone, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "error: no network: the tool cannot be fetched; connect this machine and run make again\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a clone to another user")
def test_git_in_a_clone_of_another_user_is_one_sentence(run: Run, workspace: Path) -> None:
    (workspace / "tools" / "git").symlink_to(shutil.which("git") or "git")
    script = 'PATH="$PATH:tools"; git init -q; [ -z "$OTHER" ] || /bin/chown 65534 . .git; . tools/lib.sh; require_git'
    own = run("-c", script, OTHER="")
    assert (own.returncode, own.stderr) == (0, "")
    assert_one_error(run("-c", script, OTHER="1"), f"git does not read {workspace}", "nobody", "safe.directory")
