# SPDX-License-Identifier: Apache-2.0
"""Token buckets per source address (docs/protocol.md section 4, Rate limit)."""

from __future__ import annotations

BURST = 5.0
REFILL_PER_S = 1.0


class TokenBuckets:
    """Connections that end before a valid gate cost a token. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._levels: dict[str, tuple[float, float]] = {}

    def _level(self, source: str, now: float) -> float:
        level, at = self._levels.get(source, (BURST, now))
        return min(BURST, level + (now - at) * REFILL_PER_S)

    def admits(self, source: str, now: float) -> bool:
        """Whether a connection from this address may be served."""
        return self._level(source, now) >= 1.0

    def charge(self, source: str, now: float) -> None:
        """Takes a token for a connection that failed before the gate."""
        self._levels[source] = (max(0.0, self._level(source, now) - 1.0), now)
