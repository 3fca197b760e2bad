# SPDX-License-Identifier: Apache-2.0
"""A point in monotonic time."""

from __future__ import annotations

import time


class Deadline:
    """So many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._at - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether it has passed."""
        return self.left() == 0.0
