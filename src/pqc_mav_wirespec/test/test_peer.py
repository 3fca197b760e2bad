# SPDX-License-Identifier: Apache-2.0
import socket
import threading
import time
from contextlib import closing, contextmanager

import pytest
from support import DRONE_ID, LIGHT, PSK, key_pair, policy_for

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import KIND_CONTROL, Outcome
from pqc_mav_wirespec.errors import MalformedError, RejectedError, WireError
from pqc_mav_wirespec.peer import DroneIdentity, DronePeer, GcsPeer
from pqc_mav_wirespec.suites import find_suite

SUITES = [find_suite(name) for name in ("ML-512-AG-MD-44", "ML-768-CP-MD-65", "HQC-128-AS-FA-512", "MC-348-AG-SP-128s")]
TIMEOUT = 20.0


def identity(suite=LIGHT, **changes):
    values = {"drone_id": DRONE_ID, "psk": PSK, "gcs_public": key_pair(suite.sig.token)[0]} | changes
    return DroneIdentity(**values)


@contextmanager
def served(gcs, results):
    """Serves one handshake of `gcs` while the block runs; appends its keys or error."""

    def serve():
        try:
            results.append(gcs.accept_handshake(TIMEOUT))
        except (WireError, TimeoutError) as error:
            results.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join(TIMEOUT)
        assert not thread.is_alive()


@contextmanager
def serving(gcs):
    """Serves datagrams of `gcs` while the block runs."""
    over = threading.Event()

    def serve():
        while not over.is_set():
            gcs.drain(0.02)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def eventually(condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.005)


@contextmanager
def connected(suite=LIGHT, **options):
    with (
        closing(GcsPeer(policy_for(suite))) as gcs,
        closing(DronePeer(gcs.address)) as drone,
    ):
        results = []
        with served(gcs, results):
            keys = drone.connect(suite, identity(suite), **options)
        assert results == [keys]
        settle(drone, gcs)
        yield drone, gcs


def settle(drone, gcs):
    """Until SWITCHED is at the gcs and RETURN and RESTART are told."""
    gcs.drain()
    drone.drain()
    gcs.drain()


@pytest.mark.parametrize("hybrid", [True, False], ids=["hybrid", "pure"])
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.short_code)
def test_data_flows_both_ways(suite, hybrid):
    with connected(suite, hybrid=hybrid) as (drone, gcs):
        for size in (0, 1, 280, 1432):
            payload = bytes(size)
            drone.send(payload)
            assert gcs.receive_payload(TIMEOUT) == payload
            gcs.send(DRONE_ID, payload)
            assert drone.receive_payload(TIMEOUT) == payload
        assert drone.accounted()
        assert gcs.accounted()
        assert gcs.datagrams_received == drone.datagrams_sent


def test_counters_account_for_every_packet_sent():
    with connected() as (drone, gcs):
        before, sent = gcs.counters.copy(), drone.datagrams_sent
        datagram = drone.send(b"once")
        drone.send_raw(datagram, gcs.address)
        drone.send_raw(datagram[:20], gcs.address)
        drone.send_raw(datagram[:-1] + bytes([datagram[-1] ^ 1]), gcs.address)
        fresh = drone.send(b"fresh")
        drone.send_raw(fresh[:5] + bytes(8) + fresh[13:], gcs.address)
        drone.send_raw(fresh[:20] + b"\xff" + fresh[21:], gcs.address)
        drone.send(bytes(1433))
        drone.send_raw(b"\x02" + fresh[1:], gcs.address)
        drone.send_control(control.Close(control.Close.SHUTDOWN))
        gcs.drain()
        names = ("delivered", "control", "drop_malformed", "drop_unknown", "drop_replay", "drop_auth_fail")
        assert [gcs.counters[name] - before[name] for name in names] == [2, 1, 3, 1, 2, 1]
        assert drone.datagrams_sent - sent == 10
        assert gcs.accounted()


def test_probe_is_answered():
    with connected() as (drone, gcs):
        thread = threading.Thread(target=lambda: gcs.receive_control(control.Probe, TIMEOUT))
        thread.start()
        result = drone.probe(TIMEOUT)
        thread.join(TIMEOUT)
        assert result.rtt_ns > 0
        assert abs(result.offset_ns) < result.rtt_ns  # both ends read the same clock here


