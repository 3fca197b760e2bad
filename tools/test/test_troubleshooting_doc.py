# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md quotes what the programs say: every quoted sentence is found in the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "troubleshooting.md"
# Shorter pieces, such as those between two variable parts, would be found anywhere.
LEAST_LENGTH = 8
QUOTE = re.compile(r"`([^`]*)`")
# C++ and Python join adjacent literals; `" + x + "` and `{x}` are variable parts, which end a piece.
JOINT = re.compile(r'"\s*f?"')


def sources() -> str:
    files = [path for kind in ("*.cpp", "*.hpp", "*.py", "*.sh") for path in (ROOT / "src").rglob(kind)]
    files += list((ROOT / "tools").glob("*.sh"))
    return JOINT.sub("", "\n".join(path.read_text(encoding="utf-8") for path in sorted(files)))


def quoted_sentences() -> list[str]:
    """The quotes in backticks that contain a blank or an ellipsis, outside the right-hand columns."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        left = line.split("|")[1] if line.startswith("|") else line
        found += [quote for quote in QUOTE.findall(left) if " " in quote and not quote.startswith("pqcmav")]
    return found


@pytest.fixture(scope="module")
def corpus() -> str:
    return sources()


@pytest.mark.parametrize("sentence", quoted_sentences())
def test_the_sources_say_it(sentence: str, corpus: str) -> None:
    pieces = [piece.strip(" (") for piece in sentence.split("…")]
    checked = [piece for piece in pieces if len(piece) >= LEAST_LENGTH]
    assert checked, f"{sentence!r} has no piece long enough to be looked for"
    for piece in checked:
        assert piece in corpus, piece


def test_there_are_sentences() -> None:
    assert len(quoted_sentences()) > 20
