# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import pytest
from fake_i2c import Clock, FakeBus, FakeIna219

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219 import Outcome
from pqc_mav_sensing.ina219_registers import setup_for
from pqc_mav_sensing.power_source import HwmonSource, Ina219Source, ModelSource, PowerModel

SETUP = setup_for(0.1, 3.2, 1000.0)


def device(root: Path, index: int, **files: object) -> Path:
    folder = root / f"hwmon{index}"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")
    return folder


def test_ina219_opens_its_bus_anew_each_time() -> None:
    clock, buses = Clock(), []

    def open_bus() -> FakeBus:
        buses.append(FakeBus(clock, {0x40: FakeIna219(clock)}))
        return buses[-1]

    source = Ina219Source(open_bus, 0x40, SETUP, 1000.0)
    source.open()
    source.open()
    assert [bus.closed for bus in buses] == [True, False]
    clock.advance(0.001)
    reading = source.look(clock.now_s)
    assert reading.watts == pytest.approx(reading.volts * reading.amperes) == pytest.approx(4.0, abs=0.01)
    source.close()
    assert buses[-1].closed
    with pytest.raises(SensorError, match="not been set up"):
        source.look(clock.now_s)


def test_a_bus_that_is_not_there() -> None:
    def open_bus() -> FakeBus:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(SensorError, match="cannot be opened: No such file"):
        Ina219Source(open_bus, 0x40, SETUP, 1000.0).open()


def test_hwmon_prefers_an_ina(tmp_path: Path) -> None:
    device(tmp_path, 0, name="power_meter", power1_average=9_000_000)
    device(tmp_path, 1, name="ina219", power1_input=4_100_000, in1_input=5104, curr1_input=803)
    source = HwmonSource(tmp_path)
    source.open()
    reading = source.look(0.0)
    assert (reading.volts, reading.amperes, reading.watts) == (5.104, 0.803, 4.1)


def test_hwmon_takes_any_power_reading_but_a_graphics_cards(tmp_path: Path) -> None:
    device(tmp_path, 0, name="amdgpu", power1_average=30_000_000)
    with pytest.raises(SensorError, match="measures power"):
        HwmonSource(tmp_path).open()
    device(tmp_path, 1, name="power_meter", power1_average=9_000_000)
    source = HwmonSource(tmp_path)
    source.open()
    reading = source.look(0.0)
    assert reading.watts == 9.0 and math.isnan(reading.volts)


def test_hwmon_tells_two_chips_of_one_name_apart(tmp_path: Path) -> None:
    source = HwmonSource(tmp_path)
    with pytest.raises(SensorError, match="no hwmon device was chosen"):
        source.chip()
    (tmp_path / "1-0041").mkdir()
    folder = device(tmp_path, 0, name="ina219", power1_input=4_000_000, shunt_resistor=100_000)
    (folder / "device").symlink_to("../1-0041")
    source.open()
    assert source.chip() == {"device": "1-0041", "name": "ina219", "shunt_resistor": "100000"}
    (folder / "shunt_resistor").unlink()
    assert source.chip()["shunt_resistor"] is None


@pytest.mark.parametrize("content", ["", "garbage", "-5", "99999999999999", "1_000", "4.1"])
def test_hwmon_refuses_what_is_no_power(tmp_path: Path, content: str) -> None:
    folder = device(tmp_path, 0, name="ina226", power1_input=4_000_000)
    source = HwmonSource(tmp_path)
    source.open()
    (folder / "power1_input").write_text(content)
    with pytest.raises(SensorError, match="no power reading"):
        source.look(0.0)


def test_hwmon_refuses_a_supply_of_0_volts(tmp_path: Path) -> None:
    device(tmp_path, 0, name="ina219", power1_input=0, in1_input=0, curr1_input=0)
    with pytest.raises(SensorError, match="0 mV"):
        HwmonSource(tmp_path).open()


def test_the_model_meets_the_published_points() -> None:
    model = PowerModel()
    assert model.watts(0.25) == pytest.approx(3.990, abs=0.01)
    assert model.watts(0.457) == pytest.approx(5.102, abs=0.01)
    assert model.watts(7.0) == model.full_w and model.watts(-1.0) == model.idle_w


def test_the_model_counts_the_last_half_second() -> None:
    times = iter([(0.0, 0.0), (0.1, 0.2), (0.2, 1.2), (0.2, 2.2), (0.2, 3.2)])
    source = ModelSource(PowerModel(1.0, 2.0), lambda: next(times))
    source.open()
    assert source.look(0.0).outcome is Outcome.DUPLICATE
    assert source.look(0.1).watts == pytest.approx(1.5)
    source.look(0.5)
    source.look(1.0)
    assert source.look(1.5).watts == pytest.approx(1.0)
    assert not source.measured and source.name == "model"
