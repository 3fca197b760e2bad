#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that every source file names its licence, or add the line where it is missing.

    tools/spdx.py --check    exit code 1, naming each file without the line
    tools/spdx.py --fix      add the line: first in the file, but after `#!` and an encoding line

Source files are Python, C++, shell, CMake and interface files, and scripts without a suffix that begin with `#!`. Empty
files need no licence.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAG = "SPDX-License-Identifier: Apache-2.0"
COMMENT = {
    **dict.fromkeys((".py", ".pyi", ".sh", ".cmake", ".msg", ".srv", ".action"), "#"),
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp"), "//"),
}
ENCODING = re.compile(r"#.*coding[:=]")
# The line belongs at the top; further down it is a quotation.
SEARCHED_LINES = 5


def comment_sign(path: Path) -> str | None:
    """Return what begins a comment in a source file; None for any other file."""
    if path.name == "CMakeLists.txt":
        return "#"
    if path.suffix:
        return COMMENT.get(path.suffix)
    with path.open("rb") as file:
        return "#" if file.read(2) == b"#!" else None


def has_line(text: str) -> bool:
    """Tell whether the first lines name the licence."""
    return any(line.endswith(TAG) for line in text.splitlines()[:SEARCHED_LINES])


def with_line(text: str, sign: str) -> str:
    """Return the text with the licence line where it belongs."""
    lines = text.splitlines(keepends=True)
    place = 0
    if lines[0].startswith("#!"):
        place = 1
    if place < len(lines) and ENCODING.match(lines[place]):
        place += 1
    return "".join([*lines[:place], f"{sign} {TAG}\n", *lines[place:]])


def committed(root: Path = ROOT) -> list[Path]:
    """Return the files that are committed or about to be, without links."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = [root / name for name in sorted(set(names)) if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def missing(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the source files without the line, each with its comment sign."""
    found = {}
    for path in paths:
        sign = comment_sign(path)
        if sign is None:
            continue
        text = path.read_text(encoding="utf-8")
        if text.strip() and not has_line(text):
            found[path] = sign
    return found


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Check or fix. Return the exit code."""
    parser = argparse.ArgumentParser(description="Check that every source file names its licence.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="name the files without the line; exit code 1 if any")
    mode.add_argument("--fix", action="store_true", help="add the line where it is missing")
    fix = parser.parse_args(arguments).fix
    found = missing(committed(root))
    for path, sign in found.items():
        if fix:
            path.write_text(with_line(path.read_text(encoding="utf-8"), sign), encoding="utf-8")
        else:
            print(f"error: {path.relative_to(root)} has no line '{TAG}'; run 'make format'", file=sys.stderr)
    return 0 if fix or not found else 1


if __name__ == "__main__":
    sys.exit(main())
