# SPDX-License-Identifier: Apache-2.0
"""The engine against the executable specification: every available suite, pure and hybrid, in both roles."""

import pytest
from engine_support import OUTCOMES, engine, engine_initiator, engine_keys, engine_responder
from support import DRONE_ID, LIGHT, initiator_for, key_pair, policy_for, run

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import KIND_CONTROL, Direction, Outcome, ReceiveKey, SendKey
from pqc_mav_wirespec.handshake import Responder
from pqc_mav_wirespec.oqs_library import library_name
from pqc_mav_wirespec.suites import ALL_SUITES, CORE_SUITES, SIGS, find_suite

AVAILABLE = [find_suite(info.id) for info in engine.suites("extended", only_available=True)]
PER_SIGNATURE = [next(suite for suite in ALL_SUITES if suite.sig == sig and suite.kem.family_id == 1) for sig in SIGS]
PAYLOADS = (b"", b"\x00", bytes(range(255)), bytes(1400))


def parties(role, suite, signed=False, **options):
    """(initiator, responder), with the engine in `role`."""
    if role == "drone":
        return engine_initiator(suite, signed=signed, **options), Responder(policy_for(suite))
    return initiator_for(suite, signed=signed, **options), engine_responder(suite)


def check_data(keys):
    """Data and control frames of both implementations, both directions, opened by the other."""
    native = engine_keys(keys)
    for direction in Direction:
        own_send, native_send = SendKey(keys, direction), engine.SendKey(native, direction.value)
        own_receive, native_receive = ReceiveKey(keys, direction), engine.ReceiveKey(native, direction.value)
        for payload in PAYLOADS:
            datagram = own_send.seal(payload)
            assert native_send.seal(payload) == datagram
            assert native_receive.open(datagram) == ("data", payload)
            assert own_receive.open(datagram) == (Outcome.DELIVERED, payload)
            assert native_receive.open(datagram) == ("replay", b"")
        content = control.encode(control.Keepalive())
        datagram = native_send.seal(content, control=True)
        assert datagram == own_send.seal(content, kind=KIND_CONTROL)
        assert native_receive.open(datagram) == ("control", content)
        assert own_receive.open(datagram) == (Outcome.CONTROL, content)


def test_every_core_suite_is_available():
    assert [suite.id for suite in CORE_SUITES if suite not in AVAILABLE] == []


def test_tables_agree():
    assert set(OUTCOMES.values()) == set(Outcome)
    infos = {info.id: info for info in engine.suites("extended")}
    assert sorted(infos) == sorted(suite.id for suite in ALL_SUITES)
    for suite in ALL_SUITES:
        info = infos[suite.id]
        assert (info.short_code, info.level, info.core) == (suite.short_code, suite.kem.level, suite.core)
        tokens = (info.kem_token, info.aead_token, info.sig_token)
        assert tokens == (suite.kem.token, suite.aead.token, suite.sig.token)
        if info.available:
            assert (info.kem_oqs_name, info.sig_oqs_name) == (library_name(suite.kem), library_name(suite.sig))


@pytest.mark.parametrize("hybrid", [True, False], ids=["hybrid", "pure"])
@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("suite", AVAILABLE, ids=lambda suite: suite.short_code)
def test_handshake_and_data(suite, role, hybrid):
    initiator, responder = parties(role, suite, hybrid=hybrid)
    frames = run(initiator, responder)
    assert initiator.keys is not None, initiator.error
    assert initiator.keys == responder.keys
    assert initiator.keys.hybrid is hybrid
    assert len(frames) == 5
    check_data(initiator.keys)


@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("suite", PER_SIGNATURE, ids=lambda suite: suite.sig.token)
def test_drone_signature(suite, role):
    initiator, responder = parties(role, suite, signed=True)
    run(initiator, responder)
    assert initiator.keys is not None, initiator.error
    assert initiator.keys == responder.keys
    assert initiator.keys.drone_signed


