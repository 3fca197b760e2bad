# SPDX-License-Identifier: Apache-2.0
"""What becomes of a process that ended: decided here for the supervisor and for ROS' launch alike. No clock, no I/O.

It stays in memory for as long as a system runs, so it imports little.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import IntEnum

CONFIG_ERROR = 2  # exit code by which a process says that its configuration is at fault
# Of a program that could not be executed (126), or that a shell or the dynamic linker did not find all of (127).
NOT_EXECUTED = frozenset({126, 127})
LASTING = frozenset({CONFIG_ERROR, *NOT_EXECUTED})
FINALIZED = 4  # exit code of a proxy that a lifecycle manager shut down
# With these exit codes a node has already said on one line what is wrong.
_SPOKEN_FOR = frozenset({CONFIG_ERROR, 3})


class ExitCode(IntEnum):
    """How a system ended; CONFIG = it would end in the same way again."""

    OK = 0
    FAILED = 1
    CONFIG = 2


@dataclass(frozen=True)
class Respawn:
    """When a process that died is started again.

    The first `quick` deaths in a row wait for `delay_s` only: a proxy has to be back within a second, or the
    autopilot's failsafe trips (docs/failsafes.md). Then the delay grows by `factor` up to `max_delay_s`; a life of
    `settled_s` forgets all of it. An exit of the first start with a code of `never_first` is final, as the same start
    would fail again. Later ones are not: what a file or a library has become since must not end a link in the air, and
    may be mended. After `most_deaths` in a row it is left out and the rest goes on; None = never, as for a proxy: a
    drone in the air has nothing to gain from giving up. Such a one is started again even if it ended well, for whoever
    sent it a SIGTERM did not ask for an end of the link; a lifecycle manager that shuts it down does. What is not
    `vital` never ends the rest, but is left out.
    """

    delay_s: float = 0.3
    quick: int = 3
    factor: float = 2.0
    max_delay_s: float = 15.0
    settled_s: float = 30.0
    never_first: frozenset[int] = frozenset({1, 3, *LASTING})
    most_deaths: int | None = 20
    vital: bool = True

    def delay_after(self, deaths: int) -> float:
        """How long to wait after that many deaths in a row [s]."""
        growth = max(0, deaths - self.quick)
        # Bounded before it is raised, so that a process that dies for days does not overflow.
        return min(self.max_delay_s, self.delay_s * self.factor ** min(growth, 64))


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
        forever = policy is not None and policy.most_deaths is None
        if code == FINALIZED and forever:
            return Verdict(text="was shut down by a lifecycle manager and stays away; the rest goes on")
        if code == 0 and not forever:
            return Verdict()
        if policy is None or (self._starts == 1 and code in policy.never_first):
            if policy is not None and not policy.vital:
                return Verdict(text=f"ended with {describe(code)}; the rest goes on without it")
            failure = ExitCode.CONFIG if code in LASTING else ExitCode.FAILED
            return Verdict(failure=failure, text="" if code in _SPOKEN_FOR else f"ended with {describe(code)}")
        self._deaths = 1 if lived_s >= policy.settled_s else self._deaths + 1
        said = f"ended with {describe(code)}"
        if policy.most_deaths is not None and self._deaths >= policy.most_deaths:
            often = f" for the {self._deaths}th time in a row" if self._deaths > 1 else ""
            return Verdict(text=f"{said}{often}; the rest goes on without it")
        delay_s = policy.delay_after(self._deaths)
        return Verdict(again_in_s=delay_s, text=f"{said}; starting it again in {delay_s:g} s")


def describe(code: int) -> str:
    """An exit code in words."""
    if code == 0:
        return "exit code 0, as if it had been asked to"
    if code in NOT_EXECUTED:
        return f"exit code {code} (it, or a library that it needs, cannot be executed here)"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
