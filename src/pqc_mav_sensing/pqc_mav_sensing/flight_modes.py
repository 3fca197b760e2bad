# SPDX-License-Identifier: Apache-2.0
"""The name of the flight mode in a heartbeat, by PX4's and ArduPilot's numbers."""

from collections.abc import Mapping

from pqc_mav_sensing.mavlink_messages import Heartbeat

PX4 = 12  # MAV_AUTOPILOT_PX4
CUSTOM = 1  # MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
UNKNOWN = "UNKNOWN"
_AUTO = 4
# By their numbers, "-" = none. PX4: main modes, and the sub modes of AUTO (px4_custom_mode.h).
_PX4_MAIN = "- MANUAL ALTCTL POSCTL AUTO ACRO OFFBOARD STABILIZED RATTITUDE"
_PX4_AUTO = "- - TAKEOFF LOITER MISSION RTL LAND RTGS FOLLOWME"
# ArduPilot: the lists of its vehicles (mode.h of each).
_COPTER = (
    "STABILIZE ACRO ALT_HOLD AUTO GUIDED LOITER RTL CIRCLE POSITION LAND OF_LOITER DRIFT - SPORT FLIP AUTOTUNE POSHOLD "
    "BRAKE THROW AVOID_ADSB GUIDED_NOGPS SMART_RTL FLOWHOLD FOLLOW ZIGZAG SYSTEMID AUTOROTATE AUTO_RTL TURTLE RATE_ACRO"
)
_PLANE = (
    "MANUAL CIRCLE STABILIZE TRAINING ACRO FBWA FBWB CRUISE AUTOTUNE - AUTO RTL LOITER TAKEOFF AVOID_ADSB GUIDED "
    "INITIALISING QSTABILIZE QHOVER QLOITER QLAND QRTL QAUTOTUNE QACRO THERMAL LOITERALTQLAND AUTOLAND"
)
_ROVER = (
    "MANUAL ACRO LEARNING STEERING HOLD LOITER FOLLOW SIMPLE DOCK CIRCLE AUTO RTL SMART_RTL - - GUIDED INITIALISING"
)
_SUB = "STABILIZE ACRO ALT_HOLD AUTO GUIDED - - CIRCLE - SURFACE - - - - - - POSHOLD - - MANUAL"
# MAV_TYPE -> modes: multicopters and helicopters; fixed wings and VTOLs; rovers and boats; submarines.
_ARDUPILOT: Mapping[int, str] = {
    **dict.fromkeys((2, 3, 4, 13, 14, 15, 29, 35), _COPTER),
    **dict.fromkeys((1, 19, 20, 21), _PLANE),
    **dict.fromkeys((10, 11), _ROVER),
    12: _SUB,
}


def mode_name(beat: Heartbeat) -> str:
    """The mode in capitals; one without a name by its number."""
    if beat.autopilot == PX4:
        main, sub = beat.custom_mode >> 16 & 0xFF, beat.custom_mode >> 24
        return _named(_PX4_AUTO, sub) if main == _AUTO else _named(_PX4_MAIN, main)
    if not beat.base_mode & CUSTOM:
        return f"Mode(0x{beat.base_mode:08x})"
    name = _named(_ARDUPILOT.get(beat.type, ""), beat.custom_mode)
    return f"Mode({beat.custom_mode})" if name == UNKNOWN else name


def _named(names: str, number: int) -> str:
    listed = names.split()
    name = listed[number] if number < len(listed) else "-"
    return UNKNOWN if name == "-" else name
