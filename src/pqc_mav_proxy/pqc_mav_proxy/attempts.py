# SPDX-License-Identifier: Apache-2.0
"""What of a drone's attempts to connect is worth a line in the log. No ROS, no clock."""

from __future__ import annotations

AGAIN_S = 60.0
_CONNECTING = frozenset({"DOWN", "HANDSHAKING"})


class Attempts:
    """A drone that waits for its network tries every few seconds: its reason is said once, then every minute."""

    def __init__(self) -> None:
        self._failures: dict[str, tuple[str, float]] = {}  # drone -> what was said of it last, and when
        self._warnings: dict[str, float] = {}

    def failed(self, drone: str, reason: str, now_s: float) -> bool:
        """Whether to say that a first handshake failed for this reason."""
        said, at_s = self._failures.get(drone, ("", 0.0))
        if said == reason and now_s - at_s < AGAIN_S:
            return False
        self._failures[drone] = (reason, now_s)
        return True

    def warned(self, text: str, now_s: float) -> bool:
        """Whether to say a warning of the engine."""
        if now_s - self._warnings.get(text, -AGAIN_S) < AGAIN_S:
            return False
        self._warnings = {each: at_s for each, at_s in self._warnings.items() if now_s - at_s < AGAIN_S}
        self._warnings[text] = now_s
        return True

    def changed(self, drone: str, old: str, new: str) -> bool:
        """Whether to say a change of state: not the to and fro of attempts whose failure was said."""
        return not (drone in self._failures and {old, new} == _CONNECTING)

    def connected(self, drone: str) -> None:
        """A handshake succeeded: what comes now is new."""
        self._failures.pop(drone, None)
