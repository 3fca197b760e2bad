# SPDX-License-Identifier: Apache-2.0
"""Every tutorial of docs/tutorials works as written: its commands are taken from the page and run, on machines of
their own, and what it shows is what they print. Needs root; without it the pages are only read.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import air
import pytest
from tutorial import StepError, perform
from tutorial_page import NOT_RUN, RUN, read

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
PROGRAMS = all(map(shutil.which, ("pqcmav-tunneld", "pqcmav")))
NO_ROOT = air.need_root() or ("" if PROGRAMS else "needs pqcmav and pqcmav-tunneld: run 'make setup' first")
needs_root = pytest.mark.skipif(bool(NO_ROOT), reason=f"a tutorial {NO_ROOT}")
EACH = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


@EACH
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    steps = read(page)
    assert any(step.kind == RUN for step in steps)
    assert all(step.name for step in steps if step.kind == NOT_RUN)


@needs_root
@EACH
def test_it_works_as_written(page: Path, tmp_path: Path) -> None:
    if "lets nothing in" in page.read_text(encoding="utf-8") and not shutil.which("nft"):
        pytest.skip("closing a machine's ports needs nft: apt-get install nftables")
    assert perform(page, tmp_path) > 3


@needs_root
@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("<!-- drone: run -->\n```\nfalse\n```\n", "line 3: 'false' did not end with exit code 0"),
        ("<!-- drone: run -->\n```\necho one\n```\n<!-- says -->\n```\ntwo\n```\n", "did not print 'two'"),
        ("<!-- drone: start it -->\n```\ntrue\n```\n<!-- says -->\n```\nup\n```\n", "'true' ended"),
        ("<!-- ground: run -->\n```\ntrue\n```\n", "no machine 'ground'"),
        ("<!-- stage: drone flies away -->\n", "is no direction"),
    ],
)
def test_what_goes_otherwise_is_named(tmp_path: Path, block: str, words: str) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- stage: machines drone -->\n" + block)
    with pytest.raises(StepError, match=words):
        perform(page, tmp_path / "machines")


@needs_root
def test_machines_have_files_and_ports_of_their_own(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- stage: machines drone ground -->\n"
        "<!-- drone: run -->\n```\nsudo mkdir /etc/pqcmav/mine\ntouch ~/here /run/here\n```\n"
        "<!-- ground: run, exit 1 -->\n```\nls ~/here /run/here /etc/pqcmav/mine 2>/dev/null && exit 0\nexit 1\n```\n"
        "<!-- drone: run -->\n```\nscp -r ~/here user@ground.local:\n```\n"
        "<!-- ground: run -->\n```\nls ~/here\ngetent hosts drone gcs.example.org\n```\n"
    )
    assert perform(page, tmp_path / "machines") == 4
    assert not Path("/etc/pqcmav/mine").exists()
