# SPDX-License-Identifier: Apache-2.0
"""What a tutorial of docs/tutorials has to be run: its fenced blocks in order, each with the mark in front of it.

A mark is an HTML comment in the line before a block, which a reader does not see:

    <!-- drone: run -->            commands, one shell for the block; exit code 0
    <!-- drone: run, exit 1 -->    the same, with another exit code
    <!-- drone: run, LINE from ground invite -->   LINE stands for the long word that `invite` printed at the ground
    <!-- drone: look -->           commands that change nothing: repeated until they say what the page shows
    <!-- drone: start tunnel -->   a command that goes on; it ends with the page, or by a stage direction
    <!-- drone: file ~/a.yaml -->  the block is a file's text
    <!-- drone: log of tunnel -->  lines that what was started there prints, now or soon
    <!-- says -->                  lines that the command before it prints, in this order, among others
    <!-- not run: REASON -->       what a test cannot do, and why

`<!-- stage: ... -->` anywhere is a direction to the runner: what happens beside the reader's commands
(tutorial_stage.py).

Shown lines are compared without regard to the width of columns; `…` stands for anything, and a measured value (a number
with its unit) for any other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RUN, LOOK, START, FILE, LOG = "run", "look", "start", "file", "log of"
SAYS, NOT_RUN, STAGE = "says", "not run", "stage"
_MARK = re.compile(r"<!-- (.+?) -->")
_DO = re.compile(
    r"(?P<machine>[a-z0-9]+): (?P<kind>run|look|start|file|log of)(?: (?P<name>\S+))?(?:, exit (?P<code>\d+))?"
    r"(?:, LINE from (?P<source>\w+ \w+))?"
)
_VALUE = re.compile(r"\d[\d.,]* (?:ms|s|min|h|%|b/s|kb/s|Mb/s)(?![\w/])|\d[\d.,]*(?:/s|%)")


class TutorialError(ValueError):
    """A page that cannot be run; the text names page, line and what is wrong."""


@dataclass(frozen=True)
class Step:
    """One block or direction.

    Attributes:
        name: of what is started, or the file's path.
        code: the exit code of a run.
        source: machine and program of which LINE comes.
    """

    kind: str
    line: int
    text: str
    machine: str = ""
    name: str = ""
    code: int = 0
    source: str = ""


def steps(page: str, name: str = "page") -> list[Step]:
    """Return what a page asks for, in order. Raises TutorialError for a block without a mark, or a wrong mark."""
    found: list[Step] = []
    mark, block, opened = "", [], 0
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            if not opened:
                if not mark:
                    raise TutorialError(f"{name}, line {number}: this block has no mark that says how to run it")
                opened = number
                continue
            found.append(_step(mark, opened, "\n".join(block), name))
            mark, block, opened = "", [], 0
        elif opened:
            block.append(line)
        elif (match := _MARK.fullmatch(line)) and match[1].startswith(f"{STAGE}: "):
            found.append(Step(STAGE, number, match[1].partition(": ")[2]))
        elif match:
            mark = match[1]
        elif line:
            mark = ""
    if opened:
        raise TutorialError(f"{name}, line {opened}: this block has no end")
    for before, step in zip([None, *found], found, strict=False):
        if step.kind == SAYS and (before is None or before.kind not in (RUN, LOOK, START)):
            raise TutorialError(f"{name}, line {step.line}: no command is before these lines")
    return found


def _step(mark: str, line: int, text: str, page: str) -> Step:
    if mark == SAYS:
        return Step(SAYS, line, text)
    if mark.startswith(f"{NOT_RUN}: "):
        return Step(NOT_RUN, line, text, name=mark.partition(": ")[2])
    match = _DO.fullmatch(mark)
    if match is None or (match["name"] is None) == (match["kind"] in (START, FILE, LOG)):
        raise TutorialError(f"{page}, line {line}: '{mark}' is no mark")
    return Step(
        match["kind"], line, text, match["machine"], match["name"] or "", int(match["code"] or 0), match["source"] or ""
    )


def read(path: Path) -> list[Step]:
    """Return the steps of a page; raises TutorialError."""
    return steps(path.read_text(encoding="utf-8"), path.name)


def pattern(shown: str) -> re.Pattern[str]:
    """What a printed line, its blanks made one, must look like to be the one that the page shows."""

    def fixed(text: str) -> str:
        return f"(?:{_VALUE.pattern}|-)".join(re.escape(piece) for piece in _VALUE.split(text))

    return re.compile(".*".join(fixed(piece) for piece in " ".join(shown.split()).split("…")))


def missing(shown: str, printed: Sequence[str]) -> str:
    """Return the first shown line that was not printed, in this order; empty when all were."""
    rest = iter(printed)
    for line in filter(str.strip, shown.splitlines()):
        wanted = pattern(line)
        if not any(wanted.fullmatch(" ".join(each.split())) for each in rest):
            return line
    return ""
