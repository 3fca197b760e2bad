# SPDX-License-Identifier: Apache-2.0
import socket
import threading
from contextlib import closing, contextmanager

import pytest
from support import DRONE_ID, LIGHT, PSK, key_pair, policy_for

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError, RateLimitedError, RejectedError, WireError
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
def connected(suite=LIGHT, **options):
    with (
        closing(GcsPeer(policy_for(suite))) as gcs,
        closing(DronePeer(gcs.handshake_address, gcs.data_address)) as drone,
    ):
        results = []
        with served(gcs, results):
            keys = drone.connect(suite, identity(suite), **options)
        assert results == [keys]
        gcs.receive_control(control.Switched, TIMEOUT)
        yield drone, gcs


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
        datagram = drone.send(b"once")
        drone.send_raw(datagram, gcs.data_address)
        drone.send_raw(datagram[:20], gcs.data_address)
        drone.send_raw(datagram[:-1] + bytes([datagram[-1] ^ 1]), gcs.data_address)
        fresh = drone.send(b"fresh")
        drone.send_raw(fresh[:5] + bytes(8) + fresh[13:], gcs.data_address)
        drone.send_raw(fresh[:20] + b"\xff" + fresh[21:], gcs.data_address)
        drone.send(bytes(1433))
        drone.send_control(control.Close(control.Close.SHUTDOWN))
        gcs.drain()
        names = ("delivered", "control", "drop_malformed", "drop_unknown", "drop_replay", "drop_auth_fail")
        assert [gcs.counters[name] for name in names] == [2, 2, 2, 1, 2, 1]
        assert gcs.datagrams_received == drone.datagrams_sent
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
    with closing(GcsPeer(policy)) as gcs, closing(DronePeer(gcs.handshake_address, gcs.data_address)) as drone:
        results = []
        with served(gcs, results):
            first = drone.connect(LIGHT, identity())
        gcs.receive_control(control.Switched, TIMEOUT)
        in_flight = drone.send(b"on the old keys")
        with served(gcs, results):
            second = drone.rekey(other, identity(other))
        assert results == [first, second]
        assert (second.epoch, second.suite) == (1, other)
        assert second.session_id != first.session_id
        assert gcs.receive_payload(TIMEOUT) == b"on the old keys"
        gcs.send(DRONE_ID, b"still the old keys")
        assert drone.receive_payload(TIMEOUT) == b"still the old keys"
        assert gcs.receive_control(control.Switched, TIMEOUT) == control.Switched(1)
        gcs.send(DRONE_ID, b"the new keys")
        assert drone.receive_payload(TIMEOUT) == b"the new keys"
        drone.send_raw(in_flight, gcs.data_address)
        assert gcs.receive(lambda got: True, TIMEOUT).outcome is Outcome.REPLAY


def test_a_restarted_drone_gets_a_fresh_session():
    with connected() as (drone, gcs):
        gcs.send(DRONE_ID, b"before")
        assert drone.receive_payload(TIMEOUT) == b"before"
        with closing(DronePeer(gcs.handshake_address, gcs.data_address)) as restarted:
            results = []
            with served(gcs, results):
                keys = restarted.connect(LIGHT, identity())
            assert results == [keys]
            restarted.send(b"after")
            assert gcs.receive_payload(TIMEOUT) == b"after"
            gcs.send(DRONE_ID, b"welcome back")
            assert restarted.receive_payload(TIMEOUT) == b"welcome back"


def test_the_gcs_follows_the_newest_authenticated_packet():
    with connected() as (drone, gcs), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        older = drone.links[DRONE_ID].seal(b"older")
        newest = drone.links[DRONE_ID].seal(b"moved")
        forged = newest[:-1] + bytes([newest[-1] ^ 1])
        elsewhere.sendto(forged, gcs.data_address)
        assert gcs.receive(lambda got: True, TIMEOUT).outcome is Outcome.AUTH_FAIL
        assert gcs.addresses[DRONE_ID] == drone.data_address
        elsewhere.sendto(newest, gcs.data_address)
        assert gcs.receive_payload(TIMEOUT) == b"moved"
        assert gcs.addresses[DRONE_ID] == elsewhere.getsockname()
        drone.send_raw(older, gcs.data_address)
        assert gcs.receive_payload(TIMEOUT) == b"older"
        assert gcs.addresses[DRONE_ID] == elsewhere.getsockname()


@pytest.mark.parametrize("changes", [{"psk": bytes(32)}, {"drone_id": "stranger"}], ids=["wrong PSK", "unknown drone"])
def test_strangers_are_closed_in_silence(changes):
    results = []
    with (
        closing(GcsPeer(policy_for(LIGHT))) as gcs,
        closing(DronePeer(gcs.handshake_address, gcs.data_address)) as drone,
        served(gcs, results),
        pytest.raises(MalformedError, match="closed the connection"),
    ):
        drone.connect(LIGHT, identity(**changes))
    assert isinstance(results[0], AuthenticationError)


def test_a_forbidden_suite_is_rejected():
    policy, results = policy_for(LIGHT, allowed_suites=frozenset()), []
    with (
        closing(GcsPeer(policy)) as gcs,
        closing(DronePeer(gcs.handshake_address, gcs.data_address)) as drone,
        served(gcs, results),
        pytest.raises(RejectedError, match="suite not allowed"),
    ):
        drone.connect(LIGHT, identity())
    assert results[0].code == 2


def test_failures_use_up_the_tokens():
    with closing(GcsPeer(policy_for(LIGHT))) as gcs:
        for _ in range(5):
            with socket.create_connection(gcs.handshake_address) as client:
                client.sendall(b"\xff" * 5)
                with pytest.raises(MalformedError):
                    gcs.accept_handshake(TIMEOUT)
        with socket.create_connection(gcs.handshake_address), pytest.raises(RateLimitedError):
            gcs.accept_handshake(TIMEOUT)


def test_a_silent_client_is_dropped():
    with (
        closing(GcsPeer(policy_for(LIGHT))) as gcs,
        socket.create_connection(gcs.handshake_address),
        pytest.raises(MalformedError, match="silent"),
    ):
        gcs.accept_handshake(TIMEOUT)
