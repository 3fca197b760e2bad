# SPDX-License-Identifier: Apache-2.0
"""Compact headers and bundles: the running engine against this package's peers, and both codecs byte by byte."""

import itertools
from contextlib import closing
from dataclasses import replace

import pytest
from engine_support import OUTCOMES, engine, engine_initiator, engine_keys, engine_responder, own_keys
from hypothesis import example, given, settings
from hypothesis import strategies as st
from socket_support import (
    DRONE,
    TIMEOUT,
    application_address,
    engine_drone,
    eventually,
    exchange,
    gcs_under_test,
    identity,
    plain_socket,
    settled,
)
from support import LIGHT, VECTORS, initiator_for, policy_for
from vectorfile import VectorFile

from pqc_mav_wirespec import bundle, control
from pqc_mav_wirespec.dataplane import (
    KIND_BUNDLE,
    KIND_CONTROL,
    Direction,
    Outcome,
    ReceiveKey,
    SendKey,
    nearest_sequence,
)
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.handshake import Responder
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.keyschedule import FEATURE_BUNDLES, FEATURE_COMPACT, SessionKeys
from pqc_mav_wirespec.suites import find_suite

SUITE = "ML-512-AG-MD-44"
ON = {"compact": True}


@pytest.mark.parametrize("asked", range(4))
@pytest.mark.parametrize("granted", range(4))
def test_both_agree_on_the_intersection(asked, granted):
    pairs = [
        (engine_initiator(LIGHT, features=asked), Responder(policy_for(LIGHT, features=granted))),
        (initiator_for(LIGHT, features=asked, index=200), engine_responder(LIGHT, features=granted)),
    ]
    for initiator, responder in pairs:
        responder_m2 = responder.feed(initiator.start())
        initiator.feed(responder.feed(initiator.feed(responder_m2)))
        for party in (initiator, responder):
            features = party.native_keys.features if hasattr(party, "native_keys") else party.keys.features
            assert features == asked & granted
        assert own_or_native(initiator).k_d2g == own_or_native(responder).k_d2g


def own_or_native(party):
    return own_keys(party.native_keys) if hasattr(party, "native_keys") else party.keys


def test_engine_as_gcs(folders):
    with gcs_under_test(folders, **ON) as (gcs, plain, drone):
        drone.features = FEATURE_COMPACT
        keys = drone.connect(find_suite(SUITE), identity(folders, SUITE))
        assert keys.features == FEATURE_COMPACT
        exchange(plain, gcs, drone.receive_payload, drone.send)
        assert gcs.status()[0]["compact"]
        assert drone.send(b"forty")[:2] == bytes([0x80, keys.peer_index])
        assert plain.recv(100) == b"forty"
        drone.probe(TIMEOUT)
        drone.receive_control(control.Seen, TIMEOUT)
        eventually(lambda: drone.links[DRONE].sending.send.seen >= 0 or not drone.drain(0.1))
        again = drone.rekey(find_suite(SUITE), identity(folders, SUITE))
        assert again.peer_index != keys.peer_index
        exchange(plain, gcs, drone.receive_payload, drone.send)
        totals = settled(gcs, drone)
        assert not any(count for name, count in totals.items() if name.startswith("drop_"))
        assert drone.accounted()


@pytest.mark.parametrize("first_index", [0, 300])
def test_engine_as_drone(folders, first_index):
    policy = replace(load_gcs_policy(folders[0]), features=FEATURE_COMPACT, indices=itertools.count(first_index))
    with (
        closing(GcsPeer(policy)) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, SUITE, **ON) as drone,
    ):
        keys = gcs.accept_handshake(TIMEOUT)
        assert (keys.features, keys.own_index) == (FEATURE_COMPACT, first_index)
        gcs.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))
        gcs.probe(DRONE, TIMEOUT)
        assert gcs.receive_control(control.Seen, TIMEOUT).highest >= 3
        before = drone.stats()[0]["enc_tx_bytes"]
        plain.sendto(bytes(40), application_address(drone))
        assert gcs.receive_payload(TIMEOUT) == bytes(40)
        # The bytes are counted after the system call, and the packet may be here before that.
        eventually(lambda: drone.stats()[0]["enc_tx_bytes"] - before >= 40 + (20 if first_index == 0 else 21))
        assert gcs.links[DRONE].sending.send.keys.peer_index == keys.peer_index
        assert gcs.accounted()
        assert gcs.counters["drop_auth_fail"] == gcs.counters["drop_malformed"] == gcs.counters["drop_unknown"] == 0


