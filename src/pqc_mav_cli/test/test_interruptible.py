# SPDX-License-Identifier: Apache-2.0
"""A run that a signal may end early."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from pqc_mav_cli.interruptible import run_interruptible

DEADLINE_S = 60.0


def test_undisturbed_it_returns_the_result() -> None:
    async def work() -> str:
        return "done"

    assert run_interruptible(work()) == "done"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_after_it_has_tidied_up(number: signal.Signals) -> None:
    done: list[str] = []

    async def work() -> str:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(DEADLINE_S)
            return "undisturbed"
        finally:
            await asyncio.sleep(0)
            done.append("tidied up")

    assert run_interruptible(work()) is None
    assert done == ["tidied up"]


def test_a_failure_is_passed_on() -> None:
    async def work() -> None:
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        run_interruptible(work())
