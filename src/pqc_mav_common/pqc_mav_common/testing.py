# SPDX-License-Identifier: Apache-2.0
"""Fixtures and helpers of the tests of every package. Only tests import this module: it needs pytest."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from pqc_mav_common.child import Program, ProgramError
from pqc_mav_common.free_ports import held_domain, own_run_folder

DEADLINE_S = 90.0
GONE_S = 10.0  # a node that did not say goodbye is seen for 20 s, the lease of its participant


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Take a ROS domain that no other test run on this machine uses, unless tools/run_tests.py has taken one.

    And a folder for control sockets.
    """
    with own_run_folder() as variables:
        if "ROS_DOMAIN_ID" in os.environ:
            os.environ.update(variables)
            yield
            return
        with held_domain() as number:
            os.environ.update({"ROS_DOMAIN_ID": str(number), **variables})
            yield
            del os.environ["ROS_DOMAIN_ID"]


def on_request(why: str) -> pytest.MarkDecorator:
    """Mark a test that is only run where the environment has PQCMAV_SLOW=1; `why` says what it costs."""
    return pytest.mark.skipif(not os.environ.get("PQCMAV_SLOW"), reason=f"{why}; PQCMAV_SLOW=1 runs it")


def until(condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S, step_s: float = 0.01) -> Any:
    """Wait until the condition holds and return what it gave; `what` says in the failure what did not come."""
    deadline = time.monotonic() + deadline_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {deadline_s:g} s: {what}")
        time.sleep(step_s)
    return found


class Running(Program):
    """A process that runs until it is stopped, in a session of its own; both outputs are collected."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        environment = {**os.environ, **(environment or {})}
        super().__init__(command[0], command, limit_s=DEADLINE_S, start_new_session=True, env=environment)

    def wait_for(self, words: str, after: int = 0) -> re.Match[str]:
        """Wait until a line contains `words`, beyond the first `after` lines; not for a process that has ended."""
        try:
            return super().wait_for(re.escape(words), after)
        except ProgramError:
            raise AssertionError(f"no {words!r} in:\n" + "\n".join(self.lines)) from None