def test_a_compact_end_and_a_long_one_speak_long(folders):
    with gcs_under_test(folders, **ON) as (gcs, plain, drone):
        assert drone.connect(find_suite(SUITE), identity(folders, SUITE)).features == 0
        exchange(plain, gcs, drone.receive_payload, drone.send)
    with gcs_under_test(folders) as (gcs, plain, drone):
        drone.features = FEATURE_COMPACT
        assert drone.connect(find_suite(SUITE), identity(folders, SUITE)).features == 0
        exchange(plain, gcs, drone.receive_payload, drone.send)


@settings(max_examples=2000)
@given(st.integers(0, 65535), st.one_of(st.integers(-1, 200_000), st.integers(0, 2**48)))
def test_the_nearest_sequence_is_nearest(low, highest):
    found, expected = nearest_sequence(low, highest), highest + 1
    assert found % 65536 == low
    assert found >= 0
    for other in (found - 65536, found + 65536):
        assert other < 0 or (abs(found - expected), -found) < (abs(other - expected), -other)


steps = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 200), st.integers(15_000, 140_000)),
        st.booleans(),
        st.booleans(),
        st.integers(0, 260),
    ),
    max_size=40,
)


@settings(max_examples=200)
@example([(0, False, False, 300), (0, True, False, 300), (1, False, False, 300)], 0, 64)  # a number used twice
@given(steps, st.sampled_from([0, 7, 255, 256, 40_000]), st.sampled_from([64, 1024, 8192]))
def test_same_fate_of_any_sequence_of_datagrams(script, index, window_bits):
    """Both forms, any order, control frames among them, some damaged at one bit."""
    plain = SessionKeys(find_suite("ML-768-AG-MD-65"), b"session1", 3, bytes(32), bytes(range(32)))
    short = replace(plain, features=FEATURE_COMPACT, own_index=index, peer_index=index)
    own = ReceiveKey(short, Direction.D2G, window_bits)
    native = engine.ReceiveKey(engine_keys(plain), "d2g", window_bits, index)
    for sequence, is_control, is_long, bit in script:
        sender = SendKey(plain if is_long else short, Direction.D2G, sequence)
        sender.seen = sequence - 1
        content = b"\x07\x00\x00"[: 2 + sequence % 2] if is_control else b""
        datagram = sender.seal(content, kind=KIND_CONTROL * is_control)
        sealer = engine.SendKey(engine_keys(plain), "d2g", index)
        sealer.skip_to(sequence)
        if sequence:
            sealer.peer_has_seen(sequence - 1)
        assert sealer.seal(content, control=is_control, long_form=is_long) == datagram
        if bit < len(datagram) * 8:
            damaged = bytearray(datagram)
            damaged[bit // 8] ^= 1 << bit % 8
            datagram = bytes(damaged)
        outcome, plaintext = native.open(datagram)
        assert (OUTCOMES[outcome], plaintext) == own.open(datagram)


@pytest.mark.parametrize("name", ["receive_compact"])
def test_engine_agrees_with_the_receiver_script(name):
    file = VectorFile.read(VECTORS / f"{name}.txt")
    row = file["receiver"]
    key, features = row.raw("key"), row.number("features")
    keys = engine.SessionKeys(row.text("suite"), row.raw("session_id"), row.number("epoch"), key, key)
    index = row.number("index") if features & FEATURE_COMPACT else None
    receiver = engine.ReceiveKey(
        keys, row.text("direction"), row.number("window_bits"), index, bool(features & FEATURE_BUNDLES)
    )
    for step in file.sections[2:]:
        outcome, plaintext = receiver.open(step.raw("datagram"))
        assert (OUTCOMES[outcome].value, plaintext) == (step.text("outcome"), step.raw("plaintext")), step.text("what")


def bundle_of(sizes):
    return [bytes([number % 251]) * size for number, size in enumerate(sizes)]


@pytest.mark.parametrize("compact", [False, True])
def test_bundles_with_the_engine_as_gcs(folders, compact):
    with gcs_under_test(folders, compact=compact, bundle_ms=20) as (gcs, plain, drone):
        drone.features = FEATURE_BUNDLES | FEATURE_COMPACT * compact
        assert drone.connect(find_suite(SUITE), identity(folders, SUITE)).features == drone.features
        up = bundle_of([0, 1, 127, 128, 40, 40])
        drone.send_bundle(*up)
        assert [plain.recv(200) for _ in up] == up
        down = bundle_of([40, 40, 0, 130])
        for datagram in down:
            plain.sendto(datagram, application_address(gcs))
        assert [drone.receive_payload(TIMEOUT) for _ in down] == down
        assert drone.delivered_datagrams == len(down) > drone.counters["delivered"]
        drone.send_raw(drone.links[DRONE].seal(b"\x05torn", kind=KIND_BUNDLE), drone.gcs_address)
        totals = settled(gcs, drone)
        assert (totals["delivered"], totals["delivered_datagrams"], totals["drop_decrypt_fail"]) == (1, len(up), 1)


@pytest.mark.parametrize("compact", [False, True])
def test_bundles_with_the_engine_as_drone(folders, compact):
    features = FEATURE_BUNDLES | FEATURE_COMPACT * compact
    policy = replace(load_gcs_policy(folders[0]), features=features)
    with (
        closing(GcsPeer(policy)) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, SUITE, compact=compact, bundle_ms=20) as drone,
    ):
        assert gcs.accept_handshake(TIMEOUT).features == features
        gcs.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        up = bundle_of([40, 40, 3, 200, 0])
        for datagram in up:
            plain.sendto(datagram, application_address(drone))
        assert [gcs.receive_payload(TIMEOUT) for _ in up] == up
        assert gcs.delivered_datagrams == len(up) > gcs.counters["delivered"]
        down = bundle_of([1] * 64)
        gcs.send_bundle(DRONE, *down)
        assert [plain.recv(200) for _ in down] == down


