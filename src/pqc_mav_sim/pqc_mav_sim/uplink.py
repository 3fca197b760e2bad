# SPDX-License-Identifier: Apache-2.0
"""What the ground client sends besides its heartbeat: pings and neutral sticks at a steady total rate. No own clock."""

PING_HZ = 20.0
MAX_UPLINK_HZ = 5_000.0
STALE_S = 0.25


class UplinkSchedule:
    """Deadlines `start + k / hz`; every n-th message is a ping, so that pings stay near PING_HZ whatever the total.

    Raises ValueError for a rate outside 0..MAX_UPLINK_HZ; 0 means nothing is ever due.
    """

    def __init__(self, hz: float, start: float) -> None:
        if not 0.0 <= hz <= MAX_UPLINK_HZ:
            raise ValueError(f"uplink rate {hz:g} is out of range: give 0 to {MAX_UPLINK_HZ:g} messages/s")
        self._hz = hz
        self._start = start
        self._count = 0
        self._ping_every = max(1, round(hz / PING_HZ))
        self.skipped = 0

    def next_deadline(self) -> float | None:
        """Return when the next message is due, None when the rate is 0."""
        return self._start + self._count / self._hz if self._hz > 0.0 else None

    def due(self, t: float) -> list[bool]:
        """Return one entry per message due at t, True for a ping; messages more than STALE_S late are dropped."""
        ready: list[bool] = []
        while (deadline := self.next_deadline()) is not None and deadline <= t:
            if t - deadline > STALE_S:
                behind = int((t - STALE_S - deadline) * self._hz) + 1
                self._count += behind
                self.skipped += behind
                continue
            ready.append(self._count % self._ping_every == 0)
            self._count += 1
        return ready
