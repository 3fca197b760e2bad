# SPDX-License-Identifier: Apache-2.0
"""The running engine against this package's peers over real sockets, in both roles."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest
from socket_support import (
    DRONE,
    DROPS,
    LOCAL,
    TIMEOUT,
    application_address,
    drone_peer,
    drone_under_test,
    engine_drone,
    engine_gcs,
    eventually,
    exchange,
    gcs_under_test,
    identity,
    plain_socket,
    settled,
)

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import KIND_CONTROL, KIND_DATA, Outcome
from pqc_mav_wirespec.errors import MalformedError, RejectedError
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.suites import find_suite

CASES = [
    ("ML-512-AG-MD-44", True, False),
    ("ML-768-CP-MD-65", False, True),
    ("HQC-128-AS-FA-512", True, False),
    ("MC-8192-AG-FA-1024", True, True),
]
CASE_IDS = [f"{name}-{'hybrid' if hybrid else 'pure'}{'-signed' * signed}" for name, hybrid, signed in CASES]
QUICK = {"keepalive_s": 0.2, "degraded_after_s": 0.6}


@pytest.mark.parametrize(("suite", "hybrid", "signed"), CASES, ids=CASE_IDS)
def test_engine_as_gcs(folders, suite, hybrid, signed):
    required = {f"drone.{DRONE}.require_signature": signed}
    with gcs_under_test(folders, **required) as (gcs, plain, drone):
        keys = drone.connect(find_suite(suite), identity(folders, suite, signed), hybrid=hybrid)
        exchange(plain, gcs, drone.receive_payload, drone.send)
        assert abs(drone.probe(TIMEOUT).rtt_ns) > 0
        assert drone.receive_control(control.LinkReport, TIMEOUT).window_ms > 0
        eventually(lambda: gcs.status()[0]["state"] == "UP")
        [status] = gcs.status()
        expected = {"state": "UP", "suite": keys.suite.id, "epoch": 0, "hybrid": hybrid, "drone_signed": signed}
        assert {name: status[name] for name in expected} == expected
        assert status["session_id"] == keys.session_id.hex()
        assert settled(gcs, drone)["delivered"] == 3
        assert drone.accounted()


@pytest.mark.parametrize(("suite", "hybrid", "signed"), CASES, ids=CASE_IDS)
def test_engine_as_drone(folders, suite, hybrid, signed):
    with drone_under_test(folders, suite, hybrid=hybrid, sign=signed) as (drone, plain, gcs, keys):
        assert (keys.suite.short_code, keys.hybrid, keys.drone_signed) == (suite, hybrid, signed)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))
        assert abs(gcs.probe(DRONE, TIMEOUT).rtt_ns) > 0
        assert gcs.receive_control(control.LinkReport, TIMEOUT).window_ms > 0
        eventually(lambda: drone.status()[0]["state"] == "UP")
        eventually(lambda: drone.status()[0]["session_id"] == keys.session_id.hex())
        assert settled(drone, gcs)["delivered"] == 3
        assert gcs.accounted()


def test_keepalive_and_close_of_an_idle_engine(folders):
    with gcs_under_test(folders, **QUICK) as (gcs, _, drone):
        drone.connect(find_suite("ML-512-AG-MD-44"), identity(folders, "ML-512-AG-MD-44"))
        for _ in range(3):
            drone.receive_control(control.Keepalive, TIMEOUT)
        gcs.stop()
        assert drone.receive_control(control.Close, TIMEOUT) == control.Close(control.Close.SHUTDOWN)


def attack(peer, target, datagram):
    """Sends what an attacker can make of one captured datagram; returns how often each drop counter must rise."""
    flipped = datagram[:-1] + bytes([datagram[-1] ^ 1])
    forged_high = datagram[:13] + (2**40).to_bytes(8, "big") + datagram[21:]
    beyond = datagram[:13] + (2**48).to_bytes(8, "big") + datagram[21:]
    other_session = datagram[:5] + bytes(8) + datagram[13:]
    older_version = b"\x02" + datagram[1:]
    other_ids = datagram[:1] + bytes([datagram[1] ^ 1]) + datagram[2:]
    for raw in (
        datagram,
        datagram,
        flipped,
        forged_high,
        beyond,
        other_session,
        other_ids,
        older_version,
        datagram[:37],
        b"",
        b"\xfd" * 300,
    ):
        peer.send_raw(raw, target)
    # the flipped copy has a sequence that was seen, so it is a replay before it is a forgery
    return {"drop_replay": 3, "drop_auth_fail": 1, "drop_seq_old": 1, "drop_unknown": 1, "drop_malformed": 5}


def test_attacks_on_the_gcs_are_counted_and_harmless(folders):
    suite = "ML-768-CP-MD-65"
    with gcs_under_test(folders) as (gcs, plain, drone):
        drone.connect(find_suite(suite), identity(folders, suite))
        datagram = drone.send(b"once")
        assert plain.recv(100) == b"once"
        expected = attack(drone, drone.gcs_address, datagram)
        drone.send(b"still here")
        assert plain.recv(100) == b"still here"
        totals = settled(gcs, drone)
        assert {name: totals[name] for name in DROPS if totals[name]} == expected
        assert totals["delivered"] == 2


def test_attacks_on_the_drone_are_counted_and_harmless(folders):
    with drone_under_test(folders, "ML-768-AS-MD-65") as (drone, plain, gcs, _):
        datagram = gcs.send(DRONE, b"once")
        assert plain.recv(100) == b"once"
        before = drone.totals()  # what the gcs said before the drone had its keys
        expected = attack(gcs, gcs.paths[DRONE].current, datagram)
        gcs.send(DRONE, b"still here")
        assert plain.recv(100) == b"still here"
        totals = settled(drone, gcs)
        assert {name: totals[name] - before[name] for name in DROPS if totals[name] > before[name]} == expected
        assert totals["delivered"] == 2


def test_payloads_beyond_the_limit_are_malformed(folders):
    suite = "ML-512-AG-MD-44"
    with gcs_under_test(folders) as (gcs, plain, drone):
        drone.connect(find_suite(suite), identity(folders, suite))
        for size in (1433, 2000, 65469, 1432):
            drone.send(bytes(size))
        assert plain.recv(2000) == bytes(1432)
        assert settled(gcs, drone)["drop_malformed"] == 3


def test_reports_and_probes_leave_in_turn(folders):
    """Half a second apart, so that an idle link is heard twice a second: never both in one frame."""
    suite = "ML-512-AG-MD-44"
    with gcs_under_test(folders) as (_, _, drone):
        drone.connect(find_suite(suite), identity(folders, suite))
        wanted = {control.LinkReport, control.Probe}
        seen = set()
        while seen != wanted:
            got = drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            kinds = {type(tlv) for tlv in got.controls} & wanted
            assert len(kinds) < 2
            seen |= kinds


def test_unusable_control_frames_are_counted(folders):
    suite = "ML-512-AG-MD-44"
    with gcs_under_test(folders) as (gcs, _, drone):
        drone.connect(find_suite(suite), identity(folders, suite))
        drone.send_raw(drone.links[DRONE].seal(b"\x07\x00", kind=KIND_CONTROL), drone.gcs_address)
        # nothing of an unusable frame is acted on: the PROBE in front of the broken TLV gets no reply
        half = control.encode(control.Probe(77, 0)) + b"\x06\x00"
        drone.send_raw(drone.links[DRONE].seal(half, kind=KIND_CONTROL), drone.gcs_address)
        drone.probe(TIMEOUT)
        assert settled(gcs, drone)["drop_decrypt_fail"] == 2


def test_engine_gcs_follows_a_drone_that_moves_and_restarts(folders):
    suite = "ML-512-CP-FA-512"
    with plain_socket() as plain, engine_gcs(folders, plain) as gcs:
        with drone_peer(gcs) as drone, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
            first = drone.connect(find_suite(suite), identity(folders, suite))
            drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            drone.answers_challenges = False
            elsewhere.bind((LOCAL, 0))
            elsewhere.settimeout(TIMEOUT)

            def sent(content, kind=KIND_DATA):
                elsewhere.sendto(drone.links[DRONE].seal(content, kind=kind), drone.gcs_address)

            def received():
                got = drone.classify(elsewhere.recv(2000), drone.gcs_address)
                for tlv in got.controls:
                    if isinstance(tlv, control.PathChallenge):
                        sent(control.encode(control.PathResponse(tlv.random)), kind=KIND_CONTROL)
                return got

            sent(b"moved")
            assert plain.recv(100) == b"moved"
            eventually(lambda: any(isinstance(tlv, control.PathChallenge) for tlv in received().controls))
            plain.sendto(b"follows", application_address(gcs))
            eventually(lambda: received().payload == b"follows")
        with drone_peer(gcs) as restarted:
            second = restarted.connect(find_suite(suite), identity(folders, suite))
            assert second.session_id != first.session_id
            restarted.send(b"back")
            assert plain.recv(100) == b"back"
            plain.sendto(b"welcome", application_address(gcs))
            assert restarted.receive_payload(TIMEOUT) == b"welcome"
            eventually(lambda: gcs.status()[0]["session_id"] == second.session_id.hex())


def test_an_overtaking_copy_does_not_divert_what_the_engine_sends(folders):
    suite = "ML-512-AG-MD-44"
    with gcs_under_test(folders) as (gcs, plain, drone), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
        thief.bind((LOCAL, 0))
        drone.connect(find_suite(suite), identity(folders, suite))
        for number in range(20):
            stolen = drone.links[DRONE].seal(b"up %d" % number)
            thief.sendto(stolen, drone.gcs_address)
            drone.send_raw(stolen, drone.gcs_address)
            assert plain.recv(100) == b"up %d" % number
            plain.sendto(b"down %d" % number, application_address(gcs))
            assert drone.receive_payload(TIMEOUT) == b"down %d" % number


def test_engine_drone_heals_after_a_restart_of_the_gcs(folders):
    """With the restart key of the former instance: long before its silence timer."""
    with drone_under_test(folders, "ML-512-AG-MD-44", reconnect_after_s=60.0) as (drone, plain, gcs, first):
        port, restart_key = gcs.address[1], gcs.restart_key
        gcs.drain()
        gcs.close()
        with closing(GcsPeer(load_gcs_policy(folders[0]), LOCAL, port, restart_key=restart_key)) as again:
            plain.sendto(b"wakes the new instance", application_address(drone))
            second = again.accept_handshake(TIMEOUT)
            assert (second.epoch, second.session_id != first.session_id) == (0, True)
            again.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            exchange(plain, drone, again.receive_payload, lambda payload: again.send(DRONE, payload))
            eventually(lambda: drone.status()[0]["handshakes_ok"] == 2)


def test_engine_drone_heals_after_a_gcs_that_lost_its_restart_key(folders):
    with drone_under_test(folders, "ML-512-AG-MD-44", **QUICK) as (drone, plain, gcs, first):
        port = gcs.address[1]
        gcs.close()
        with closing(GcsPeer(load_gcs_policy(folders[0]), LOCAL, port)) as again:
            second = again.accept_handshake(TIMEOUT)
            assert second.session_id != first.session_id
            again.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            exchange(plain, drone, again.receive_payload, lambda payload: again.send(DRONE, payload))


def test_engine_drone_answers_a_demand_for_a_cookie(folders):
    with (
        closing(GcsPeer(load_gcs_policy(folders[0]), demand_cookie=True)) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, "ML-512-AG-MD-44") as drone,
    ):
        gcs.accept_handshake(TIMEOUT)
        assert gcs.handshake_counters["hs_limit"] >= 1
        gcs.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))


def test_engine_gcs_restarts_with_its_key(folders):
    suite = "ML-512-AG-MD-44"
    with plain_socket() as plain, engine_gcs(folders, plain) as gcs, drone_peer(gcs) as drone:
        port = gcs.ports()["data"]
        drone.connect(find_suite(suite), identity(folders, suite))
        eventually(lambda: drone.drain(0.05) is None and drone.return_ticket is not None)
        gcs.stop()
        with engine_gcs(folders, plain, data_port=port):
            drone.send(b"anybody there?")
            drone.drain()
            assert drone.restart_seen
            drone.connect(find_suite(suite), identity(folders, suite))
            drone.send(b"back")
            assert plain.recv(100) == b"back"


def test_engine_gcs_refuses_with_codes_only_behind_the_gate(folders):
    suite = "ML-512-AG-MD-44"
    allowed = {"allowed_suites": ["cs-mlkem768-aesgcm-mldsa65"]}
    with gcs_under_test(folders, **allowed) as (gcs, _, drone):
        with pytest.raises(RejectedError) as rejected:
            drone.connect(find_suite(suite), identity(folders, suite))
        assert rejected.value.code == 2
        drone.handshake_counters.clear()
        with pytest.raises(MalformedError, match="did not answer"):
            drone.connect(find_suite(suite), identity(folders, suite, psk=bytes(32)), timeout=0.5)
        assert not drone.handshake_counters
        eventually(lambda: gcs.totals()["hs_tag"] >= 3)
        assert gcs.totals()["hs_completed"] == 0
