# SPDX-License-Identifier: Apache-2.0
"""The table of 'make distros': what was found, what was not run, and where each figure comes from."""

from __future__ import annotations

from pathlib import Path

from distros_table import RELEASES, Result, load, page, text, versions

FOUND = Result(
    "trixie",
    "0123abcd",
    "2026-11-24",
    ["bootstrap", "make demo", "make test"],
    {"bootstrap": "48 s"},
    {"GCC": "14.2.0"},
)
NOT_REACHED = Result("noble", "4567abcd", "2026-11-25", ["bootstrap"], {"bootstrap": "archive not reached"})


def test_the_newest_result_of_each_system_is_kept_in_the_order_of_the_releases(tmp_path: Path) -> None:
    Result("trixie", "old", "2026-11-23", []).save(tmp_path)
    NOT_REACHED.save(tmp_path)
    FOUND.save(tmp_path)
    assert load(tmp_path) == [FOUND, NOT_REACHED]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["noble.json", "trixie.json"]
    assert list(RELEASES) == ["bookworm", "trixie", "noble", "resolute"]


def test_a_step_that_did_not_run_is_called_so() -> None:
    FOUND.cells["make demo"] = "FAILED"
    assert text([FOUND, NOT_REACHED]).splitlines() == [
        "           Debian 13  Ubuntu 24.04",
        "bootstrap  48 s       archive not reached",
        "make demo  FAILED     not run",
        "make test  not run    not run",
    ]


def test_the_page_names_commit_versions_and_tests_of_each_system() -> None:
    lines = page([FOUND, NOT_REACHED], {"trixie": "`make test`", "noble": "a part"}).splitlines()
    assert "| commit | 0123abcd | 4567abcd |" in lines
    assert "| GCC | 14.2.0 | ? |" in lines
    assert "| make test | not run | not run |" in lines
    assert lines[-2:] == ["* Debian 13: `make test`", "* Ubuntu 24.04: a part"]


def test_versions_are_upstreams() -> None:
    listed = "g++ 4:14.2.0-1\ncmake 3.31.6-2\nlibyaml-cpp-dev 0.8.0+dfsg-6build1\nlibssl-dev \nbash 5.2\n"
    assert versions(listed) == {"GCC": "14.2.0", "CMake": "3.31.6", "yaml-cpp": "0.8.0"}
