# SPDX-License-Identifier: Apache-2.0
"""Run the commands of a tutorial as a reader would type them, each on its machine, and compare what the page shows.

``tools/run chaos/run tutorial docs/tutorials/NAME.md`` prints each step as it goes. Needs root.
"""

import argparse
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from air import AirError, need_root
from tutorial_machines import Machine, Program, until
from tutorial_page import FILE, LOG, LOOK, NOT_RUN, RUN, SAYS, STAGE, START, Step, TutorialError, missing, read
from tutorial_stage import Stage, StageError

_SHOWN_LINES = 15
_LONG_WORD = re.compile(r"\S{40,}")


class StepError(AssertionError):
    """A step went otherwise than the page says; the text has page, line, command and output."""


def perform(page: Path, folder: Path, tell: Callable[[str], None] = lambda _: None) -> int:
    """Run a page with the machines' files in `folder`; return the number of blocks that were run.

    Raises StepError with the line that went wrong, TutorialError for a page that cannot be run.
    """
    steps = read(page)
    done = 0
    with Stage(folder) as stage:
        for number, step in enumerate(steps):
            after = steps[number + 1] if number + 1 < len(steps) else None
            shown = after.text if after is not None and after.kind == SAYS else ""
            tell(f"line {step.line}: {step.kind} {step.machine} {step.name}".rstrip())
            try:
                _do(stage, step, shown)
            except (TimeoutError, StageError, StepError) as error:
                said = "".join(f"\n--- {each}" for each in _said(stage))
                raise StepError(f"{page.name}, line {step.line}: {error}{said}") from None
            done += step.kind not in (STAGE, SAYS, NOT_RUN)
    return done


def _do(stage: Stage, step: Step, shown: str) -> None:
    if step.kind == STAGE:
        stage.direct(step.text)
    elif step.kind in (RUN, LOOK):
        _run(stage.machine(step.machine), replace(step, text=_filled(stage, step)), shown)
    elif step.kind == START:
        _start(stage.machine(step.machine), step, shown)
    elif step.kind == LOG:
        machine = stage.machine(step.machine)
        until(f"the lines of '{step.name}'", lambda: not missing(step.text, machine.running[step.name].lines))
    elif step.kind == FILE:
        path = stage.machine(step.machine).path(step.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text + "\n", encoding="utf-8")


def _filled(stage: Stage, step: Step) -> str:
    """The commands, with the LINE in them that a program on another machine printed."""
    if not step.source:
        return step.text
    machine, name = step.source.split()
    printed = stage.machine(machine).running[name].lines
    until(f"a line of '{name}'", lambda: any(map(_LONG_WORD.fullmatch, printed)))
    return step.text.replace("LINE", next(filter(_LONG_WORD.fullmatch, printed)))


def _run(machine: Machine, step: Step, shown: str) -> None:
    seen: list[str] = []

    def good() -> bool:
        code, seen[:] = machine.run(step.text)
        return code == step.code and not missing(shown, seen)

    try:
        if step.kind == LOOK:
            until("", good)
        elif not good():
            raise TimeoutError
    except TimeoutError:
        line = missing(shown, seen)
        wrong = f"did not print {line!r}" if line else f"did not end with exit code {step.code}"
        raise StepError("\n".join([f"'{step.text}' {wrong}, but:", *seen[-_SHOWN_LINES:]])) from None


def _start(machine: Machine, step: Step, shown: str) -> None:
    program = machine.start(step.name, f"exec {step.text}" if "\n" not in step.text else step.text)

    def good() -> bool:
        if program.process.poll() is not None:
            raise StepError("\n".join([f"'{step.text}' ended:", *program.lines[-_SHOWN_LINES:]]))
        return not missing(shown, program.lines)

    until(f"{missing(shown, program.lines)!r} of '{step.text}'", good)


def _said(stage: Stage) -> list[str]:
    programs: list[Program] = [each for machine in stage.machines.values() for each in machine.running.values()]
    return ["\n".join([each.name, *each.lines[-_SHOWN_LINES:]]) for each in programs]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("page", type=Path, nargs="+", help="docs/tutorials/NAME.md")


def run(options: argparse.Namespace) -> int:
    """Run the pages that are named. Return the exit code."""
    if why := need_root():
        print(f"error: this {why}")
        return 2
    for page in options.page:
        try:
            with tempfile.TemporaryDirectory(prefix="pqcmav-") as folder:
                print(f"{page}: {perform(page, Path(folder), print)} blocks, all as the page says")
        except (StepError, TutorialError, AirError, OSError) as error:
            print(f"error: {error}")
            return 1
    return 0
