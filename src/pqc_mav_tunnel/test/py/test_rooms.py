# SPDX-License-Identifier: Apache-2.0
"""The engine's rooms: each includes only those below it, and a public header no internal one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent.parent
# From the bottom up. What is directly in src/ is either used by all (bytes, text, clock, ...) or puts them together.
ROOMS = (
    "crypto",
    "keys",
    "session",
    "shape",
    "route",
    "line",
    "paths",
    "handshake",
    "net",
    "relay",
    "picture",
    "control",
    "console",
)
TOGETHER = {
    f"{name}.cpp"
    for name in ("config", "config_plain", "config_radio", "engine", "engine_drones", "host", "path_list", "peer_list")
}
TOGETHER |= {"engine_impl.hpp"}


def included(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_folder_is_a_known_room() -> None:
    assert {path.name for path in (PACKAGE / "src").iterdir() if path.is_dir()} == set(ROOMS)
    rows = re.findall(r"^\| `.*?\|", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)/`", "".join(rows))) == sorted(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_includes_only_those_below_it(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1]) | {"pqc_mav_tunnel"}
    for path in sorted((PACKAGE / "src" / room).glob("*.?pp")):
        for header in included(path):
            folder, slash, _ = header.partition("/")
            assert not slash or folder in allowed, f"{path.name} includes {header}"


def test_what_all_rooms_use_includes_no_room() -> None:
    for path in sorted((PACKAGE / "src").glob("*.?pp")):
        if path.name not in TOGETHER:
            outside = [
                header for header in included(path) if "/" in header and not header.startswith("pqc_mav_tunnel/")
            ]
            assert not outside, f"{path.name} includes {outside}"


def test_public_headers_include_public_headers_alone() -> None:
    for path in sorted((PACKAGE / "include" / "pqc_mav_tunnel").glob("*.hpp")):
        assert all(header.startswith("pqc_mav_tunnel/") for header in included(path)), path.name


def test_every_internal_header_is_included_by_its_path_below_src() -> None:
    internal = {path.name for path in (PACKAGE / "src").rglob("*.hpp")}
    for folder in ("src", "test", "fuzz", "micro_benchmarks", "python", "tunneld"):
        for path in sorted((PACKAGE / folder).rglob("*.?pp")):
            for header in included(path):
                if Path(header).name in internal and not header.startswith("pqc_mav_tunnel/"):
                    assert (PACKAGE / "src" / header).is_file(), f"{path} includes {header}"
