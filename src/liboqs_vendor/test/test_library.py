# SPDX-License-Identifier: Apache-2.0
"""The liboqs this workspace uses: every algorithm is in it, and the added function answers."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent


def wanted() -> list[str]:
    lines = (PACKAGE / "algorithms.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_list_has_twelve_kems_and_eleven_signatures() -> None:
    assert sum(name.startswith("KEM_") for name in wanted()) == 12
    assert sum(name.startswith("SIG_") for name in wanted()) == 11
    assert len(set(wanted())) == 23


def test_every_wanted_algorithm_is_built(liboqs_prefix: Path) -> None:
    if not (liboqs_prefix / ".complete").exists():
        pytest.skip(f"{liboqs_prefix} was not built here; the engine's preflight tells what it has")
    header = (liboqs_prefix / "include" / "oqs" / "oqsconfig.h").read_text()
    enabled = set(re.findall(r"^#define OQS_ENABLE_((?:KEM|SIG)_\w+)", header, re.MULTILINE))
    assert set(wanted()) <= enabled
    assert "OQS_ENABLE_KEM_HQC" in header


@pytest.mark.parametrize(
    ("name", "expected"),
    [(b"ML-DSA-65", True), (b"Falcon-512", False), (b"no such algorithm", False), (None, False)],
)
def test_added_function_tells_who_takes_a_context(liboqs_prefix: Path, name: bytes | None, expected: bool) -> None:
    library = ctypes.CDLL(str(liboqs_prefix / "lib" / "liboqs.so"))
    library.OQS_init()
    function = library.OQS_SIG_supports_ctx_str
    function.argtypes = [ctypes.c_char_p]
    function.restype = ctypes.c_bool
    assert function(name) is expected


def test_the_library_is_hardened(liboqs_prefix: Path) -> None:
    readelf = shutil.which("readelf")
    if readelf is None or not (liboqs_prefix / ".complete").exists():
        pytest.skip(f"no readelf, or {liboqs_prefix} was not built here")
    said = subprocess.run(
        [readelf, "--wide", "--headers", "--dynamic", "--dyn-syms", str(liboqs_prefix / "lib" / "liboqs.so")],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert "GNU_RELRO" in said
    assert re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", said)
    assert "__stack_chk_fail" in said
    assert re.search(r"GNU_STACK(\s+0x0+)+\s+0x0+\s+RW\s", said)
