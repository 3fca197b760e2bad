# SPDX-License-Identifier: Apache-2.0
"""The nodes thermal, power and system as ROS sees them."""

import csv
from pathlib import Path

import pytest
from fake_i2c import Clock, FakeBus, FakeIna219
from fake_sysfs import FakeThermal
from nodes import Bench, bench
from pqc_mav_interfaces.msg import PowerSample, SystemLoad, ThermalState
from rclpy.qos import qos_profile_sensor_data
from std_srvs.srv import SetBool

from pqc_mav_sensing import power_node, vcgencmd
from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.power_node import PowerNode, interval_s
from pqc_mav_sensing.power_source import ModelSource
from pqc_mav_sensing.system_node import SystemNode
from pqc_mav_sensing.thermal_node import ThermalNode


@pytest.fixture
def made():
    with bench() as each:
        yield each


@pytest.mark.parametrize(("simulated", "source"), [(False, "sysfs"), (True, "model")])
def test_thermal_from_a_tree_that_goes_and_comes(made: Bench, tmp_path: Path, simulated: bool, source: str) -> None:
    fake = FakeThermal(tmp_path)
    got = made.listen(ThermalState, "/drone/thermal")
    node = made.start(ThermalNode, thermal_root=str(tmp_path), thermal_simulated=simulated, thermal_stale_s=1.0)
    made.until(lambda: got)
    assert not got[-1].valid and got[-1].source == "none" and "no thermal zone" in got[-1].reason
    fake.zone(0, "cpu-thermal", 51.0, {"passive": 80.0})
    fake.cooling(0, "cpufreq-cpu0", 1)
    made.until(lambda: got[-1].valid)
    assert (got[-1].source, got[-1].zone, got[-1].trip_passive_c) == (source, "cpu-thermal", 80.0)
    assert got[-1].throttled and list(got[-1].zone_temperatures_c) == [51.0]
    assert node.diagnose()[0].level == 1
    fake.remove("thermal_zone0")
    made.until(lambda: not got[-1].valid)
    fake.zone(0, "cpu-thermal", 51.0)
    made.until(lambda: got[-1].valid)


def test_a_firmware_that_says_nothing_is_named(made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a unit that may not use /dev/vcio: vcgencmd is there and fails."""
    FakeThermal(tmp_path).zone(0, "cpu-thermal", 51.0)
    monkeypatch.setattr(vcgencmd, "find", lambda: "false")
    node = made.start(ThermalNode, thermal_root=str(tmp_path))
    made.until(lambda: "/dev/vcio" in str(node.diagnose()[0].values.get("firmware")))


def test_power_without_a_sensor_is_a_model_and_says_so(made: Bench, tmp_path: Path) -> None:
    got = made.listen(PowerSample, "/drone/power", qos_profile_sensor_data)
    node = made.start(PowerNode, i2c_bus=99, hwmon_root=str(tmp_path))
    made.until(lambda: got and got[-1].valid)
    assert (got[-1].source, got[-1].measured) == ("model", False)
    assert 2.6 < got[-1].power_mean_w < 8.1 and got[-1].resolution == ""
    made.until(lambda: node.diagnose()[0].level == 1)
    assert "model" in node.diagnose()[0].message


def test_a_message_sums_up_at_least_two_readings() -> None:
    assert [interval_s(rate) for rate in (1000.0, 50.0, 4.0, 1.0)] == [0.1, 0.1, 0.5, 2.0]
    assert interval_s(0.0) == 0.5
    assert interval_s(ModelSource.rate_hz) == 0.5


def test_power_asked_of_a_sensor_alone_is_never_a_model(made: Bench) -> None:
    got = made.listen(PowerSample, "/drone/power", qos_profile_sensor_data)
    made.start(PowerNode, i2c_bus=99, power_source="ina219")
    made.until(lambda: got and "I2C bus" in got[-1].reason)
    assert not any(each.valid or each.measured for each in got)


def test_power_from_an_ina219_and_a_trace_on_request(
    made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LiveClock(Clock):
        """The chip converts in real time here; transfers take none of it."""

        def __getattribute__(self, name: str) -> object:
            import time

            return time.monotonic() if name == "now_s" else super().__getattribute__(name)

        def advance(self, seconds: float) -> None:
            pass

    clock = LiveClock()
    chip = FakeIna219(clock)
    monkeypatch.setattr(power_node, "open_i2c", lambda _number: FakeBus(clock, {0x40: chip}))
    got = made.listen(PowerSample, "/drone/power", qos_profile_sensor_data)
    node = made.start(PowerNode, trace_folder=str(tmp_path / "traces"), power_rate_hz=500.0)
    made.until(lambda: got and got[-1].valid)
    assert (got[-1].source, got[-1].measured, got[-1].resolution) == ("ina219", True, "bus 12 bit, shunt 12 bit")
    assert got[-1].power_mean_w == pytest.approx(4.0, abs=0.05) and got[-1].target_rate_hz == 500.0

    def ask(on: bool) -> SetBool.Response:
        return node._record(SetBool.Request(data=on), SetBool.Response())

    assert not ask(False).success
    begun = ask(True)
    assert begun.success and not ask(True).success
    count = len(got)
    made.until(lambda: len(got) > count + 5)
    ended = ask(False)
    assert ended.success, ended.message
    (path,) = (tmp_path / "traces").iterdir()
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 20 and all(float(row["power_w"]) == pytest.approx(4.0, abs=0.05) for row in rows)
    times = [float(row["monotonic_s"]) for row in rows]
    assert times == sorted(times)


def test_a_shunt_that_cannot_be_is_refused(made: Bench) -> None:
    with pytest.raises(SensingError, match=r"at most 0\.32 V"):
        made.start(PowerNode, shunt_ohm=0.5, largest_current_a=3.0)


def test_system_load_and_an_interface_that_is_gone(made: Bench) -> None:
    got = made.listen(SystemLoad, "/drone/system")
    made.start(SystemNode, interface="lo")
    made.until(lambda: got and got[-1].valid)
    assert got[-1].source == "psutil" and len(got[-1].core_percent) > 0 and got[-1].interface == "lo"
    other = made.start(SystemNode, "/other", interface="tun7")
    gone = made.listen(SystemLoad, "/other/system")
    made.until(lambda: gone and "tun7" in gone[-1].reason)
    assert not gone[-1].valid and gone[-1].source == "none"
    assert other.diagnose()[0].level == 2
