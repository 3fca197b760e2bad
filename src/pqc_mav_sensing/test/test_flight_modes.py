# SPDX-License-Identifier: Apache-2.0
"""The names are those that pymavlink gives."""

from __future__ import annotations

import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing.flight_modes import CUSTOM, PX4, mode_name
from pqc_mav_sensing.mavlink_messages import Heartbeat

KINDS = (*range(36), 250)
UNNAMED_HERE = (mavlink.MAV_TYPE_ANTENNA_TRACKER, mavlink.MAV_TYPE_AIRSHIP)


def told(beat: Heartbeat) -> str:
    message = mavlink.MAVLink_heartbeat_message(beat.type, beat.autopilot, beat.base_mode, beat.custom_mode, 0, 3)
    return str(mavutil.mode_string_v10(message))


def test_px4() -> None:
    for main in range(12):
        for sub in range(12):
            beat = Heartbeat(sub << 24 | main << 16, mavlink.MAV_TYPE_QUADROTOR, PX4, CUSTOM)
            assert mode_name(beat) == told(beat), (main, sub)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in UNNAMED_HERE])
def test_ardupilot(kind: int) -> None:
    for number in (*range(40), 2**32 - 1):
        beat = Heartbeat(number, kind, mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA, CUSTOM)
        assert mode_name(beat) == told(beat)
        plain = beat._replace(base_mode=64)
        assert mode_name(plain) == told(plain)


@pytest.mark.parametrize("kind", UNNAMED_HERE)
def test_what_does_not_fly_these_missions_has_its_number(kind: int) -> None:
    assert mode_name(Heartbeat(1, kind, mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA, CUSTOM)) == "Mode(1)"
