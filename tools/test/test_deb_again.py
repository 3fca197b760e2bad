# SPDX-License-Identifier: Apache-2.0
"""tools/deb_again.sh: a package that depends on where, when or by whom it was made is found and named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

# In place of 'deb.sh --no-test ARCHITECTURE', this makes three packages.
PACKS = """#!/bin/bash
cd "$(dirname "$0")/.." && mkdir -p build-deb && echo "$*" >build-deb/words
for name in one two; do echo "the same, of $SOURCE_DATE_EPOCH" >build-deb/$name.deb; done
cat source >build-deb/three.deb
{ WITH; } >>build-deb/two.deb
"""


def again(workspace: Path, packs: str, *, clone: bool = True) -> subprocess.CompletedProcess[str]:
    """Make the packages with this script, then again; in a clone, or in a release's archive."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": "UTC"}
    (workspace / "tools/deb.sh").write_text(packs)
    (workspace / "source").write_text("not in any commit")
    if clone:
        subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    subprocess.run([workspace / "tools/deb.sh", "--no-test", "amd64"], env=environment, check=True)
    return subprocess.run(
        [workspace / "tools/deb_again.sh", "amd64"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("clone", [True, False])
def test_the_same_bytes(workspace: Path, clone: bool) -> None:
    for made in (".venv/made", "build/made"):
        (workspace / made).parent.mkdir()
        (workspace / made).touch()
    (workspace / ".gitignore").write_text("/.venv/\n/build*/\n")
    copied = '[ -z "$CCACHE_DISABLE" ] || [ -L .venv -a ! -e build ] || pwd'
    done = again(workspace, PACKS.replace("WITH", copied), clone=clone)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 packages have the same bytes" in done.stdout


@pytest.mark.parametrize("fact", ["pwd", "umask", "date +%Z", "echo $CCACHE_DISABLE"])
def test_others_are_named_and_kept(workspace: Path, fact: str) -> None:
    done = again(workspace, PACKS.replace("WITH", fact))
    assert done.returncode == 1
    assert "error: not the same bytes: two.deb (" in done.stderr
    assert (workspace / "build-deb/again/two.deb").read_bytes() != (workspace / "build-deb/two.deb").read_bytes()


def test_a_second_build_that_fails_is_one(workspace: Path) -> None:
    done = again(
        workspace, PACKS.replace("WITH", '[ -z "$CCACHE_DISABLE" ] || { echo error: no compiler >&2; exit 1; }')
    )
    assert done.returncode == 1
    assert done.stderr == "error: the second build failed: no compiler (whole output: .deps/log/deb-again.log)\n"
