# SPDX-License-Identifier: Apache-2.0
"""Waiting for what is told elsewhere."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found], limit_s: float, step_s: float = 0.02) -> Found:
    """Look every `step_s` until the condition holds, at most `limit_s`; return what it gave last."""
    deadline = time.monotonic() + limit_s
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(step_s)
    return found
