# SPDX-License-Identifier: Apache-2.0
"""What becomes of a process that ended: decided here for the supervisor and for ROS' launch alike. No clock, no I/O."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import IntEnum

from pqc_mav_bringup.description import Respawn

CONFIG_ERROR = 2  # exit code by which a process says that its configuration is at fault
# With these exit codes a node has already said on one line what is wrong.
_SPOKEN_FOR = frozenset({CONFIG_ERROR, 3})


class ExitCode(IntEnum):
    """How a system ended."""

    OK = 0
    FAILED = 1
    CONFIG = 2


@dataclass(frozen=True)
class Verdict:
    """`again_in_s`: when to start it again, None = not; `failure`: the whole system ends with this code; `text`: what
    to say, empty = the process itself said it."""

    again_in_s: float | None = None
    failure: ExitCode = ExitCode.OK
    text: str = ""


class Lives:
    """The lives of one process, one after the other."""

    def __init__(self, policy: Respawn | None) -> None:
        """Without a policy a process has one life, and a bad end of it is the system's."""
        self._policy = policy
        self._starts = self._deaths = 0

    def ended(self, code: int, lived_s: float) -> Verdict:
        """One of them is over. `code` as subprocess has it: a signal's number negative."""
        policy = self._policy
        self._starts += 1
        if code == 0:
            return Verdict()
        if policy is None or code in policy.never_after or (self._starts == 1 and code in policy.never_first):
            failure = ExitCode.CONFIG if code == CONFIG_ERROR else ExitCode.FAILED
            return Verdict(failure=failure, text="" if code in _SPOKEN_FOR else f"ended with {describe(code)}")
        self._deaths = 1 if lived_s >= policy.settled_s else self._deaths + 1
        said = f"ended with {describe(code)}"
        if policy.most_deaths is not None and self._deaths >= policy.most_deaths:
            return Verdict(text=f"{said} for the {self._deaths}th time in a row; the rest goes on without it")
        delay_s = policy.delay_after(self._deaths)
        return Verdict(again_in_s=delay_s, text=f"{said}; starting it again in {delay_s:g} s")


def describe(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
