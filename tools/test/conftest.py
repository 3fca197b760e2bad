# SPDX-License-Identifier: Apache-2.0
"""A bare copy of the workspace's set-up, and a PATH that the test controls."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_machine import OTHER, OWNER, Fake, Run

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))  # the tests import what is there
BASIC_TOOLS = """
    basename bash cat cmp cut dirname env find flock grep head id ln mkdir mktemp nproc paste pkg-config printf readlink
    rm sed sha256sum sort stat tail tar tee timeout uname cmake ninja cc g++ python3
"""


@pytest.fixture(scope="module")
def keys() -> Iterator[Path]:
    """Two keys of gpg in a home of their own, whose path is short enough for the agent's socket."""
    with tempfile.TemporaryDirectory(prefix="gpg-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", home)
        making = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key"]
        for name in (OWNER, OTHER):
            subprocess.run([*making, name, "ed25519", "sign", "1d"], check=True, capture_output=True)
            subprocess.run(["gpg", "--batch", "--output", f"{home}/{name}.gpg", "--export", f"={name}"], check=True)
        yield Path(home)
        subprocess.run(["gpgconf", "--kill", "all"], check=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A fresh clone, as far as the set-up is concerned: nothing built, nothing installed."""
    copy = tmp_path / "workspace"
    for part in ("tools", "requirements", "src/liboqs_vendor"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "test"))
    for part in ("Makefile", "colcon.meta", "colcon_defaults.yaml"):
        shutil.copy(ROOT / part, copy)
    return copy


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Put a shell script of a given name before everything else on the test's PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in BASIC_TOOLS.split():
        found = shutil.which(tool, path="/usr/bin:/bin:/usr/local/bin") or shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)

    def add(name: str, body: str) -> None:
        path = folder / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    return add


@pytest.fixture
def run(workspace: Path, tmp_path: Path, fake: Fake) -> Run:
    """Run a script of the workspace with only the test's PATH and an empty home."""

    def call(*command: str, **extra: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(tmp_path / "bin"),
            "HOME": str(tmp_path),
            "CARGO_HOME": str(tmp_path / "cargo"),
            **extra,
        }
        return subprocess.run(
            ["/bin/bash", *command], cwd=workspace, env=environment, capture_output=True, text=True, timeout=120
        )

    return call
