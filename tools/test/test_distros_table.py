# SPDX-License-Identifier: Apache-2.0
"""The table of 'make distros': what was found, what was not run, and of which commit."""

from __future__ import annotations

from pathlib import Path

from distros_table import Part, Result, load, page, text, versions

TITLES = {"sudo": "with sudo", "plain": "without"}
FOUND = Result(
    "trixie",
    "48 s",
    {"GCC": "14.2.0"},
    {"sudo": Part("2026-11-24", "0123abcd", ["make demo", "make setup"], {"make demo": "FAILED"})},
)
NOT_REACHED = Result("noble", "archive not reached")


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    Result("trixie", "FAILED").save(tmp_path)
    FOUND.save(tmp_path)
    assert load(tmp_path, "trixie") == FOUND
    assert load(tmp_path, "noble") == Result("noble")
    assert [path.name for path in tmp_path.iterdir()] == ["trixie.json"]


def test_a_step_that_did_not_run_is_called_so() -> None:
    assert text([FOUND, NOT_REACHED], TITLES).splitlines() == [
        "            Debian 13             Ubuntu 24.04",
        "bootstrap   48 s                  archive not reached",
        "with sudo   2026-11-24, 0123abcd  not run",
        "make demo   FAILED                not run",
        "make setup  not run               not run",
        "without     not run               not run",
    ]


def test_the_page_names_versions_and_tests_of_each_system() -> None:
    tested = Result("bookworm", "48 s", {}, {"tests": Part("2026-11-24", "0123abcd", ["make test"])})
    names = {"bookworm": "`make test`", "trixie": "`make test`", "noble": "a part"}
    lines = page([FOUND, NOT_REACHED, tested], TITLES, names).splitlines()
    assert "| GCC | 14.2.0 | ? | ? |" in lines
    assert "| **with sudo** | 2026-11-24, 0123abcd | not run | not run |" in lines
    assert lines[-2:] == ["", "Tests of Debian 12: `make test`."]


def test_versions_are_upstreams() -> None:
    listed = "g++ 4:14.2.0-1\ncmake 3.31.6-2\nlibyaml-cpp-dev 0.8.0+dfsg-6build1\nlibssl-dev \nbash 5.2\n"
    assert versions(listed) == {"GCC": "14.2.0", "CMake": "3.31.6", "yaml-cpp": "0.8.0"}