def test_rekey_with_the_engine_as_drone():
    other, previous = find_suite("ML-1024-AS-FA-1024"), b"session1"
    initiator = engine_initiator(other, prev_session=previous, epoch=8)
    responder = Responder(policy_for(other, sessions={DRONE_ID: {previous: 7}}))
    run(initiator, responder)
    assert initiator.keys == responder.keys
    assert initiator.keys.epoch == 8


def test_rekey_with_the_engine_as_gcs():
    other, previous = find_suite("ML-768-CP-MD-65"), b"session1"
    initiator = initiator_for(other, previous=(previous, 254))
    responder = engine_responder(other, sessions={DRONE_ID: (previous, 254)})
    run(initiator, responder)
    assert initiator.keys == responder.keys
    assert initiator.keys.epoch == 255


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_byte_by_byte_delivery(role):
    initiator, responder = parties(role, LIGHT)
    message, turn = responder.start(), [initiator, responder]
    for number in range(5):
        replies = [turn[number % 2].feed(bytes([byte])) for byte in message]
        assert not any(replies[:-1])
        message = replies[-1]
    assert initiator.keys == responder.keys is not None


@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("changes", [{"psk": bytes(32)}, {"drone_id": "stranger"}], ids=["wrong PSK", "unknown drone"])
def test_strangers_get_silence(role, changes):
    initiator, responder = parties(role, LIGHT, **changes)
    assert len(run(initiator, responder)) == 2
    assert responder.finished
    assert responder.keys is None
    if role == "gcs":
        assert responder.keygens == 0


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_wrong_gcs_key_stops_the_drone(role):
    wrong = key_pair("mldsa44", "another gcs")[0]
    changes = {"gcs_public_key": wrong} if role == "drone" else {"gcs_public": wrong}
    initiator, responder = parties(role, LIGHT, **changes)
    assert len(run(initiator, responder)) == 3
    assert initiator.finished
    assert initiator.keys is None


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_a_thief_of_the_psk_cannot_sign(role):
    thief = key_pair("mldsa44", "thief")[1]
    if role == "drone":
        initiator = engine_initiator(LIGHT, own_secret=thief)
        responder = Responder(policy_for(LIGHT, require_signature=frozenset([DRONE_ID])))
    else:
        initiator, responder = initiator_for(LIGHT, sign_secret=thief), engine_responder(LIGHT, require_signature=True)
    assert len(run(initiator, responder)) == 4
    assert responder.finished
    assert responder.keys is None


def test_low_order_x25519_key_of_the_drone(monkeypatch):
    """A drone that computes all keys on a zero shared secret: only the check of the X25519 output can stop it."""
    initiator, responder = initiator_for(LIGHT), engine_responder(LIGHT)
    m2 = responder.feed(initiator.feed(responder.start()))
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        patch.setattr("pqc_mav_wirespec.handshake.x25519_shared", lambda *_: bytes(32))
        m3 = initiator.feed(m2)
    assert responder.feed(m3) == b""
    assert (responder.status, responder.keys) == ("failed", None)


def test_low_order_x25519_key_of_the_gcs(monkeypatch):
    initiator, responder = engine_initiator(LIGHT), Responder(policy_for(LIGHT))
    m1 = initiator.feed(responder.start())
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        m2 = responder.feed(m1)
    assert initiator.feed(m2) == b""
    assert (initiator.status, initiator.keys) == ("failed", None)


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_a_reject_reaches_the_drone(role):
    if role == "drone":
        initiator, responder = engine_initiator(LIGHT), Responder(policy_for(LIGHT, allow_pure=False, sign_secrets={}))
    else:
        initiator, responder = initiator_for(LIGHT), engine_responder(LIGHT, gcs_secrets={})
    assert run(initiator, responder)[-1].hex() == "000000010903"
    code = initiator.reject_code if role == "drone" else initiator.error.code
    assert (code, initiator.keys) == (3, None)
