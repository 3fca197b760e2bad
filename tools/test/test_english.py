# SPDX-License-Identifier: Apache-2.0
"""Documents and descriptions avoid turns that a careful native writer would not use, as far as a pattern finds them.

"Who drops at random loses packets" has "who" where English wants "an attacker who". "Where no key is there, ..." is an
"if". Labels ("What it costs: 3 ms"), questions and headings are fine.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^ *```.*?^ *```|<!--.*?-->", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)")
HEADING = re.compile(r"^(#+ .*)$", re.MULTILINE)
COMMENT = re.compile(r"^ *# ?", re.MULTILINE)
# The end of a sentence, a cell, a heading, an item of a list or a paragraph.
SENTENCE_END = re.compile(r"(?<=[.?!:;])[*)\"]*\s+|\s*\|\s*|\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#))")
FLAWS = {
    "'who' or 'what' as a subject without its noun": re.compile(r"(?:Who|What)\b[^?:]*\.$"),
    "'where' for 'if'": re.compile(r"Where\b[^?:]*, [^?:]*[.;]$"),
    "'who' without its noun": re.compile(r"\b(?:from|to|by|for|with|than|of|or|and|but|as) who\b(?!m|se)"),
    "a turn that is not English": re.compile(
        r"\b(?:as of now\b|stands? under\b|which do so themselves|costs it an?\b|so many steps\b|other hand's\b)"
    ),
}


def sentences(text: str) -> list[str]:
    """The sentences and cells of Markdown without its code and marks."""
    plain = HEADING.sub(r"\n\1\n\n", CODE.sub("X", BLOCK.sub("\n\n", text)))
    pieces = (" ".join(piece.split()).strip("*-# ").lstrip("0123456789. ") for piece in SENTENCE_END.split(plain))
    return [piece for piece in pieces if piece]


def flaws(text: str) -> list[str]:
    """What a text has of them, with the sentence."""
    return [f"{name}: {each}" for each in sentences(text) for name, found in FLAWS.items() if found.search(each)]


def documents() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.rst", "src/*/config/*.yaml"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if (ROOT / name).is_file() and "CHANGELOG" not in name]


@pytest.mark.parametrize("name", documents())
def test_documents_are_idiomatic(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = flaws(COMMENT.sub("", text) if name.endswith(".yaml") else text)
    assert not found, "\n".join(found)
