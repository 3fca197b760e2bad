# SPDX-License-Identifier: Apache-2.0
"""Runs what a signal may end early, in good order."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_interruptible(coroutine: Coroutine[Any, Any, Result]) -> Result | None:
    """`coroutine` to its end; None when SIGINT, SIGTERM or SIGHUP cancelled it (it has tidied up then, too)."""

    async def until_done() -> Result | None:
        task = asyncio.create_task(coroutine)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            return None

    return asyncio.run(until_done())
