# SPDX-License-Identifier: Apache-2.0
"""What is installed carries the hardening that cmake/hardening.cmake asks for."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pqc_mav_tunnel import _engine

PROGRAM = shutil.which("pqcmav-tunneld")
READELF = shutil.which("readelf")
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first"),
    pytest.mark.skipif(READELF is None, reason="readelf (binutils) is not here"),
]
FILES = [Path(str(PROGRAM)), Path(str(_engine.__file__))]


def elf(file: Path) -> str:
    return subprocess.run(
        [str(READELF), "--wide", "--headers", "--dynamic", "--notes", "--dyn-syms", str(file)],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[0])
def test_symbols_are_bound_at_start_and_read_only_then(file: Path) -> None:
    said = elf(file)
    assert "GNU_RELRO" in said
    assert re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", said)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[0])
def test_stacks_are_guarded_and_not_executable(file: Path) -> None:
    said = elf(file)
    assert "__stack_chk_fail" in said
    assert re.search(r"GNU_STACK(\s+0x0+)+\s+0x0+\s+RW\s", said)


def test_the_program_moves_at_each_start() -> None:
    assert re.search(r"Type:\s+DYN", elf(FILES[0]))


@pytest.mark.skipif(platform.machine() not in {"x86_64", "i686"}, reason="a feature of x86 processors")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[0])
def test_a_shadow_stack_is_allowed(file: Path) -> None:
    assert re.search(r"x86 feature: .*SHSTK", elf(file))


@pytest.mark.skipif(platform.machine() not in {"x86_64", "i686"}, reason="a feature of x86 processors")
def test_the_engine_marks_where_jumps_may_go() -> None:
    """In the library: a program as a whole is marked only where the system's own start-up files are."""
    library = FILES[0].parent.parent / "lib" / "libpqcmav_engine.a"
    if not library.exists():
        pytest.skip(f"no {library}")
    said = subprocess.run(
        [str(READELF), "--wide", "--notes", str(library)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    objects, marked = said.count("\nFile: "), len(re.findall(r"x86 feature: .*IBT", said))
    assert objects > 0 and marked == objects
