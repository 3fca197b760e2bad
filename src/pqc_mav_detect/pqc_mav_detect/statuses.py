# SPDX-License-Identifier: Apache-2.0
"""What the proxy says of each drone's tunnel, as far as a detector has to know it. Pure."""

from typing import Any

from pqc_mav_detect import classes

DOWN, ATTACK = 0, 2  # TunnelStatus.DOWN, ThreatReport.ATTACK
# While the other end tells of an attack, there or on a drone of the same network, what speaks for one counts so much
# more: limits are half as high. But only of what is sent to the tunnel itself, and does not occur in normal traffic:
# what the kernel counts, and what a radio loses, comes near its limit without an attacker, too.
WATCHFUL = 2.0
AT_THE_TUNNEL = frozenset({classes.FLOOD, classes.REPLAY, classes.FORGERY, classes.HANDSHAKE_FLOOD})


class Statuses:
    """The newest TunnelStatus of each drone, as far as it counts here."""

    def __init__(self) -> None:
        self._down: set[str] = set()
        self._alarmed: set[str] = set()

    def hear(self, message: Any) -> None:
        """A TunnelStatus, which may be one of an old recording."""
        (self._down.add if message.state == DOWN else self._down.discard)(message.drone_id)
        alarmed = getattr(message, "peer_alarm", 0) >= ATTACK
        (self._alarmed.add if alarmed else self._alarmed.discard)(message.drone_id)

    @property
    def down(self) -> frozenset[str]:
        """Drones whose tunnel is down."""
        return frozenset(self._down)

    @property
    def watchful(self) -> bool:
        """Whether another end tells of an attack."""
        return bool(self._alarmed)
