# SPDX-License-Identifier: Apache-2.0
"""What the demo and its scenarios print: a line a second while they fly, and their result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from pqc_mav_cli.console import console, note, print_json
from pqc_mav_cli.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pqc_mav_cli.demo.run import DemoState

LAST_LINES = 15  # of the processes, shown below a failure


class Result(Protocol):
    """What a demo found out."""

    @property
    def passed(self) -> bool:
        """The verdict."""

    def as_json(self) -> dict[str, Any]:
        """Everything, for scripts."""


def line_a_second(line: Callable[[DemoState, float], str]) -> Callable[[DemoState], None]:
    """A view for output that is not a terminal: `line(state, now)` on stderr, once a second."""
    next_s = 0.0

    def tick(state: DemoState) -> None:
        nonlocal next_s
        now_s = time.monotonic()
        if now_s >= next_s:
            next_s = now_s + 1.0
            note(line(state, now_s))

    return tick


def print_result(
    result: Result, summary: Callable[[], RenderableType], said: Iterable[tuple[str, str]], as_json: bool
) -> ExitCode:
    """The result as JSON or as its summary; below a failure's summary, what the processes said last."""
    if as_json:
        print_json(result.as_json())
    else:
        console().print(summary())
        if not result.passed:
            for label, text in list(said)[-LAST_LINES:]:
                note(f"  {label} | {text}")
    return ExitCode.OK if result.passed else ExitCode.FAILED
