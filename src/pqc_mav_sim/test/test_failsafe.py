# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.failsafe import Failsafe
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.modes import FlightMode


def test_each_battery_level_is_reported_once_as_it_gets_worse():
    failsafe, config = Failsafe(), FlightConfig()
    said = []
    for level in (0, 0, 1, 1, 0, 1, 2, 2, 3, 4, 4):
        event, _ = failsafe.battery(BatteryLevel(level), config)
        said.append(event is not None)
    assert said == [False, False, True, False, False, True, True, False, True, True, False]


@pytest.mark.parametrize(
    ("action", "critical", "emergency"),
    [(0, None, None), (1, None, None), (2, FlightMode.LAND, FlightMode.LAND), (3, FlightMode.RTL, FlightMode.LAND)],
)
def test_battery_actions(action, critical, emergency):
    failsafe, config = Failsafe(), FlightConfig(low_battery_action=action)
    assert failsafe.battery(BatteryLevel.LOW, config)[1] is None
    assert failsafe.battery(BatteryLevel.CRITICAL, config)[1] is critical
    assert failsafe.battery(BatteryLevel.EMERGENCY, config)[1] is emergency


@pytest.mark.parametrize(
    ("action", "mode"), [(0, None), (1, FlightMode.HOLD), (2, FlightMode.RTL), (3, FlightMode.LAND), (9, None)]
)
def test_link_actions(action, mode):
    failsafe, config = Failsafe(), FlightConfig(link_loss_action=action)
    assert failsafe.link(False, config) == (None, None)
    event, forced = failsafe.link(True, config)
    assert (event.text, forced) == ("GCS connection lost", mode)
    assert failsafe.link(True, config) == (None, None)
    event, forced = failsafe.link(False, config)
    assert (event.text, forced) == ("GCS connection regained", None)