def test_rekey_to_another_suite_keeps_data_flowing():
    policy = policy_for(LIGHT, sign_secrets={token: key_pair(token)[1] for token in ("mldsa44", "falcon1024")})
    other = find_suite("ML-1024-AS-FA-1024")
    with closing(GcsPeer(policy)) as gcs, closing(DronePeer(gcs.address)) as drone:
        results = []
        with served(gcs, results):
            first = drone.connect(LIGHT, identity())
        settle(drone, gcs)
        in_flight = drone.links[DRONE_ID].seal(b"on the old keys")
        used = drone.send(b"used on the old keys")
        with served(gcs, results):
            second = drone.rekey(other, identity(other))
        assert results == [first, second]
        assert (second.epoch, second.suite) == (1, other)
        assert second.session_id != first.session_id
        assert gcs.links[DRONE_ID].sending.keys == first
        gcs.send(DRONE_ID, b"still the old keys")
        assert drone.receive_payload(TIMEOUT) == b"still the old keys"
        drone.send_raw(in_flight, gcs.address)
        assert gcs.receive_control(control.Switched, TIMEOUT) == control.Switched(1)
        assert gcs.receive_payload(TIMEOUT) == b"on the old keys"
        gcs.send(DRONE_ID, b"the new keys")
        assert drone.receive_payload(TIMEOUT) == b"the new keys"
        assert gcs.links[DRONE_ID].sending.keys == second
        gcs.drain()
        drone.send_raw(used, gcs.address)
        assert gcs.receive(lambda got: got.outcome is not Outcome.CONTROL, TIMEOUT).outcome is Outcome.REPLAY


def test_a_restarted_drone_gets_a_fresh_session():
    with connected() as (drone, gcs):
        gcs.send(DRONE_ID, b"before")
        assert drone.receive_payload(TIMEOUT) == b"before"
        with closing(DronePeer(gcs.address)) as restarted:
            results = []
            with served(gcs, results):
                keys = restarted.connect(LIGHT, identity())
            assert results == [keys]
            restarted.send(b"after")
            assert gcs.receive_payload(TIMEOUT) == b"after"
            gcs.send(DRONE_ID, b"welcome back")
            assert restarted.receive_payload(TIMEOUT) == b"welcome back"


def test_the_gcs_follows_a_drone_that_moved():
    with connected() as (drone, gcs), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        elsewhere.setblocking(False)
        moved = drone.links[DRONE_ID].seal(b"moved" * 40)
        elsewhere.sendto(moved[:-1] + bytes([moved[-1] ^ 1]), gcs.address)
        assert gcs.receive(lambda got: True, TIMEOUT).outcome is Outcome.AUTH_FAIL
        elsewhere.sendto(moved, gcs.address)
        assert gcs.receive_payload(TIMEOUT) == b"moved" * 40
        gcs.send(DRONE_ID, b"copied")
        drone.answers_challenges = False

        def arrived():
            gcs.drain(0.02)
            try:
                datagram = elsewhere.recv(2000)
            except BlockingIOError:
                return None
            got = drone.classify(datagram, gcs.address)
            for tlv in got.controls:
                if isinstance(tlv, control.PathChallenge):
                    answer = control.encode(control.PathResponse(tlv.random))
                    elsewhere.sendto(drone.links[DRONE_ID].seal(answer, kind=KIND_CONTROL), gcs.address)
            elsewhere.sendto(drone.links[DRONE_ID].seal(b"on"), gcs.address)
            return got.payload

        eventually(lambda: arrived() == b"copied")
        eventually(lambda: arrived() is not None or gcs.paths[DRONE_ID].current == elsewhere.getsockname())
        eventually(lambda: arrived() is None and gcs.paths[DRONE_ID].current == elsewhere.getsockname())


