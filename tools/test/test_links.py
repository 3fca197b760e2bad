# SPDX-License-Identifier: Apache-2.0
"""Every relative link in a committed Markdown file leads to a file, and to a heading if it names one.

docs/README.md is the index: it names every page of docs/ and leads to all others. README.md stays short, and so do all
pages together. What a page runs by tools/run can be run.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_BYTES = 540_000
LINK = re.compile(r"\]\(<?([^)>\s]+)>?(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
PROGRAM = re.compile(r"tools/run ((?:bench|chaos|tools)/[\w./-]+)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def pages() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(name for name in set(names) if name and (ROOT / name).is_file())


def prose(path: Path) -> str:
    return CODE.sub("", path.read_text(encoding="utf-8"))


def links(path: Path) -> list[str]:
    """The targets of a page's links, those in line and those named at its end."""
    return ["".join(groups) for groups in LINK.findall(INLINE_CODE.sub("", prose(path)))]


@lru_cache
def anchors(path: Path) -> frozenset[str]:
    """The names under which GitHub offers a page's headings, and those of its own anchors."""
    found: list[str] = ANCHOR.findall(prose(path))
    for heading in HEADING.findall(prose(path)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return frozenset(found)


def problem(page: Path, target: str) -> str:
    """What is wrong with a link; empty when it resolves."""
    name, _, anchor = target.partition("#")
    file = page.parent / unquote(name) if name else page
    if not file.exists():
        return f"{target}: no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.resolve()):
        return f"{target}: no such heading"
    return ""


@pytest.mark.parametrize("page", pages())
def test_links_resolve(page: str) -> None:
    path = ROOT / page
    problems = [problem(path, target) for target in links(path) if not ELSEWHERE.match(target)]
    assert not any(problems), "; ".join(filter(None, problems))


def test_the_index_names_every_page() -> None:
    listed = {(ROOT / "docs" / target).resolve() for target in links(ROOT / "docs" / "README.md")}
    missing = [page for page in pages() if page.startswith("docs/") and (ROOT / page).resolve() not in listed]
    assert missing == ["docs/README.md"], "docs/README.md is the index: add a line for each of these pages"


def test_every_page_is_found_from_the_index() -> None:
    """By links from page to page; a link to a folder leads to the pages in it."""
    every = {(ROOT / page).resolve() for page in pages()}
    seen: set[Path] = set()
    found = {(ROOT / "docs" / "README.md").resolve()}
    while found - seen:
        page = (found - seen).pop()
        seen.add(page)
        names = {unquote(target.partition("#")[0]) for target in links(page) if not ELSEWHERE.match(target)}
        places = {(page.parent / name).resolve() for name in names if name}
        found |= places & every
        found |= {
            each for each in every for place in places if place.is_dir() and place in each.parents and place != ROOT
        }
    assert not sorted(str(page.relative_to(ROOT)) for page in every - seen)


def test_programs_that_a_page_runs_are_executable() -> None:
    named = {name for page in pages() for name in PROGRAM.findall((ROOT / page).read_text(encoding="utf-8"))}
    assert "chaos/run" in named
    assert not [name for name in sorted(named) if not os.access(ROOT / name, os.X_OK)]


def test_programs_with_an_interpreter_are_executable() -> None:
    """They say by their first line that they run by themselves."""
    found = [path for place in ("bench", "chaos", "tools") for path in (ROOT / place).rglob("*") if path.is_file()]
    programs = [path for path in found if path.suffix in ("", ".py", ".sh") and path.read_bytes().startswith(b"#!")]
    assert not [str(path) for path in programs if not os.access(path, os.X_OK)]


def test_the_first_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900, "move details to a page of docs/"


def test_all_pages_together_stay_short() -> None:
    size = sum((ROOT / page).stat().st_size for page in pages())
    assert size <= MOST_BYTES, f"{size - MOST_BYTES} bytes too many: what does another page say already?"


def test_links_in_line_and_at_the_end_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("See [`code`](a.md) and [one](b.md#c).\n`[x](no.md)`\n\n[key]: d.md\n")
    assert links(page) == ["a.md", "b.md#c", "d.md"]


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One heading, `code` and more\n```\n# no heading\n```\n# Twice\n# Twice\n")
    for good in ("page.md", "#one-heading-code-and-more", "page.md#twice", "#twice-1", "../"):
        assert not problem(page, good), good
    for bad in ("other.md", "#no-heading", "page.md#twice-2"):
        assert problem(page, bad), bad
