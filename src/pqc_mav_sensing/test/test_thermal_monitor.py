# SPDX-License-Identifier: Apache-2.0
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from fake_sysfs import FakeThermal

from pqc_mav_sensing import thermal_tree
from pqc_mav_sensing.thermal_monitor import ThermalMonitor
from pqc_mav_sensing.thermal_tree import Cooling, Tree, Zone
from pqc_mav_sensing.vcgencmd import Throttling

NAN = math.nan


def tree(celsius: float, kind: str = "cpu-thermal", *cooling: Cooling) -> Tree:
    return Tree((Zone(kind, celsius, 80.0, 110.0, 0),), cooling)


def settled(monitor: ThermalMonitor, celsius: float = 50.0, rate_per_min: float = 0.0, seconds: int = 30) -> float:
    for quarter in range(seconds * 4):
        monitor.look(quarter / 4, tree(celsius + rate_per_min * quarter / 240))
    return (seconds * 4 - 1) / 4


def test_temperature_rate_and_trip_points() -> None:
    monitor = ThermalMonitor()
    now_s = settled(monitor, 50.0, 6.0)
    view = monitor.view(now_s)
    assert view.valid and view.zone == "cpu-thermal"
    assert view.rate_c_per_min == pytest.approx(6.0)
    assert view.temperature_c == pytest.approx(50.0 + 6.0 * now_s / 60)
    assert (view.trip_passive_c, view.trip_critical_c) == (80.0, 110.0)
    assert view.zone_types == ("cpu-thermal",) and not view.throttled


@pytest.mark.parametrize("celsius", [NAN, -273.0, 0.001, 65_535.0, 85.0, 127.0])
def test_a_misread_is_refused(celsius: float) -> None:
    monitor = ThermalMonitor()
    now_s = settled(monitor)
    before = monitor.view(now_s)
    assert not monitor.look(now_s + 0.25, tree(celsius))
    assert monitor.view(now_s + 0.25).temperature_c == before.temperature_c == 50.0


def test_no_zone_and_the_wrong_zone_say_so() -> None:
    monitor = ThermalMonitor()
    monitor.look(0.0, Tree((), ()))
    assert monitor.view(0.0).reason == "there is no thermal zone here"
    monitor = ThermalMonitor("gpu-thermal")
    monitor.look(0.0, tree(50.0))
    view = monitor.view(0.0)
    assert not view.valid and "'gpu-thermal' here; there are: cpu-thermal" in view.reason


def test_it_disappears_and_comes_back() -> None:
    monitor = ThermalMonitor()
    now_s = settled(monitor)
    for quarter in range(1, 17):
        monitor.look(now_s + quarter / 4, Tree((Zone("battery", 25.0, NAN, NAN, 1),), ()))
    view = monitor.view(now_s + 4.0)
    assert not view.valid and "4.0 s old" in view.reason and "zone 0 of type 'cpu-thermal' is gone" in view.reason
    assert math.isnan(view.temperature_c), "another zone's temperature does not stand in"
    for quarter in range(4):
        monitor.look(now_s + 5.0 + quarter / 4, tree(70.0))
    view = monitor.view(now_s + 6.0)
    assert view.valid and view.temperature_c == 70.0 and math.isnan(view.rate_c_per_min)


def test_a_zone_that_is_more_surely_the_processor_s_takes_over_when_it_comes() -> None:
    """As of a driver that is loaded after sensing has begun."""
    monitor = ThermalMonitor()
    early, late = Zone("iwlwifi_1", 40.0, NAN, NAN, 0), Zone("x86_pkg_temp", 95.0, 100.0, NAN, 1)
    seen = [(early,)] * 20 + [(early, replace(late, temperature_c=NAN))] * 4 + [(early, late)] * 3 + [(early,)] * 4
    views = []
    for quarter, zones in enumerate(seen):
        monitor.look(quarter / 4, Tree(zones, ()))
        views.append(monitor.view(quarter / 4))
    assert {(view.zone, view.temperature_c) for view in views[2:24]} == {("iwlwifi_1", 40.0)}, "also while unreadable"
    assert [view.valid for view in views[24:27]] == [False, False, True], "it is confirmed as any first reading"
    assert (views[26].zone, views[26].temperature_c, views[26].trip_passive_c) == ("x86_pkg_temp", 95.0, 100.0)
    assert math.isnan(views[26].rate_c_per_min)
    assert not monitor.look(8.0, Tree((early,), ())), "and is kept"
    assert monitor.view(8.0).temperature_c == 95.0


