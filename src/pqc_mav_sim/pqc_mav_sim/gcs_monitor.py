# SPDX-License-Identifier: Apache-2.0
"""Whether a ground station is there, judged by its heartbeats. No clock."""


class GcsMonitor:
    """Remembers the newest ground-station heartbeat. Times are seconds on any monotonic clock."""

    def __init__(self) -> None:
        self._last: float | None = None
        self.heartbeats = 0
        self.losses = 0
        self._was_lost = False

    def heartbeat(self, t: float) -> None:
        """Take a heartbeat of a ground station that arrived at t."""
        self._last = t
        self.heartbeats += 1

    def lost(self, t: float, limit_s: float) -> bool:
        """Return whether a ground station was there once and has now been silent for longer than limit_s."""
        lost = self._last is not None and t - self._last > limit_s
        self.losses += lost and not self._was_lost
        self._was_lost = lost
        return lost

    def status(self, t: float, limit_s: float) -> str:
        """Return "none" (never heard), "connected" or "lost"."""
        if self._last is None:
            return "none"
        return "lost" if t - self._last > limit_s else "connected"
