# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md: its table of packages says what each package.xml says, and its paths lead where they claim."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PREFIX = "pqc_mav_"
# What a package needs to be built or run; what only its tests need is its own affair.
KINDS = ("depend", "build_depend", "build_export_depend", "buildtool_depend", "exec_depend")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its titles."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def table() -> dict[str, set[str]]:
    """The project's packages in the table's order, each with those it needs according to the table."""
    needs = {}
    for name, _, ours, _ in rows("## Packages (`src/`)"):
        short = [part.strip() for part in ours.split(",") if part.strip() != "-"]
        needs[name.strip("`")] = {part if part == "liboqs_vendor" else PREFIX + part for part in short}
    return needs


def declared() -> dict[str, set[str]]:
    """The project's packages, each with those it needs according to its package.xml."""
    trees = [ElementTree.parse(path).getroot() for path in sorted((ROOT / "src").glob("*/package.xml"))]
    names = {str(tree.findtext("name")) for tree in trees}
    return {
        str(tree.findtext("name")): {str(each.text) for kind in KINDS for each in tree.iter(kind)} & names
        for tree in trees
    }


def differences(table: dict[str, set[str]], declared: dict[str, set[str]]) -> list[str]:
    """What the table and the package.xml files disagree about, one sentence each."""
    found = [f"{name} has a package.xml but no row in the table" for name in declared if name not in table]
    found += [f"{name} has a row in the table but no package.xml" for name in table if name not in declared]
    for name in table.keys() & declared.keys():
        found += [f"{name}: package.xml needs {other}, the table does not" for other in declared[name] - table[name]]
        found += [f"{name}: the table needs {other}, package.xml does not" for other in table[name] - declared[name]]
    place = {name: index for index, name in enumerate(table)}
    for name, needed in declared.items():
        found += [
            f"{name} needs {other}, which is below it in the table"
            for other in needed
            if name in place and other in place and place[other] >= place[name]
        ]
    return sorted(found)


def test_the_table_says_what_the_packages_say() -> None:
    found = differences(table(), declared())
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("listed", "written", "expected"),
    [
        ({"a": set(), "b": {"a"}}, {"a": set(), "b": {"a"}}, []),
        ({"a": set()}, {"a": set(), "b": set()}, ["b has a package.xml but no row in the table"]),
        ({"a": set(), "b": set()}, {"a": set()}, ["b has a row in the table but no package.xml"]),
        ({"a": set(), "b": set()}, {"a": set(), "b": {"a"}}, ["b: package.xml needs a, the table does not"]),
        ({"a": set(), "b": {"a"}}, {"a": set(), "b": set()}, ["b: the table needs a, package.xml does not"]),
        ({"a": {"b"}, "b": set()}, {"a": {"b"}, "b": set()}, ["a needs b, which is below it in the table"]),
    ],
)
def test_differences_are_found(listed: dict[str, set[str]], written: dict[str, set[str]], expected: list[str]) -> None:
    assert differences(listed, written) == expected


@pytest.mark.parametrize("row", rows("### Where is ...?"), ids=lambda row: row[0])
def test_a_place_is_where_the_page_says(row: list[str]) -> None:
    _, link, text = row
    target = re.search(r"\]\((.*)\)", link)
    assert target is not None, link
    path = PAGE.parent / target.group(1)
    assert path.is_file(), f"{target.group(1)} does not exist"
    assert text.strip("`") in path.read_text(encoding="utf-8"), f"{target.group(1)} does not contain {text}"


def walks() -> list[str]:
    """The files and folders that the walks name."""
    section = PAGE.read_text(encoding="utf-8").split("\n## Walks\n", 1)[1].split("\n## ", 1)[0]
    return sorted(set(re.findall(r"`([\w./]+(?:\.(?:py|cpp|hpp|csv|msg|txt)|/))`", section)))


@pytest.mark.parametrize("name", walks())
def test_a_walk_passes_real_files(name: str) -> None:
    places = (ROOT / "src").glob(f"**/{name}"), (ROOT / "tools").glob(f"**/{name}")
    assert any(True for found in places for _ in found), f"there is no {name} below src/ and tools/"
