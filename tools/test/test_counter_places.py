# SPDX-License-Identifier: Apache-2.0
"""In how many files a counter of the engine is named: for a new one the engine, the table, its message, a sentence."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from pqc_mav_tunnel import picture_schema

ROOT = Path(__file__).resolve().parent.parent.parent
#: Tests, what is recorded or generated, change logs, and the protocol with its second implementation.
LEFT_OUT = re.compile(
    r"(^|/)tests?/|^bench/results/|^docs/protocol\.md$|pqc_mav_wirespec/"
    r"|\.(json|xml|mcap|csv|svg|png|gz|rst|txt|pml|pv|pvl)$"
)
NEWEST = "plain_dropped_yield"  # the last one that was added: with all that a counter needs
NEW_MOST, MOST = 6, 16


def counters() -> list[str]:
    """Those whose name is no word of another meaning."""
    schema = picture_schema()
    fields = (field for view in ("stats", "server") for field in schema[view]["fields"])
    names = {field["name"] for field in fields if "warning" in field and "_" in field["name"]}
    return sorted(names - {"plain_tap_requests"})  # a key of the configuration, too


def product() -> dict[str, set[str]]:
    """The words of each file of the product."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.splitlines() if not LEFT_OUT.search(name) and (ROOT / name).is_file()]
    return {name: set(re.findall(r"\w+", (ROOT / name).read_text("utf-8", "replace"))) for name in files}


def places(counter: str, words: Iterable[tuple[str, set[str]]]) -> list[str]:
    return [name for name, found in words if counter in found]


@pytest.fixture(scope="module")
def words() -> list[tuple[str, set[str]]]:
    return list(product().items())


def test_a_new_counter_is_named_in_few_files(words: list[tuple[str, set[str]]]) -> None:
    found = places(NEWEST, words)
    assert {Path(name).name for name in found} >= {"counters.hpp", "counters.cpp", "TunnelStats.msg"}
    assert len(found) <= NEW_MOST, found


@pytest.mark.parametrize("counter", counters())
def test_no_counter_is_named_everywhere(counter: str, words: list[tuple[str, set[str]]]) -> None:
    found = places(counter, words)
    assert any(name.endswith(("picture/counters.cpp", "picture/field.hpp")) for name in found), found
    assert len(found) <= MOST, found