def test_an_overtaking_copy_does_not_divert():
    with connected() as (drone, gcs), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
        thief.bind(("127.0.0.1", 0))
        for _ in range(30):
            stolen = drone.links[DRONE_ID].seal(b"up")
            thief.sendto(stolen, gcs.address)
            drone.send_raw(stolen, gcs.address)
            gcs.drain(0.02)
            drone.drain(0.01)
            assert gcs.paths[DRONE_ID].current == drone.address
        gcs.send(DRONE_ID, b"command")
        assert drone.receive_payload(TIMEOUT) == b"command"


@pytest.mark.parametrize(
    "changes",
    [{"psk": bytes(32)}, {"drone_id": "stranger"}, {"gcs_id": "south"}],
    ids=["wrong PSK", "unknown drone", "other gcs"],
)
def test_strangers_get_silence(changes):
    with closing(GcsPeer(policy_for(LIGHT))) as gcs, closing(DronePeer(gcs.address)) as drone:
        with serving(gcs), pytest.raises(MalformedError, match="did not answer"):
            drone.connect(LIGHT, identity(**changes), timeout=0.5)
        outcome = "hs_gate" if "gcs_id" in changes else "hs_tag"
        assert set(gcs.handshake_counters) == {outcome}
        assert not drone.handshake_counters


def test_a_forbidden_suite_is_rejected():
    policy, results = policy_for(LIGHT, allowed_suites=frozenset()), []
    with (
        closing(GcsPeer(policy)) as gcs,
        closing(DronePeer(gcs.address)) as drone,
        served(gcs, results),
        pytest.raises(RejectedError, match="suite not allowed"),
    ):
        drone.connect(LIGHT, identity())
    assert results[0].code == 2


def test_a_rekey_can_be_refused_and_changes_nothing():
    with connected() as (drone, gcs):
        gcs.station.policy.allowed_suites = frozenset()
        with serving(gcs), pytest.raises(RejectedError, match="suite not allowed"):
            drone.rekey(LIGHT, identity())
        drone.send(b"still here")
        assert gcs.receive_payload(TIMEOUT) == b"still here"
        assert gcs.links[DRONE_ID].sending.keys.epoch == 0


def test_a_gcs_may_demand_a_cookie():
    results = []
    with closing(GcsPeer(policy_for(LIGHT), demand_cookie=True)) as gcs, closing(DronePeer(gcs.address)) as drone:
        with served(gcs, results):
            keys = drone.connect(LIGHT, identity())
        assert results == [keys]
        assert gcs.handshake_counters["hs_limit"] >= 1
        settle(drone, gcs)
        with served(gcs, results):
            again = drone.connect(LIGHT, identity())
        assert results == [keys, again]
        assert drone.return_ticket is not None


def test_a_small_datagram_limit_of_the_drone_is_kept():
    results = []
    with closing(GcsPeer(policy_for(LIGHT))) as gcs, closing(DronePeer(gcs.address)) as drone:
        drone.max_datagram = 548
        sizes = []
        take = drone._on_other
        drone._on_other = lambda datagram, *rest: (sizes.append(len(datagram)), take(datagram, *rest))[1]
        with served(gcs, results):
            keys = drone.connect(LIGHT, identity())
        assert results == [keys]
        assert max(sizes) <= 548


def test_a_restarted_gcs_shows_its_token():
    restart_key = bytes(range(32))
    with closing(GcsPeer(policy_for(LIGHT), restart_key=restart_key)) as gcs:
        address = gcs.address
        with closing(DronePeer(address)) as drone:
            results = []
            with served(gcs, results):
                first = drone.connect(LIGHT, identity())
            settle(drone, gcs)
            assert drone.return_ticket is not None
            gcs.close()
            with closing(GcsPeer(policy_for(LIGHT), port=address[1], restart_key=restart_key)) as again:
                drone.send(b"anybody there?")
                again.drain()
                drone.drain()
                assert drone.restart_seen
                with served(again, results):
                    second = drone.connect(LIGHT, identity())
                assert results == [first, second]
                again.receive_control(control.Switched, TIMEOUT)
            with closing(GcsPeer(policy_for(LIGHT), port=address[1], restart_key=bytes(32))) as stranger:
                drone.restart_seen = False
                drone.send(b"anybody there?")
                stranger.drain()
                drone.drain()
                assert not drone.restart_seen
                assert drone.handshake_counters["hs_tag"] >= 1
