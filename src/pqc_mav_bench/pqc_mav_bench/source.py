# SPDX-License-Identifier: Apache-2.0
"""Which sources measured: the commit of the workspace, where the workspace is a clone."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LIMIT_S = 10.0


def source(folder: str | Path | None = None) -> dict[str, Any]:
    """`commit` and whether tracked files were `changed` since; {} outside of a clone. `folder`: the workspace's."""
    root = folder or os.environ.get("PQCMAV_ROOT", "")
    if not root or not (Path(root) / ".git").exists():
        return {}
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {} if commit is None or changes is None else {"commit": commit, "changed": bool(changes)}


def words(found: Mapping[str, Any]) -> str:
    """What `source` found, for a reader."""
    if not found.get("commit"):
        return "commit not recorded"
    return f"commit {found['commit'][:12]}{', with changes' if found.get('changed') else ''}"


def kept_by(path: Path) -> str:
    """The commit that last changed a file of a clone; "" elsewhere, and for a file that is not kept."""
    return _git(path.resolve().parent, "log", "-1", "--format=%H", "--", path.name) or ""


def _git(root: str | Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
