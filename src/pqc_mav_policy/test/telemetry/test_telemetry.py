# SPDX-License-Identifier: Apache-2.0
"""From messages to a snapshot: ages, validity, sessions, outages, threats."""

from __future__ import annotations

import math

import pytest
from messages import GOOD, message

from pqc_mav_policy.telemetry.inputs import Outcome, Phase, Threat, TunnelState
from pqc_mav_policy.telemetry.telemetry import Telemetry

DEFAULT = GOOD["status"]["suite"]


def complete(now: float = 100.0) -> Telemetry:
    """Everything was heard at `now`."""
    telemetry = Telemetry(30.0, 10.0)
    for stream in ("battery", "thermal", "vehicle", "system", "threat"):
        telemetry.on(stream, message(stream), now)
    telemetry.on_link(message("link"), now)
    telemetry.on_status(message("status"), now)
    return telemetry


def test_a_complete_snapshot() -> None:
    seen = complete().snapshot(100.5, (DEFAULT,))
    assert seen.missing == ()
    assert seen.link.age_s == pytest.approx(0.7)
    assert (seen.battery.voltage_v, seen.battery.valid, seen.battery.age_s) == (16.0, True, 0.5)
    assert seen.battery.cells == 4
    assert (seen.thermal.temperature_c, seen.thermal.throttled) == (50.0, False)
    assert (seen.vehicle.armed, seen.vehicle.phase) == (True, Phase.CRUISE)
    assert (seen.link.gap_p95_s, seen.link.longest_silence_s, seen.link.jitter_s) == (0.01, 0.05, 0.001)
    assert seen.system.cpu_percent == 12.0
    assert (seen.session.state, seen.session.suite, seen.session.epoch) == (TunnelState.UP, DEFAULT, 0)
    assert seen.session.key_age_s == pytest.approx(1.5)
    assert seen.available == (DEFAULT,)


def test_the_time_left_for_ratchets_runs_on_and_an_older_proxy_has_none() -> None:
    telemetry = complete()
    assert telemetry.snapshot(100.0, ()).session.ratchet_for_s == 0.0
    telemetry.on_status(message("status", ratchets=3, ratchet_for_s=100.0), 100.0, age_s=10.0)
    session = telemetry.snapshot(120.0, ()).session
    assert (session.ratchets, session.ratchet_for_s) == (3, 70.0)
    assert telemetry.snapshot(500.0, ()).session.ratchet_for_s == 0.0


def test_nothing_heard_is_said_stream_by_stream() -> None:
    seen = Telemetry(30.0, 10.0).snapshot(1.0, ())
    assert len(seen.missing) == 4
    assert seen.missing[0] == "battery: nothing has been heard yet"
    assert not seen.session.alive


@pytest.mark.parametrize("stream", ["battery", "thermal", "vehicle"])
def test_an_invalid_stream_is_missing_with_its_reason(stream: str) -> None:
    telemetry = complete()
    telemetry.on(stream, message(stream, valid=False, reason="It is unplugged."), 100.0)
    seen = telemetry.snapshot(100.0, ())
    assert seen.missing == (f"{stream}: It is unplugged",)
    assert not getattr(seen, stream).valid


def test_an_age_includes_the_senders_account() -> None:
    telemetry = complete()
    telemetry.on("battery", message("battery"), 100.0, age_s=1.5)
    assert telemetry.snapshot(100.0, ()).battery.age_s == pytest.approx(1.5)
    telemetry.on_link(message("link", age_s=3.0), 100.0)
    assert telemetry.snapshot(100.0, ()).link.age_s == pytest.approx(3.0)


def test_unknown_figures_become_none() -> None:
    telemetry = complete()
    telemetry.on("battery", message("battery", voltage_rate_mv_per_min=math.nan, state_of_charge=math.nan), 100.0)
    telemetry.on("thermal", message("thermal", rate_c_per_min=math.inf), 100.0)
    telemetry.on_link(message("link", gap_p95_ms=math.nan, loss=math.nan), 100.0)
    seen = telemetry.snapshot(100.0, ())
    assert seen.battery.rate_mv_per_min is None
    assert seen.battery.state_of_charge is None
    assert seen.thermal.rate_c_per_min is None
    assert seen.link.gap_p95_s is None
    assert seen.link.loss is None


def test_only_the_ground_stations_view_of_the_link_counts() -> None:
    telemetry = Telemetry(30.0, 10.0)
    telemetry.on_link(message("link", side="local"), 100.0)
    telemetry.on_link(message("link", age_s=math.nan), 100.0)
    assert not telemetry.snapshot(100.0, ()).link.valid


def test_an_invalid_vehicle_is_not_known_to_be_armed_or_disarmed() -> None:
    telemetry = complete()
    telemetry.on("vehicle", message("vehicle", valid=False, armed=False, phase=77), 100.0)
    seen = telemetry.snapshot(100.0, ()).vehicle
    assert (seen.armed, seen.phase) == (None, Phase.UNKNOWN)


def test_switches_are_dated_by_the_age_of_the_keys() -> None:
    telemetry = complete()
    assert telemetry.snapshot(100.0, ()).session.last_switch_s == pytest.approx(99.0)
    telemetry.on_status(message("status", epoch=1, key_age_s=0.5), 110.0, age_s=2.0)
    seen = telemetry.snapshot(111.0, ()).session
    assert seen.last_switch_s == pytest.approx(107.5)
    assert seen.key_age_s == pytest.approx(3.5)


