# SPDX-License-Identifier: Apache-2.0
"""Who the vehicle says it is: AUTOPILOT_VERSION.

It identifies itself as PX4: MAVSDK arms, takes off and switches modes through PX4's commands without first needing
a guided mode, and MAVProxy decodes PX4's modes and bytewise parameters. The custom version field tells that this is
the simulation.
"""

import hashlib

from pymavlink.dialects.v20 import common as mavlink

FLIGHT_VERSION = (1, 15, 4)
_RELEASE = 255
_CAPABILITIES = (
    mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_FLOAT
    | mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_FLOAT
    | mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT
    | mavlink.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
    | mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
    | mavlink.MAV_PROTOCOL_CAPABILITY_FLIGHT_TERMINATION
    | mavlink.MAV_PROTOCOL_CAPABILITY_MAVLINK2
)


def autopilot_version(sysid: int, seed: int) -> mavlink.MAVLink_autopilot_version_message:
    """Return AUTOPILOT_VERSION; the hardware uid is stable for a system id and seed."""
    major, minor, patch = FLIGHT_VERSION
    version = major << 24 | minor << 16 | patch << 8 | _RELEASE
    digest = hashlib.sha256(f"pqc_mav_sim {sysid} {seed}".encode()).digest()
    label = list(b"pqcmavsm")
    return mavlink.MAVLink_autopilot_version_message(
        capabilities=_CAPABILITIES,
        flight_sw_version=version,
        middleware_sw_version=version,
        os_sw_version=0,
        board_version=0,
        flight_custom_version=label,
        middleware_custom_version=label,
        os_custom_version=[0] * 8,
        vendor_id=0,
        product_id=0,
        uid=int.from_bytes(digest[:8], "little"),
        uid2=list(digest[:18]),
    )
