# SPDX-License-Identifier: Apache-2.0
"""Ratchets between the engine and this package, in memory and over sockets, in both roles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_support import EngineParty, engine
from socket_support import (
    DRONE,
    TIMEOUT,
    drone_under_test,
    eventually,
    exchange,
    gcs_under_test,
    identity,
    settled,
)
from support import PSK

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.errors import RejectedError
from pqc_mav_wirespec.keyschedule import FEATURE_COMPACT, FEATURE_RATCHET, SessionKeys
from pqc_mav_wirespec.ratchet import RatchetInitiator, RatchetResponder
from pqc_mav_wirespec.suites import find_suite

LIGHT = "ML-512-AG-MD-44"
SUITES = (LIGHT, "HQC-192-CP-MD-65", "MC-8192-AS-MD-87")
BOTH = FEATURE_RATCHET | FEATURE_COMPACT


def session(suite: str, **changes: object) -> SessionKeys:
    keys = SessionKeys(find_suite(suite), b"session1", 41, bytes(32), bytes(32), b"k" * 32, features=FEATURE_RATCHET)
    return replace(keys, **changes)


def native(keys: SessionKeys, make: type, **more: object) -> EngineParty:
    place = (keys.session_id, keys.epoch, keys.ck)
    shape = {"hybrid": keys.hybrid, "features": keys.features, "ratchets": keys.ratchets}
    return EngineParty(make(keys.suite.id, PSK, place, **shape, **more))


def same_keys(ours: SessionKeys, theirs: EngineParty) -> bool:
    mine = (ours.session_id, ours.epoch, ours.k_d2g, ours.k_g2d, ours.ck)
    other = theirs.keys
    return other is not None and mine == (other.session_id, other.epoch, other.k_d2g, other.k_g2d, other.ck)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(("hybrid", "fresh"), [(True, True), (False, True), (True, False)])
def test_drone_of_this_package_with_the_engines_gcs(suite, hybrid, fresh):
    keys = session(suite, hybrid=hybrid, features=BOTH)
    drone = RatchetInitiator(keys, PSK, fresh=fresh, index=17)
    gcs = native(keys, engine.RatchetResponder)
    drone.feed(gcs.feed(drone.start()))
    assert drone.keys is not None, drone.error
    assert same_keys(drone.keys, gcs)
    assert gcs.native_keys.peer_index == 17
    assert drone.keys.peer_index == gcs.native_keys.own_index
    assert gcs.native_keys.ratchets == 1


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(("hybrid", "fresh"), [(True, True), (False, True), (True, False)])
def test_engines_drone_with_the_gcs_of_this_package(suite, hybrid, fresh):
    keys = session(suite, hybrid=hybrid)
    drone = native(keys, engine.RatchetInitiator, fresh=fresh)
    gcs = RatchetResponder(keys, PSK)
    drone.feed(gcs.feed(drone.start()))
    assert drone.status == "done", drone.error
    assert same_keys(gcs.keys, drone)


@pytest.mark.parametrize("change", [{"ratchets": 8}, {"features": 0}])
def test_refusals_are_understood_by_the_other_end(change):
    keys = session(LIGHT)
    drone, gcs = RatchetInitiator(keys, PSK), native(replace(keys, **change), engine.RatchetResponder)
    drone.feed(gcs.feed(drone.start()))
    assert isinstance(drone.error, RejectedError) and drone.error.code == 4
    other, refusing = native(keys, engine.RatchetInitiator), RatchetResponder(replace(keys, **change), PSK)
    other.feed(refusing.feed(other.start()))
    assert (other.error, other.reject_code) == ("rejected", 4)


@pytest.mark.parametrize(
    ("suite", "families"),
    [(LIGHT, find_suite(LIGHT).families), ("HQC-192-CP-MD-65", 0x0001)],
    ids=["of the suite", "of a ratchet's own KEM"],
)
def test_the_families_of_a_refusal_are_understood_by_the_other_end(suite, families):
    keys = session(suite)
    drone, gcs = RatchetInitiator(keys, PSK), native(keys, engine.RatchetResponder, avoided=families)
    drone.feed(gcs.feed(drone.start()))
    assert isinstance(drone.error, RejectedError)
    assert (drone.error.code, drone.error.detail) == (2, families)
    other, refusing = native(keys, engine.RatchetInitiator), RatchetResponder(keys, PSK, avoid=families)
    other.feed(refusing.feed(other.start()))
    assert (other.error, other.reject_code) == ("rejected", 2)


@pytest.mark.parametrize("compact", [False, True])
def test_engine_gcs_over_sockets(folders, compact):
    with gcs_under_test(folders, compact=compact) as (gcs, plain, drone):
        drone.features = FEATURE_RATCHET | FEATURE_COMPACT * compact
        first = drone.connect(find_suite(LIGHT), identity(folders, LIGHT))
        drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        assert first.features == drone.features
        psk = identity(folders, LIGHT).psk
        for number in range(1, 9):
            keys = drone.ratchet(psk, fresh=number % 2 == 0)
            assert (keys.epoch, keys.ratchets) == (number, number)
            exchange(plain, gcs, drone.receive_payload, drone.send)
            eventually(lambda expected=number: gcs.status()[0]["ratchets"] == expected)
        with pytest.raises(RejectedError):
            drone.ratchet(psk)
        again = drone.rekey(find_suite(LIGHT), identity(folders, LIGHT))
        assert (again.epoch, again.ratchets) == (9, 0)
        exchange(plain, gcs, drone.receive_payload, drone.send)
        totals = settled(gcs, drone)
        assert totals["hs_ratchets"] == 8
        assert totals["drop_unknown"] == totals["drop_auth_fail"] == 0


@pytest.mark.parametrize("compact", [False, True])
def test_engine_drone_over_sockets(folders, compact):
    features = FEATURE_RATCHET | FEATURE_COMPACT * compact
    with drone_under_test(folders, LIGHT, features=features, compact=compact) as (drone, plain, gcs, first):
        assert first.features == features
        for number in range(1, 4):
            gcs.send_control(DRONE, control.RekeyRequest(number, "", "test", ratchet=True))
            keys = gcs.accept_handshake(TIMEOUT)
            assert (keys.epoch, keys.ratchets, keys.suite) == (number, number, first.suite)
            result = gcs.receive_control(control.RekeyResult, TIMEOUT)
            assert (result.request_id, result.ok, result.epoch) == (number, True, number)
            exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))
            assert drone.status()[0]["ratchets"] == number
        gcs.station.keys_old = True
        gcs.send_control(DRONE, control.RekeyRequest(9, "", "test", ratchet=True))
        with pytest.raises(RejectedError):
            gcs.accept_handshake(TIMEOUT)
        result = gcs.receive_control(control.RekeyResult, TIMEOUT)
        assert (result.request_id, result.ok) == (9, False)
        assert "full rekey" in result.text
