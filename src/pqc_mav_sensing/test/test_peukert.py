# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.peukert import ChargeCounter, Pack, cells_in

LIPO = chemistry.find("lipo")
NAN = math.nan


def drained(pack: Pack, current_a: float, temperature_c: float) -> float:
    """Charge [Ah] a full pack gives at a constant current until the counter says empty."""
    counter = ChargeCounter(pack, 1.0)
    second = 0
    while counter.charge > 0.0:
        counter.draw(float(second), current_a, temperature_c)
        second += 1
    return counter.used_ah


@pytest.mark.parametrize("current_a", [5.0, 20.0, 80.0])
@pytest.mark.parametrize("temperature_c", [25.0, 0.0])
def test_a_constant_discharge_gives_peukerts_capacity(current_a: float, temperature_c: float) -> None:
    """Peukert 1897: C(I) = C (I_rated / I)^(k - 1), times the temperature's part."""
    expected = 5.0 * (5.0 / current_a) ** 0.05 * (1.0 if temperature_c == 25.0 else 1.0 - 0.006 * 25.0)
    assert drained(Pack(LIPO, 5.0, 4), current_a, temperature_c) == pytest.approx(expected, rel=0.01)


def test_endurance_is_peukerts_time() -> None:
    """t = (C / I) (I_rated / I)^(k - 1), and it runs down as time goes by."""
    counter = ChargeCounter(Pack(LIPO, 5.0, 4), 1.0)
    counter.draw(0.0, 20.0, 25.0)
    full_s = 3600.0 * 5.0 / 20.0 * (5.0 / 20.0) ** 0.05
    assert counter.endurance_s(25.0) == pytest.approx(full_s)
    for second in range(1, 101):
        counter.draw(float(second), 20.0, 25.0)
    assert counter.endurance_s(25.0) == pytest.approx(full_s - 100.0, rel=0.001)


def test_fast_then_slow_is_worse_than_the_mean_current() -> None:
    pack = Pack(LIPO, 5.0, 4)
    steady, varying = ChargeCounter(pack, 1.0), ChargeCounter(pack, 1.0)
    for second in range(201):
        steady.draw(float(second), 30.0, 25.0)
        varying.draw(float(second), 50.0 if second % 20 < 10 else 10.0, 25.0)
    assert varying.used_ah == pytest.approx(steady.used_ah, rel=0.01)
    assert varying.charge < steady.charge


@given(st.floats(0.0, 500.0), st.floats(-40.0, 80.0), st.sampled_from(list(chemistry.load().values())))
def test_capacity_is_never_more_than_rated_nor_absurdly_little(
    current_a: float, temperature_c: float, profile: chemistry.Chemistry
) -> None:
    pack = Pack(profile, 5.0, 4)
    capacity = pack.capacity_at(current_a, temperature_c)
    assert 0.2 * 5.0 < capacity <= 5.0
    assert pack.capacity_at(current_a + 10.0, temperature_c) <= capacity
    assert pack.capacity_at(current_a, NAN) >= capacity


@given(st.lists(st.tuples(st.floats(-5.0, 60.0), st.floats(0.01, 20.0)), max_size=40), st.floats(0.0, 1.0))
def test_charge_stays_in_range_and_gaps_are_not_counted(steps: list[tuple[float, float]], start: float) -> None:
    counter, at_s, expected = ChargeCounter(Pack(LIPO, 5.0, 4), start), 0.0, 0.0
    last_a = None
    for current_a, step_s in steps:
        before_s, at_s = at_s, at_s + step_s
        if last_a is not None and at_s - before_s <= ChargeCounter.LONGEST_STEP_S:
            expected += (last_a + current_a) / 2 * (at_s - before_s) / 3600
        last_a = current_a
        counter.draw(at_s, current_a, 25.0)
        assert 0.0 <= counter.charge <= 1.0
    assert counter.used_ah == pytest.approx(expected, abs=1e-9)


def test_an_unknown_current_is_not_counted() -> None:
    counter = ChargeCounter(Pack(LIPO, 5.0, 4), 0.5)
    for second, current_a in enumerate([10.0, 10.0, NAN, NAN, 10.0, 10.0]):
        counter.draw(float(second), current_a, 25.0)
    assert counter.used_ah == pytest.approx(2 * 10.0 / 3600)
    assert math.isnan(ChargeCounter(Pack(LIPO, 5.0, 4), 0.5).endurance_s(25.0))


def test_the_first_estimate_sees_through_the_drop_under_load() -> None:
    pack = Pack(LIPO, 5.0, 4)
    assert pack.resistance_ohm == pytest.approx(0.016)
    resting_v = 4 * 3.87
    assert pack.charge_from_voltage(resting_v, NAN) == pytest.approx(0.6)
    assert pack.charge_from_voltage(resting_v - 40.0 * 0.016, 40.0) == pytest.approx(0.6)


@pytest.mark.parametrize("cells", range(1, 7))
def test_a_full_lihv_pack_is_no_empty_lipo_pack_of_one_cell_more(cells: int) -> None:
    assert cells_in(4.35 * cells, LIPO) == cells


@pytest.mark.parametrize(
    ("voltage", "cells"),
    [
        (16.8, 4),
        (14.8, 4),
        (12.6, 3),
        (11.1, 3),
        (3.7, 1),
        (25.2, 6),
        (22.8, 6),
        (50.4, 12),
        (48.0, 12),
        (17.6, 5),
        (22.0, 6),
        (0.3, 0),
        (120.0, 0),
    ],
)
def test_cells_are_guessed_from_the_voltage(voltage: float, cells: int) -> None:
    assert cells_in(voltage, LIPO) == cells


def test_the_cells_of_other_chemistries_have_their_own_highest_voltage() -> None:
    assert [cells_in(volts, chemistry.find("nimh")) for volts in (7.2, 8.4)] == [6, 6]
    assert [cells_in(volts, chemistry.find("liion")) for volts in (17.4, 25.2)] == [5, 6]
