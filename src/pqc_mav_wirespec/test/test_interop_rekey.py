# SPDX-License-Identifier: Apache-2.0
"""Make before break between the running engine and this package's peers: no packet is lost at a change of keys."""

from __future__ import annotations

import time

import pytest
from socket_support import (
    DRONE,
    TIMEOUT,
    application_address,
    drone_under_test,
    eventually,
    exchange,
    gcs_under_test,
    identity,
    in_background,
    settled,
)

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.errors import RejectedError
from pqc_mav_wirespec.suites import find_suite

SUITE = find_suite("ML-512-AG-MD-44")


def test_engine_drone_rekeys_when_asked_in_band(folders):
    target = "cs-mlkem1024-ascon128a-falcon1024"
    with drone_under_test(folders, "ML-512-AG-MD-44") as (drone, plain, gcs, first):
        gcs.send_control(DRONE, control.RekeyRequest(41, target, "test"))
        second = gcs.accept_handshake(TIMEOUT)
        assert (second.suite.id, second.epoch, second.session_id != first.session_id) == (target, 1, True)
        result = gcs.receive_control(control.RekeyResult, TIMEOUT)
        assert (result.request_id, result.ok, result.epoch) == (41, True, 1)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))
        assert gcs.links[DRONE].sending.keys == second
        assert gcs.counters["drop_unknown"] == 0


def test_engine_gcs_asks_for_a_rekey_in_band(folders):
    suite, target = "ML-512-AG-MD-44", "ML-768-CP-MD-65"
    with gcs_under_test(folders) as (gcs, plain, drone):
        drone.connect(find_suite(suite), identity(folders, suite))
        drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        results = []
        with in_background(lambda: gcs.request_rekey(DRONE, find_suite(target).id, "test", TIMEOUT), results):
            request = drone.receive_control(control.RekeyRequest, TIMEOUT)
            assert (request.suite, request.reason) == (find_suite(target).id, "test")
            keys = drone.rekey(find_suite(request.suite), identity(folders, target))
            drone.send_control(control.RekeyResult(request.request_id, True, keys.epoch, 1000, ""))
        assert results[0]["ok"], results
        assert (results[0]["suite"], results[0]["epoch"]) == (find_suite(target).id, 1)
        exchange(plain, gcs, drone.receive_payload, drone.send)
        eventually(lambda: gcs.status()[0]["epoch"] == 1)
        assert settled(gcs, drone)["drop_unknown"] == 0


def connected(drone, folders):
    keys = drone.connect(SUITE, identity(folders, SUITE.id))
    drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
    return keys


def test_engine_gcs_sends_on_the_old_keys_until_the_new_are_used(folders, monkeypatch):
    with gcs_under_test(folders) as (gcs, plain, drone):
        connected(drone, folders)
        waiting = []
        with monkeypatch.context() as patch:
            patch.setattr(drone, "_install", waiting.append)
            new = drone.rekey(SUITE, identity(folders, SUITE.id))
        # the drone's end holds only the old keys yet, and still understands the gcs
        plain.sendto(b"old keys", application_address(gcs))
        assert drone.receive_payload(TIMEOUT) == b"old keys"
        drone.links[DRONE].install(new, time.monotonic())
        drone.send(b"first packet on the new keys")
        assert plain.recv(100) == b"first packet on the new keys"
        plain.sendto(b"new keys", application_address(gcs))
        assert drone.receive_payload(TIMEOUT) == b"new keys"
        assert drone.links[DRONE].sending.used


def test_engine_gcs_opens_old_packets_for_the_grace_and_no_longer(folders):
    with gcs_under_test(folders, grace_s=0.5) as (gcs, plain, drone):
        connected(drone, folders)
        held = [drone.links[DRONE].seal(b"late") for _ in range(2000)]
        drone.rekey(SUITE, identity(folders, SUITE.id))
        drone.send(b"new")
        assert plain.recv(100) == b"new"
        drone.send_raw(held.pop(), drone.gcs_address)
        assert plain.recv(100) == b"late"

        def refused():
            drone.send_raw(held.pop(), drone.gcs_address)
            return gcs.totals()["drop_unknown"] > 0

        eventually(refused)
        totals = settled(gcs, drone)
        assert totals["drop_seq_old"] == totals["drop_replay"] == totals["drop_auth_fail"] == 0


def test_a_failed_rekey_leaves_the_session_untouched(folders):
    with gcs_under_test(folders, allowed_suites=[SUITE.id]) as (gcs, plain, drone):
        old = connected(drone, folders)
        other = find_suite("ML-512-AG-FA-512")
        for _ in range(3):
            with pytest.raises(RejectedError, match="suite not allowed"):
                drone.rekey(other, identity(folders, other.id))
        assert gcs.status()[0]["session_id"] == old.session_id.hex()
        exchange(plain, gcs, drone.receive_payload, drone.send)
        assert settled(gcs, drone)["drop_unknown"] == 0
