# SPDX-License-Identifier: Apache-2.0
"""Names the engine and the messages share: the states of a tunnel, its old keys, the six reasons to drop a packet.

No ROS.
"""

from __future__ import annotations

# In the order of the constants in TunnelStatus.msg.
STATES = ("DOWN", "HANDSHAKING", "UP", "DEGRADED", "REKEYING")
# How TunnelStatus.last_error begins while the keys are older than key_limit_s, whatever the state.
KEY_OLD = "KEY_OLD"
# What it says while a serial port or another endpoint of plaintext does not work, perhaps behind the former.
PLAIN_DOWN = "PLAIN_DOWN"
# The same of the serial radio that carries the link.
RADIO_DOWN = "RADIO_DOWN"
# How it begins in the last status of a drone that its ground station does not serve any more.
REMOVED = "REMOVED"
# What a shaped link tells apart, as in its counters.
SHAPE_CLASSES = ("commands", "transfers", "streams", "rest", "rekey")
DROP_REASONS = ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
# As counters and message fields are called.
DROPS = tuple(f"drop_{reason}" for reason in DROP_REASONS)


def keys_are_old(last_error: str) -> bool:
    """Whether a status with this error has keys that could not be renewed in time."""
    return last_error.startswith(KEY_OLD)


def was_removed(last_error: str) -> bool:
    """Whether a status with this error is the last one of its drone."""
    return last_error.startswith(REMOVED)


def removed(drone_id: str, role: str) -> dict[str, str]:
    """What the last status of a drone says that is not served any more."""
    text = f"{REMOVED}: this ground station does not serve the drone any more."
    return {"drone_id": drone_id, "role": role, "last_error": text}


def plain_is_down(last_error: str) -> bool:
    """Whether an endpoint of plaintext does not work at an end with this error."""
    return PLAIN_DOWN in last_error


def radio_is_down(last_error: str) -> bool:
    """Whether the serial radio of the link does not work at an end with this error."""
    return RADIO_DOWN in last_error


def state_name(number: int) -> str:
    """Name of a state's constant; the number itself for one that a newer version may have."""
    return STATES[number] if number < len(STATES) else str(number)
