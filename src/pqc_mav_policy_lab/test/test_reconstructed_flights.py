# SPDX-License-Identifier: Apache-2.0
"""What flights of a real autopilot showed, each once wrong: see reconstructed_flights.py."""

from __future__ import annotations

from typing import Any

import pytest
from reconstructed_flights import Moment, flown
from scenes import CATALOGUE, suite

from pqc_mav_policy import senses
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import STRATEGIES, Settings, make
from pqc_mav_sensing.phase import Phase

P = PolicyParameters()
every_strategy = pytest.mark.parametrize("name", list(STRATEGIES))


def fly(flight: str, name: str = "cascade", **arguments: Any) -> list[Moment]:
    return flown(flight, make(name, CATALOGUE, Settings()), **arguments)


def rates(moments: list[Moment]) -> list[float]:
    return [moment.rate for moment in moments if moment.rate is not None]


@every_strategy
def test_a_full_pack_of_three_cells_is_no_emergency(name: str) -> None:
    """It was "Emergency: battery at 12.60 V, below 14 V", and level 1 on the ground."""
    moments = fly("full_3s", name)
    assert all(moment.decision.guard != "emergency" for moment in moments)
    assert moments[-1].inputs.battery.cells == 3


def test_a_pack_of_six_cells_triggers_at_a_sane_voltage() -> None:
    """It would have been at 2.33 V a cell."""
    found = [moment for moment in fly("six_cells") if moment.decision.guard == "emergency"]
    volts = found[0].inputs.battery.voltage_v
    assert volts is not None
    assert volts / 6 == pytest.approx(3.5, abs=0.01)
    assert "(6 cells)" in found[0].decision.reason


@pytest.mark.parametrize("cells", [0, 4])
def test_a_constant_voltage_has_no_rate(cells: int) -> None:
    """It had +2,450 mV/min at take-off and -507 mV/min 33 s after disarming: 16 mohm were assumed, times 21 A."""
    moments = fly("constant_voltage", cells=cells)
    assert len(rates(moments)) > 200
    assert max(map(abs, rates(moments))) < 15.0
    assert all(moment.decision.guard != "stress" for moment in moments)


def test_a_real_fall_is_seen_through_the_take_off() -> None:
    moments = fly("real_fall")
    assert all(moment.decision.guard != "stress" for moment in moments if moment.at_s <= 60)
    flying = [moment for moment in moments if moment.at_s >= 122]  # one window after the motors started
    assert all(moment.rate is not None and -760 < moment.rate < -640 for moment in flying)
    assert all(moment.decision.guard == "stress" for moment in flying)


def test_without_a_current_sensor_no_take_off_is_stress() -> None:
    moments = fly("no_current_sensor")
    assert all(moment.decision.guard != "stress" for moment in moments)
    known = {moment.at_s for moment in moments if moment.rate is not None}
    assert {20.0, 59.0, 120.0, 200.0, 280.0} <= known
    assert not known & {62.0, 70.0, 85.0, 227.0, 240.0}
    assert max(map(abs, rates(moments))) < 300.0


def test_a_descent_is_no_hover_and_no_keys_are_renewed_in_it() -> None:
    """Without EXTENDED_SYS_STATE, -1.5 m/s from 25 m was HOVER for 12 s, and keys were renewed in it."""
    moments = fly("descent")
    descent = [moment for moment in moments if 98 <= moment.at_s < 125]
    assert {moment.phase for moment in descent} == {Phase.LANDING}
    assert not any(moment.decision.acts for moment in descent)
    before = [moment for moment in moments if 78 <= moment.at_s < 95]
    assert {moment.phase for moment in before} == {Phase.HOVER}
    assert any(moment.decision.acts for moment in before)


@pytest.mark.parametrize("code", ["MC-8192-AG-MD-87", "MC-460-AG-MD-65"])
@every_strategy
def test_a_mceliece_session_in_use_at_take_off_is_not_left_in_mid_climb(name: str, code: str) -> None:
    moments = fly("constant_voltage", name, suite=suite(code))
    climb = [moment for moment in moments if moment.phase is Phase.TAKEOFF]
    assert len(climb) > 10
    assert not any(moment.decision.acts for moment in climb)


def test_the_autopilots_own_percentage_wins_over_an_assumed_capacity() -> None:
    charge = fly("own_percentage")[-1].inputs.battery.state_of_charge
    assert charge == pytest.approx(0.50, abs=0.01)
    counted = fly("own_percentage", capacity_ah=5.0)[-1].inputs.battery.state_of_charge
    assert counted is not None
    assert abs(counted - 0.50) > 0.05


@every_strategy
def test_an_autopilot_that_sends_nothing_but_heartbeats_does_not_hold_the_policy(name: str) -> None:
    moments = fly("no_streams", name)
    assert senses.lacking(senses.usable(moments[-1].inputs, P)) == ("battery: no battery reading has arrived yet",)
    assert not any(moment.decision.guard == "safety" for moment in moments)
    assert any(moment.decision.acts for moment in moments)
