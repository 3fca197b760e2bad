# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.autopilot import Autopilot, AutopilotConfig
from pqc_mav_sim.habits import ARDUPILOT, HABITS, PX4

BATTERY, SYS_STATUS = mavlink.MAVLINK_MSG_ID_BATTERY_STATUS, mavlink.MAVLINK_MSG_ID_SYS_STATUS


def counted(autopilot: Autopilot, begin: float, seconds: float) -> Counter[int]:
    counts: Counter[int] = Counter()
    for step in range(round(seconds * 100)):
        counts.update(autopilot.due(begin + step / 100))
    return counts


def test_px4_tells_its_battery_every_two_seconds_unasked_and_faster_when_asked() -> None:
    autopilot = Autopilot(AutopilotConfig(like="px4", profile="client"), 0.0)
    counts = counted(autopilot, 0.0, 60.0)
    assert counts[BATTERY] in (29, 30) and counts[SYS_STATUS] in (59, 60, 61)
    assert sum(counts.values()) == pytest.approx(60 * 320, abs=30)
    assert autopilot.scheduler.set_interval(BATTERY, 500_000, 60.0)
    assert counted(autopilot, 60.0, 60.0)[BATTERY] in (119, 120, 121)


def test_ardupilot_sends_heartbeats_alone_until_it_is_asked() -> None:
    autopilot = Autopilot(AutopilotConfig(like="ardupilot", profile="client"), 0.0)
    assert set(counted(autopilot, 0.0, 60.0)) == {mavlink.MAVLINK_MSG_ID_HEARTBEAT}
    assert autopilot.scheduler.set_interval(BATTERY, 500_000, 60.0)
    assert counted(autopilot, 60.0, 60.0)[BATTERY] in (119, 120, 121)


@pytest.mark.parametrize(("like", "count"), [("px4", PX4.parameters), ("ardupilot", ARDUPILOT.parameters)])
def test_the_list_of_parameters_is_as_long_as_the_real_ones(like: str, count: int) -> None:
    autopilot = Autopilot(AutopilotConfig(like=like, profile="client"), 0.0)
    assert len(autopilot.params) == count and autopilot.params.value("MAV_SYS_ID") == 1


def test_another_autopilot_is_refused() -> None:
    with pytest.raises(ValueError, match="'inav' to be like: give one of px4, ardupilot"):
        AutopilotConfig(like="inav")
    assert set(HABITS) == {"", "px4", "ardupilot"}