def test_an_engine_sends_no_bundle_to_an_end_that_takes_none(folders):
    with gcs_under_test(folders, bundle_ms=20) as (gcs, plain, drone):
        assert drone.connect(find_suite(SUITE), identity(folders, SUITE)).features == 0
        exchange(plain, gcs, drone.receive_payload, drone.send)
        drone.send_raw(drone.links[DRONE].seal(b"\x01x", kind=KIND_BUNDLE), drone.gcs_address)
        assert settled(gcs, drone)["drop_malformed"] == 1


@settings(max_examples=500)
@given(st.one_of(st.binary(max_size=300), st.lists(st.binary(max_size=200), min_size=1, max_size=64)))
def test_same_reading_of_bundle_content(content):
    if isinstance(content, list):
        datagrams, content = tuple(content), bundle.encode(content)
        assert bundle.decode(content) == datagrams
    keys = SessionKeys(find_suite("ML-768-AG-MD-65"), b"session1", 3, bytes(32), bytes(range(32)), features=2)
    datagram = SendKey(keys, Direction.D2G).seal(content, kind=KIND_BUNDLE)
    outcome, plaintext = engine.ReceiveKey(engine_keys(keys), "d2g", 64, None, True).open(datagram)
    assert (OUTCOMES[outcome], plaintext) == ReceiveKey(keys, Direction.D2G).open(datagram)
