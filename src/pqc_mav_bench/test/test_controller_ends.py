# SPDX-License-Identifier: Apache-2.0
"""The controller's own side, with nothing of a proxy."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from pqc_mav_interfaces.msg import PowerSample
from spun_nodes import spun

from pqc_mav_bench.controller_ends import RosDrone
from pqc_mav_bench.errors import BenchError


@pytest.fixture
def drone() -> Iterator[RosDrone]:
    with spun("controller") as (made, stack):
        end = RosDrone(made[0], "/drone/pqc_proxy", "", "power")
        stack.callback(end.close)
        yield end


def power(drone: RosDrone, watts: float, interval_s: float) -> None:
    drone._take_power(PowerSample(valid=True, source="ina219", power_mean_w=watts, interval_s=interval_s))


def test_power_is_of_the_whole_data_time_and_its_last_reading_is_waited_for(drone):
    power(drone, 4.0, 0.2)
    now = time.monotonic()
    drone._recorder._window = (now - 0.1, now + 0.1)
    late = threading.Timer(0.2, power, (drone, 8.0, 0.5))
    late.start()
    assert drone.power()["power_mean_w"] > 4.0
    late.join()


def test_a_run_begins_without_the_power_of_the_one_before(drone):
    power(drone, 4.0, 0.1)
    with pytest.raises(BenchError, match="Nothing is heard of the proxy"):
        drone.begin("cs-a", 1)
    assert not drone._power
