# SPDX-License-Identifier: Apache-2.0
"""Documents and descriptions avoid turns that a careful native writer would not use, as far as a pattern finds them.

"Who drops at random loses packets" has "who" where English wants "an attacker who". "Where no key is there, ..." is an
"if". Labels ("What it costs: 3 ms"), questions and headings are fine.
"""

from __future__ import annotations

import ast
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
    "'who' without its noun": re.compile(
        r"\b(?:from|to|by|for|with|than|of|or|and|but|as) who\b|^who (?!is\b|has\b|does\b)\w+s\b[^?]*$"
    ),
    "a turn that is not English": re.compile(
        r"(?:(?<![Aa]s )\bof now\b|stands? under\b|which do so themselves|costs it an?\b|so many steps\b)"
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


def literals_of_cpp(text: str) -> list[str]:
    """The texts of a C++ file; adjacent ones are one."""
    code = re.sub(r"//[^\n]*", "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", code))


def literals_of_python(text: str) -> list[str]:
    """The texts of a Python file, without docstrings; what is filled in is an X."""
    tree = ast.parse(text)
    beside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values} | {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in beside:
            found.append(node.value)
    return found


def literals(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return literals_of_python(text) if path.suffix == ".py" else literals_of_cpp(text)


@pytest.mark.parametrize("package", sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir()))
def test_what_programs_say_is_idiomatic(package: str) -> None:
    files = [path for kind in ("*.py", "*.cpp", "*.hpp") for path in (ROOT / "src" / package).rglob(kind)]
    found = [
        f"{path.relative_to(ROOT)}: {flaw}"
        for path in files
        if "test" not in path.parts
        for flaw in flaws("\n\n".join(literals(path)))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "sentence",
    [
        "Who drops at random loses packets one by one.",
        "What stands here was measured. And more.",
        "Text. Where no key is there, it asks.",
        "It protects packets from who steals secrets later.",
        "The key goes on: who steals it reads everything.",
        "It is measured with the protocol of now.",
        "The figures stand under the table.",
    ],
)
def test_a_flaw_is_found(sentence: str) -> None:
    assert flaws(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "## What it does\n\nIt flies.",
        "What does it cost? Nothing.",
        "What it costs: 3 ms.",
        "A thief who listens hears nothing, whoever sends.",
        "| What | where |\n|---|---|\n| a | b |",
        "As of now it shows where packets go, to whom, and what they carry.",
        "```\nWho runs here. Nobody.\n```",
    ],
)
def test_good_sentences_pass(sentence: str) -> None:
    assert not flaws(sentence)
