# SPDX-License-Identifier: Apache-2.0
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.param_table import PARAM_SPECS, ParamSpec, ParamType
from pqc_mav_sim.params import ParamRefusedError, ParamTable


def test_table_is_sound():
    assert len(PARAM_SPECS) > 100
    for spec in PARAM_SPECS:
        assert len(spec.name) <= 16
        assert spec.minimum <= spec.default <= spec.maximum, spec.name
        if spec.type is ParamType.INT32:
            assert spec.default == int(spec.default), spec.name


def test_order_and_index_agree():
    table = ParamTable()
    names = [spec.name for spec in table.specs]
    assert names == sorted(names)
    assert [table.index(name) for name in names] == list(range(len(table)))
    assert table.index("NOPE") is None


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers_keep_every_bit(value):
    spec = ParamSpec("TEST", ParamType.INT32, 0, -(2**31), 2**31 - 1)
    table = ParamTable([spec])
    table.set_raw("TEST", struct.pack("<i", value), ParamType.INT32)
    assert table.raw("TEST") == struct.pack("<i", value)
    assert table.value("TEST") == value


@given(st.floats(-1e6, 1e6, width=32))
def test_reals_are_float32(value):
    table = ParamTable([ParamSpec("TEST", ParamType.REAL32, 0, -1e6, 1e6)])
    assert table.set("TEST", value) == value
    assert table.raw("TEST") == struct.pack("<f", value)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("NOPE", 1.0, ParamRefusedError.DOES_NOT_EXIST),
        ("MAV_SYS_ID", 2.0, ParamRefusedError.READ_ONLY),
        ("MPC_XY_CRUISE", 21.0, ParamRefusedError.OUT_OF_RANGE),
        ("MPC_XY_CRUISE", math.nan, ParamRefusedError.OUT_OF_RANGE),
        ("MPC_XY_CRUISE", -math.inf, ParamRefusedError.OUT_OF_RANGE),
        ("COM_DL_LOSS_T", 4, ParamRefusedError.OUT_OF_RANGE),
    ],
)
def test_refusals_change_nothing(name, value, code):
    table = ParamTable()
    before = table.hash()
    with pytest.raises(ParamRefusedError) as refused:
        table.set(name, value)
    assert refused.value.code == code
    assert table.hash() == before


def test_type_has_to_match():
    with pytest.raises(ParamRefusedError, match="has type REAL32"):
        ParamTable().set_raw("MPC_XY_CRUISE", struct.pack("<i", 5), ParamType.INT32)


def test_bounds_themselves_pass_as_float32():
    table = ParamTable()
    for spec in table.specs:
        if not spec.read_only:
            table.set(
                spec.name, struct.unpack("<f", struct.pack("<f", spec.maximum))[0] if spec.type == 9 else spec.maximum
            )
            table.set(spec.name, spec.minimum)


def test_hash_follows_the_values():
    table = ParamTable()
    before = table.hash()
    table.set("MPC_XY_CRUISE", 7.0)
    changed = table.hash()
    table.set("MPC_XY_CRUISE", 5.0)
    assert changed != before == table.hash()


def test_flight_config_finds_every_parameter_and_its_defaults():
    table = ParamTable()
    config = FlightConfig.from_params(table.value)
    assert config.cruise_speed == 5.0
    assert config.battery.low == pytest.approx(0.15)
    table.set("MPC_XY_CRUISE", 9.0)
    assert FlightConfig.from_params(table.value).cruise_speed == 9.0
    defaults = FlightConfig()
    for name in FlightConfig.__dataclass_fields__:
        if name != "battery":
            assert getattr(config, name) == pytest.approx(getattr(defaults, name)), name


def test_bad_tables_and_overrides():
    spec = PARAM_SPECS[0]
    with pytest.raises(ValueError, match="twice"):
        ParamTable([spec, spec])
    with pytest.raises(ValueError, match="does not exist"):
        ParamTable(overrides={"NOPE": 1.0})
