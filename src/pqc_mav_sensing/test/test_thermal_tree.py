# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import pytest
from fake_sysfs import FakeThermal

from pqc_mav_sensing import sysfs, thermal_tree


@pytest.fixture
def tree(tmp_path: Path) -> FakeThermal:
    return FakeThermal(tmp_path / "thermal")


def test_a_raspberry_pi(tree: FakeThermal) -> None:
    tree.zone(0, "cpu-thermal", 51.25, {"critical": 110.0, "hot": 90.0, "passive": 80.0})
    tree.cooling(0, "pwm-fan", 2)
    tree.cooling(1, "cpufreq-cpu0", 1)
    seen = thermal_tree.read(tree.root)
    (zone,) = seen.zones
    assert (zone.type, zone.temperature_c, zone.passive_c, zone.critical_c) == ("cpu-thermal", 51.25, 80.0, 110.0)
    assert [each.type for each in seen.cooling] == ["cpufreq-cpu0"], "a fan cools and throttles nothing"


def test_the_processors_zone_is_chosen_by_type(tree: FakeThermal) -> None:
    tree.zone(0, "battery", 25.0)
    tree.zone(1, "acpitz", 27.8)
    tree.zone(10, "x86_pkg_temp", 63.0)
    seen = thermal_tree.read(tree.root)
    assert [zone.type for zone in seen.zones] == ["battery", "acpitz", "x86_pkg_temp"], "in the order of numbers"
    assert [zone.number for zone in seen.zones] == [0, 1, 10]
    assert seen.zone().type == "x86_pkg_temp"
    assert seen.zone("battery").type == "battery" and seen.zone("none") is None


def test_the_lowest_of_several_trip_points_counts(tree: FakeThermal) -> None:
    folder = tree.zone(0, "x86_pkg_temp", 60.0)
    for number, (kind, value) in enumerate(
        [("passive", 0), ("passive", 95_000), ("passive", 85_000), ("critical", -274_000)]
    ):
        (folder / f"trip_point_{number}_type").write_text(kind)
        (folder / f"trip_point_{number}_temp").write_text(str(value))
    (zone,) = thermal_tree.read(tree.root).zones
    assert zone.passive_c == 85.0 and math.isnan(zone.critical_c)


@pytest.mark.parametrize("content", ["", "garbage", "45.5", "1_000", "٤٥", "9" * 30, "\x00", "0"])
def test_what_is_no_number_is_nan(tree: FakeThermal, content: str) -> None:
    folder = tree.zone(0, "cpu-thermal", 50.0)
    (folder / "temp").write_text(content)
    assert math.isnan(thermal_tree.read(tree.root).zones[0].temperature_c)


def test_nothing_there(tmp_path: Path) -> None:
    seen = thermal_tree.read(tmp_path / "none")
    assert seen.zones == () and seen.cooling == () and seen.zone() is None


def test_a_zone_that_is_half_gone(tree: FakeThermal) -> None:
    folder = tree.zone(0, "cpu-thermal", 50.0)
    (folder / "type").unlink()
    assert thermal_tree.read(tree.root).zones == ()
    (folder / "type").mkdir()  # reading it is an error of another kind
    assert sysfs.text(folder / "type") is None and thermal_tree.read(tree.root).zones == ()
