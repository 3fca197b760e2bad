# SPDX-License-Identifier: Apache-2.0
"""Reads single values of sysfs, where every file may vanish, block no one and hold anything."""

import re
from pathlib import Path

MAX_BYTES = 4096


def text(path: Path) -> str | None:
    """The stripped content; None when it cannot be read (a sensor that is gone answers with many kinds of errors)."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("ascii", "replace").strip()
    except (OSError, ValueError):
        return None


def number(path: Path) -> int | None:
    """The content as a whole number; None when it is none. `int` alone would take "1_000" and other digits."""
    content = text(path)
    if content is None or not re.fullmatch(r"[+-]?[0-9]{1,18}", content):
        return None
    return int(content)


def numbered(root: Path, prefix: str) -> list[Path]:
    """Entries `<prefix><number>` of a folder in the order of their numbers; empty when the folder is not there."""
    try:
        found = [path for path in root.iterdir() if re.fullmatch(re.escape(prefix) + r"[0-9]{1,6}", path.name)]
    except OSError:
        return []
    return sorted(found, key=lambda path: int(path.name[len(prefix) :]))
