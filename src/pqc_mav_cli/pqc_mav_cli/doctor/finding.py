# SPDX-License-Identifier: Apache-2.0
"""What one check of `pqcmav doctor` found."""

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """OK: fine; WARN: works, with a disadvantage or only in part; FAIL: the tunnel cannot run."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line; `remedy` says what to do about it, empty when there is nothing to do."""

    name: str
    level: Level
    text: str
    remedy: str = ""


def ok(name: str, text: str) -> Finding:
    """All is well."""
    return Finding(name, Level.OK, text)


def warn(name: str, text: str, remedy: str = "") -> Finding:
    """It works, but."""
    return Finding(name, Level.WARN, text, remedy)


def fail(name: str, text: str, remedy: str = "") -> Finding:
    """It does not work."""
    return Finding(name, Level.FAIL, text, remedy)
