"""What sensing can fail with, and the exit code each failure ends in."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the sensing processes; a supervisor decides by them whether another start can help."""

    OK = 0
    FAILED = 1  # unexpected
    CONFIG = 2  # parameter or configuration file: the same start fails again until somebody changes it


class SensingError(Exception):
    """A refusal with one sentence for a person and the exit code it ends in."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.CONFIG) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class SensorError(Exception):
    """A sensor cannot be read now: one sentence. It may come back, so nothing ends because of it."""


def one_line(text: object) -> str:
    """`text` on one line: whatever is shown to a person as an error has no line breaks in it."""
    return " ".join(str(text).split())
