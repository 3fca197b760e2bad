# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from fake_i2c import Clock, FakeBus, FakeIna219

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219_registers import setup_for
from pqc_mav_sensing.power_calibration import FILE, Pair, judged, load, save
from pqc_mav_sensing.power_sampler import PowerSampler
from pqc_mav_sensing.power_source import Ina219Source

SETTINGS = {"source": "ina219", "shunt_ohm": 0.1}


def pair(meter_a: float, sensor_a: float) -> Pair:
    return Pair(meter_a, sensor_a, "2026-11-30T12:00:00+00:00")


def read_by_sensor(amperes: float, *, soldered_ohm: float, told_ohm: float) -> float:
    """What an INA219 with this shunt says of a current."""
    clock = Clock()
    chip = FakeIna219(clock, amperes=lambda _t: amperes, shunt_ohm=soldered_ohm)
    source = Ina219Source(lambda: FakeBus(clock, {0x40: chip}), 0x40, setup_for(told_ohm, 3.0, 1000.0), 1000.0)
    sampler = PowerSampler([source], clock.now_s)
    end_s = clock.now_s + 1.0
    while clock.now_s < end_s:
        clock.now_s = max(clock.now_s + 50e-6, sampler.tick(clock.now_s))
    return sampler.summary(clock.now_s).summary.current_a


def test_a_shunt_that_is_off_is_found_and_the_value_to_write_is_right() -> None:
    soldered_ohm = 0.1049
    pairs = [pair(a, read_by_sensor(a, soldered_ohm=soldered_ohm, told_ohm=0.1)) for a in (0.6, 1.2)]
    verdict = judged(pairs, 0.1)
    assert not verdict.good
    assert verdict.text == "reads 4.9 % too much from 0.6 to 1.2 A: set shunt_ohm to 0.1049, and compare again"
    again = [pair(a, read_by_sensor(a, soldered_ohm=soldered_ohm, told_ohm=0.1049)) for a in (0.6, 1.2)]
    assert judged(again, 0.1049).good


def test_a_driver_of_the_kernel_keeps_the_shunt_itself() -> None:
    assert "multiply its shunt_resistor by 0.9," in judged([pair(0.5, 0.45), pair(1.0, 0.9)]).text


def test_one_load_is_not_enough_however_well_it_fits() -> None:
    assert judged([]).text == "was never compared with a meter"
    verdict = judged([pair(1.0, 1.0), pair(1.29, 1.29)])
    assert (verdict.good, "another load is needed" in verdict.text) == (False, True)
    assert judged([pair(1.0, 1.0), pair(1.3, 1.3)]).good


def test_a_zero_that_is_off_is_no_matter_of_the_shunt() -> None:
    verdict = judged([pair(0.5, 0.55), pair(2.0, 2.05)], 0.1)
    assert (verdict.good, "shunt_ohm" in verdict.text, "+10.0 %" in verdict.text) == (False, False, True)


@pytest.mark.parametrize(
    ("ratio", "percent"), [(0, "0"), (-1, "-100"), (0.000667, "0.0667"), (0.1, "10"), (2.5, "250")]
)
@pytest.mark.parametrize("shunt_ohm", [0.1, None])
def test_a_sensor_that_does_not_see_the_current_is_no_matter_of_percents(
    ratio: float, percent: str, shunt_ohm: float | None
) -> None:
    assert judged([pair(0.6, 0.6 * ratio), pair(1.2, 1.2 * ratio)], shunt_ohm).text == (
        f"shows {percent} % of the current from 0.6 to 1.2 A: "
        "check wiring, its direction, and the value printed on the shunt"
    )


@pytest.mark.parametrize(("ratio", "good"), [(1.0199, True), (0.9801, True), (1.021, False), (0.979, False)])
def test_two_percent_count(ratio: float, good: bool) -> None:
    assert judged([pair(1.0, ratio), pair(2.0, 2 * ratio)], 0.1).good is good


def test_pairs_are_kept_for_the_settings_they_were_measured_with(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert load(folder, SETTINGS) == []
    pairs = [pair(0.5, 0.51)]
    assert save(folder, SETTINGS, pairs) == folder / FILE
    assert load(folder, SETTINGS) == pairs
    assert load(folder, {**SETTINGS, "shunt_ohm": 0.105}) == []
    save(folder, SETTINGS, pairs * 150)
    assert len(load(folder, SETTINGS)) == 100


ONE = '{"pairs": [{"meter_a": %s, "sensor_a": %s, "at": ""}], "settings": {}}'


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"pairs": 3, "settings": {}}', ONE % (0, 1), ONE % (1, "NaN"), "[" * 70_000]
)
def test_a_file_that_is_no_calibration_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SensorError, match="is no calibration: remove it"):
        load(tmp_path, SETTINGS)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SensorError, match="cannot be written: "):
        save(tmp_path / "file", SETTINGS, [])
    (tmp_path / FILE).mkdir()
    with pytest.raises(SensorError, match="cannot be read: "):
        load(tmp_path, SETTINGS)
