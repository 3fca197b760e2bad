# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import yaml

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.errors import SensingError


def test_the_shipped_profiles_are_valid_and_documented() -> None:
    known = chemistry.load()
    assert set(known) == {"lipo", "liion", "lifepo4", "nimh"}
    text = chemistry.SHIPPED.read_text()
    head = text[: text.index("\nlipo:")]
    keys = next(iter(yaml.safe_load(text).values()))
    assert all(f"#   {key}" in head or f", {key}" in head for key in keys), "every key is explained in the head"


@pytest.mark.parametrize("profile", chemistry.load().values(), ids=lambda each: each.name)
def test_charge_from_resting_voltage(profile: chemistry.Chemistry) -> None:
    for tenth, volt in enumerate(profile.resting_v):
        assert profile.charge_at(volt) == pytest.approx(tenth / 10)
    assert profile.charge_at(profile.cell_low_v) == 0.0 and profile.charge_at(profile.cell_high_v) == 1.0
    rising = [profile.charge_at(0.8 + 0.01 * step) for step in range(400)]
    assert rising == sorted(rising)


@pytest.mark.parametrize("profile", chemistry.load().values(), ids=lambda each: each.name)
def test_cold_costs_capacity(profile: chemistry.Chemistry) -> None:
    assert profile.capacity_fraction(profile.reference_temperature_c) == 1.0 == profile.capacity_fraction(50.0)
    assert profile.least_capacity_fraction <= profile.capacity_fraction(-10.0) < profile.capacity_fraction(10.0) < 1.0
    assert profile.capacity_fraction(-270.0) == profile.least_capacity_fraction


def changed(tmp_path: Path, **changes: object) -> Path:
    data = yaml.safe_load(chemistry.SHIPPED.read_text())
    for key, value in changes.items():
        if value is None:
            del data["lipo"][key]
        else:
            data["lipo"][key] = value
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"peukert_exponent": 0.9}, "from 1 to 1.5"),
        ({"peukert_exponent": "high"}, "'high'"),
        ({"peukert_exponent": True}, "True"),
        ({"rated_c_rate": None}, "lacks rated_c_rate"),
        ({"colour": 1}, "unknown keys: colour"),
        ({"resting_v": [3.0, 4.0]}, "11 numbers"),
        ({"resting_v": [3.27, 3.69, 3.6, 3.77, 3.79, 3.82, 3.87, 3.92, 3.98, 4.08, 4.2]}, "rise"),
        ({"cell_low_v": 3.5}, "between 'cell_low_v' and"),
    ],
)
def test_faults_are_named(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    path = changed(tmp_path, **changes)
    with pytest.raises(SensingError, match=said) as caught:
        chemistry.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(SensingError, match="No such file"):
        chemistry.load(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("lipo: [")
    with pytest.raises(SensingError, match="not valid YAML"):
        chemistry.load(tmp_path / "bad.yaml")
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(SensingError, match="holds no chemistry"):
        chemistry.load(tmp_path / "empty.yaml")
    with pytest.raises(SensingError, match="it has: lipo"):
        chemistry.find("lead")
