# SPDX-License-Identifier: Apache-2.0
"""Names the engine and the messages share: the states of a tunnel and the six reasons to drop a packet. No ROS."""

from __future__ import annotations

# In the order of the constants in TunnelStatus.msg.
STATES = ("DOWN", "HANDSHAKING", "UP", "DEGRADED", "REKEYING")
DROP_REASONS = ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
# As counters and message fields are called.
DROPS = tuple(f"drop_{reason}" for reason in DROP_REASONS)


def state_name(number: int) -> str:
    """Name of a state's constant; the number itself for one that a newer version may have."""
    return STATES[number] if number < len(STATES) else str(number)
