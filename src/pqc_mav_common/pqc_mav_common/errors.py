# SPDX-License-Identifier: Apache-2.0
"""What the process of a node can fail with, and the exit code each failure ends in."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every node's process; a supervisor decides by them whether another start can help."""

    OK = 0
    FAILED = 1  # unexpected
    CONFIG = 2  # configuration, keys or suite: the same start fails again until a file is changed
    START = 3  # port in use, name not resolved, permission, ...: may pass


class ProcessError(Exception):
    """A refusal with one sentence for a person and the exit code it ends in."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.CONFIG) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def one_line(text: object) -> str:
    """`text` on one line: an error shown to a person has no line breaks in it."""
    return " ".join(str(text).split())
