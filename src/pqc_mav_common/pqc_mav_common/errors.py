# SPDX-License-Identifier: Apache-2.0
"""What the process of a node can fail with, and the exit code each failure ends in."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every node's process; a supervisor decides by them whether another start can help."""

    OK = 0
    FAILED = 1  # unexpected
    CONFIG = 2  # configuration, keys or suite: the same start fails again until a file is changed
    START = 3  # port in use, name not resolved, permission, ...: may pass
    FINALIZED = 4  # of a proxy: a lifecycle manager shut it down, and it is to stay away


class ProcessError(Exception):
    """A refusal with one sentence for a person and the exit code it ends in."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.CONFIG) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


# What a terminal or a log does something with instead of showing it, as in the engine (text.cpp): control characters,
# line and paragraph separators, marks that turn the direction of what follows, bytes that were no UTF-8.
_ACTING = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_WRITTEN_OUT = {number: f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" for number in _ACTING}


def written_out(text: object) -> str:
    """`text` fit for a line of a log or a terminal, whoever chose it: one line stays one, and does nothing but show."""
    said = str(text)
    if said.isascii() and said.isprintable():
        return said
    return said.translate(_WRITTEN_OUT).encode(errors="backslashreplace").decode()


def one_line(text: object) -> str:
    """The same of what may be several lines of ours: their breaks become blanks."""
    return written_out(" ".join(str(text).split()))