def test_zones_of_one_type_are_told_apart_by_their_numbers() -> None:
    monitor = ThermalMonitor()
    first, second = (Zone("x86_pkg_temp", 50.0 + 3.0 * number, NAN, NAN, number) for number in range(2))
    for quarter in range(120):
        monitor.look(quarter / 4, Tree((first, second), ()))
    for quarter in range(120, 132):
        assert not monitor.look(quarter / 4, Tree((second,), ()))
        assert monitor.view(quarter / 4).temperature_c == 50.0
    assert [monitor.look(quarter / 4, Tree((second,), ())) for quarter in range(132, 135)] == [False, False, True]
    view = monitor.view(33.5)
    assert view.temperature_c == 53.0 and math.isnan(view.rate_c_per_min), "3 K more is no rise"
    assert not monitor.look(33.75, Tree((), ()))
    assert monitor.look(34.0, Tree((first, second), ())) and monitor.view(34.0).temperature_c == 53.0


def test_throttling_by_kernel_and_firmware() -> None:
    monitor = ThermalMonitor()
    monitor.look(0.0, tree(50.0, "cpu-thermal", Cooling("cpufreq-cpu0", 2, 4), Cooling("intel_powerclamp", -1, 50)))
    assert monitor.view(0.0).throttle_reason == "cpufreq-cpu0 at step 2 of 4"
    monitor.look(0.1, tree(50.0), Throttling(0x50005))
    view = monitor.view(0.1)
    assert view.throttled and view.throttle_reason == (
        "the supply voltage is too low; the firmware throttles the processor"
    )
    monitor.look(0.2, tree(50.0), Throttling(0x50001))
    assert not monitor.view(0.2).throttled, "a low supply alone slows nothing down"


def test_ten_thousand_looks_at_a_broken_tree_believe_no_wrong_value(tmp_path: Path) -> None:
    """Files hold nonsense, cannot be read, vanish with their folders and come back, while the temperature moves."""
    rng = random.Random(1)
    fake = FakeThermal(tmp_path)
    fake.zone(1, "battery", 20.0)
    monitor, truth, at_s, gone, valid, accepted = ThermalMonitor(), 50.0, 0.0, 0, 0, 0
    temperature = tmp_path / "thermal_zone0" / "temp"
    for _ in range(10_000):
        at_s += 0.25
        truth = min(78.0, max(40.0, truth + rng.gauss(0.0, 0.3)))
        wrong = False
        if gone:
            gone -= 1
        elif temperature.exists() and rng.random() < 0.003:
            fake.remove("thermal_zone0")
            gone = rng.randint(1, 40)
        if not gone:
            if not temperature.exists():
                fake.zone(0, "cpu-thermal", truth)
            wrong = rng.random() < 0.08
            nonsense = (
                "",
                "garbage",
                "-40000000",
                "255000",
                "0",
                "1e3",
                "9" * 25,
                "-1",
                str(int(1000 * truth) + 25_000),
            )
            temperature.write_text(rng.choice(nonsense) if wrong else str(round(1000 * truth)))
        if monitor.look(at_s, thermal_tree.read(tmp_path)):
            accepted += 1
            assert not wrong and not gone
        view = monitor.view(at_s)
        valid += view.valid
        if view.valid:
            assert abs(view.temperature_c - truth) < 5.0
        assert view.valid != math.isnan(view.temperature_c)
    assert accepted > 7500 and valid > 8000
