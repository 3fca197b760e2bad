# SPDX-License-Identifier: Apache-2.0
"""When the next packet of a constant-rate flow is due. No clock of its own: seconds are an argument."""

STALE_S = 0.25


class Pacer:
    """Deadlines `start + k / rate`. What is more than STALE_S late is dropped and counted, never sent in a burst."""

    def __init__(self, rate_hz: float, start_s: float) -> None:
        if rate_hz <= 0:
            raise ValueError("a flow needs a rate above 0")
        self._rate = rate_hz
        self._start = start_s
        self._due = 0
        self.skipped = 0

    def take(self, now_s: float, limit: int) -> int:
        """How many packets to send now, at most `limit`."""
        due = int((now_s - self._start) * self._rate) + 1
        waiting = due - self._due
        stale = waiting - int(STALE_S * self._rate) - 1
        if stale > 0:
            self.skipped += stale
            self._due += stale
            waiting -= stale
        count = max(0, min(waiting, limit))
        self._due += count
        return count

    def next_s(self) -> float:
        """When the next packet is due."""
        return self._start + self._due / self._rate
