# SPDX-License-Identifier: Apache-2.0
"""Waiting for what is told elsewhere."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], limit_s: float, step_s: float = 0.02) -> bool:
    """Look every `step_s` until the condition holds, at most `limit_s`; return whether it came to hold."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(step_s)
    return True