def test_repeated_status_of_the_same_keys_moves_nothing() -> None:
    telemetry = complete()
    telemetry.on_status(message("status", key_age_s=11.3), 110.0)
    assert telemetry.snapshot(110.0, ()).session.last_switch_s == pytest.approx(99.0)


def test_a_new_session_is_a_switch_even_with_the_same_suite_and_epoch() -> None:
    telemetry = complete()
    before = telemetry.snapshot(100.0, ()).session
    telemetry.on_status(message("status", state=1, suite=""), 110.0)
    telemetry.on_status(message("status", key_age_s=0.5), 112.0)
    seen = telemetry.snapshot(112.0, ()).session
    assert (seen.suite, seen.epoch) == (before.suite, before.epoch)
    assert (seen.last_switch_s, seen.key_age_s) == (111.5, 0.5)


def test_the_proxys_answer_counts_before_its_status_does_and_an_overtaken_status_does_not() -> None:
    telemetry = complete()
    telemetry.on_rekeyed("cs-mlkem512-aesgcm-falcon512", 1, 110.0)
    telemetry.on_status(message("status", key_age_s=11.0), 110.1)
    seen = telemetry.snapshot(110.5, ()).session
    assert (seen.suite, seen.epoch, seen.last_switch_s) == ("cs-mlkem512-aesgcm-falcon512", 1, 110.0)
    telemetry.on_status(message("status", key_age_s=20.0), 120.0)
    assert telemetry.snapshot(120.0, ()).session.suite == DEFAULT


def test_no_session_has_no_suite_but_remembers_the_last_switch() -> None:
    telemetry = complete()
    telemetry.on_status(message("status", state=1, suite=""), 110.0)
    seen = telemetry.snapshot(110.0, ()).session
    assert (seen.suite, seen.state, seen.alive) == ("", TunnelState.HANDSHAKING, False)
    assert seen.last_switch_s == pytest.approx(99.0)


@pytest.mark.parametrize(("after_s", "count"), [(29.9, 4), (30.0, 0)])
def test_outages_count_as_near_a_switch_for_a_while(after_s: float, count: int) -> None:
    telemetry = complete()
    telemetry.on_status(message("status", epoch=1, key_age_s=0.0), 110.0)
    for second in range(1, 5):
        telemetry.on_link(message("link", age_s=0.0, blackouts=second), 110.0 + second)
    assert telemetry.snapshot(110.0 + after_s, ()).link.blackouts_near_switch == count


def test_outages_before_a_switch_are_not_blamed_on_it() -> None:
    telemetry = complete()
    for second in range(1, 5):
        telemetry.on_link(message("link", age_s=0.0, blackouts=second), 100.0 + second)
    telemetry.on_status(message("status", epoch=1, key_age_s=0.0), 104.5)
    telemetry.on_link(message("link", age_s=0.0, blackouts=4), 105.0)
    assert telemetry.snapshot(105.0, ()).link.blackouts_near_switch == 0


def test_a_threat_counts_until_it_is_old() -> None:
    telemetry = complete()
    telemetry.on("threat", message("threat", level=2, kind="flood"), 100.0)
    assert telemetry.snapshot(110.0, ()).threat is Threat.ATTACK
    assert telemetry.snapshot(110.0, ()).threat_kind == "flood"
    assert telemetry.snapshot(110.1, ()).threat is Threat.NONE
    telemetry.on("threat", message("threat", level=9), 111.0)
    assert telemetry.snapshot(111.0, ()).threat is Threat.NONE


def test_what_is_handed_in_is_handed_on() -> None:
    outcome = Outcome("cs-x", False, 1.0)
    telemetry = complete()
    telemetry.on_status(message("status", blacklisted_suites=["cs-y"]), 100.0)
    seen = telemetry.snapshot(100.0, (), "cs-x", (outcome,))
    assert (seen.session.pending_suite, seen.outcomes, seen.blacklisted) == ("cs-x", (outcome,), ("cs-y",))


def test_the_clock_of_the_ground_is_known_while_the_probes_are_answered() -> None:
    telemetry = complete(10.0)
    assert telemetry.snapshot(10.0, ()).session.clock_offset_s is None
    telemetry.on_link(message("link", side="local", rtt_ms=1.0, rtt_min_ms=1.0, clock_offset_ms=-2500.0), 10.0)
    assert telemetry.snapshot(13.0, ()).session.clock_offset_s == pytest.approx(-2.5)
    assert telemetry.snapshot(13.1, ()).session.clock_offset_s is None
    telemetry.on_link(message("link", side="local", rtt_ms=1.0, rtt_min_ms=1.0, clock_offset_ms=math.nan), 14.0)
    assert telemetry.snapshot(14.0, ()).session.clock_offset_s is None


def test_the_queue_is_the_round_trip_above_the_least_one_of_this_end() -> None:
    telemetry = Telemetry(30.0, 10.0)
    telemetry.on_link(message("link"), 10.0)
    assert telemetry.snapshot(10.0, ()).link.queue_s is None
    telemetry.on_link(message("link", side="local", rtt_ms=620.0, rtt_min_ms=20.0), 10.0)
    assert telemetry.snapshot(13.0, ()).link.queue_s == pytest.approx(0.6)
    assert telemetry.snapshot(13.1, ()).link.queue_s is None
    telemetry.on_link(message("link", side="local", rtt_ms=math.nan, rtt_min_ms=20.0), 14.0)
    assert telemetry.snapshot(14.0, ()).link.queue_s is None
