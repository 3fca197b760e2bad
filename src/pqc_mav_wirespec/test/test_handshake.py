# SPDX-License-Identifier: Apache-2.0
import hashlib
import secrets
from dataclasses import replace

import pytest
from support import DRONE_ID, LIGHT, PSK, initiator_for, key_pair, policy_for, run

from pqc_mav_wirespec import messages as msg
from pqc_mav_wirespec.encoding import frame, lp
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError, RejectedError
from pqc_mav_wirespec.handshake import Responder
from pqc_mav_wirespec.keyschedule import gate, gate_key
from pqc_mav_wirespec.messages import ClientHello, RejectCode
from pqc_mav_wirespec.suites import ALL_SUITES, find_suite

# one cipher suffices here: it takes no part in the handshake but for its name
PER_ALGORITHM_PAIR = [suite for suite in ALL_SUITES if suite.aead.token == "ascon128a"]
SUITES = [
    find_suite(name) for name in ("ML-768-CP-MD-65", "HQC-128-AS-FA-512", "MC-348-AG-SP-128s", "FR-640A-AG-MD-44")
]


def test_the_matrix_has_every_pair_of_algorithms():
    assert len(PER_ALGORITHM_PAIR) == 44


@pytest.mark.parametrize("hybrid", [True, False], ids=["hybrid", "pure"])
@pytest.mark.parametrize("suite", PER_ALGORITHM_PAIR, ids=lambda suite: suite.short_code)
def test_both_ends_agree(suite, hybrid):
    initiator, responder = initiator_for(suite, hybrid=hybrid), Responder(policy_for(suite))
    frames = run(initiator, responder)
    assert (initiator.error, responder.error) == (None, None)
    assert initiator.keys == responder.keys
    assert initiator.keys.hybrid is hybrid
    assert [whole[4] for whole in frames] == [0, 1, 2, 3, 4]
    assert initiator.transcript.k_d2g != initiator.transcript.k_g2d
    assert len(initiator.transcript.ss_x25519) == 32 * hybrid


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.short_code)
def test_drone_signature_binds_the_transcript(suite):
    initiator, responder = initiator_for(suite, signed=True), Responder(policy_for(suite))
    run(initiator, responder)
    assert initiator.keys == responder.keys
    assert initiator.keys.drone_signed
    t = responder.transcript
    signature = msg.ClientFinish.parse(t.m3, suite, True, True).drone_signature
    assert t.t3 == hashlib.sha256(t.h3 + lp(signature)).digest()


def test_byte_by_byte_delivery_changes_nothing():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    reply, parties = responder.start(), (initiator, responder)
    for turn in range(4):
        party = parties[turn % 2]
        replies = [party.feed(bytes([byte])) for byte in reply]
        assert not any(replies[:-1])
        reply = replies[-1]
    initiator.feed(reply)
    assert initiator.keys == responder.keys is not None


def _hello(responder: Responder, psk: bytes = PSK, **changes: object) -> bytes:
    """A ClientHello with a valid gate under `psk`, whatever else is changed in it."""
    hello = ClientHello(
        drone_id=DRONE_ID.encode(),
        client_nonce=secrets.token_bytes(32),
        suite_id=LIGHT.id.encode(),
        kem_name=b"ML-KEM-512",
        sig_name=b"ML-DSA-44",
        flags=1,
        prev_session=bytes(8),
        epoch=0,
    )
    hello = replace(hello, **changes)
    mac = gate(gate_key(psk), responder.start(), hello.frame_without_gate())
    return hello.with_gate(mac).frame()


@pytest.mark.parametrize(
    ("changes", "policy", "code"),
    [
        ({"suite_id": b"cs-nothing"}, {}, RejectCode.SUITE_UNKNOWN),
        ({"suite_id": b""}, {}, RejectCode.SUITE_UNKNOWN),
        ({"suite_id": b"\xff" * 64}, {}, RejectCode.SUITE_UNKNOWN),
        ({"suite_id": b"ML-512-AG-MD-44"}, {}, RejectCode.SUITE_UNKNOWN),
        ({}, {"allowed_suites": frozenset()}, RejectCode.SUITE_NOT_ALLOWED),
        ({}, {"require_signature": frozenset([DRONE_ID])}, RejectCode.SUITE_NOT_ALLOWED),
        ({"flags": 3}, {"drone_publics": {}}, RejectCode.SUITE_NOT_ALLOWED),
        ({"flags": 0}, {"allow_pure": False}, RejectCode.SUITE_NOT_ALLOWED),
        ({"kem_name": b"Kyber512"}, {}, RejectCode.ALGORITHM_UNAVAILABLE),
        ({"sig_name": b"ML-DSA-65"}, {}, RejectCode.ALGORITHM_UNAVAILABLE),
        ({}, {"sign_secrets": {}}, RejectCode.ALGORITHM_UNAVAILABLE),
        ({"prev_session": b"another!", "epoch": 1}, {}, RejectCode.SESSION_UNKNOWN),
        (
            {"prev_session": b"session1", "epoch": 3},
            {"sessions": {"other": {b"session1": 2}}},
            RejectCode.SESSION_UNKNOWN,
        ),
        ({"prev_session": b"session1", "epoch": 2}, {"sessions": {DRONE_ID: {b"session1": 2}}}, RejectCode.EPOCH),
        ({"prev_session": b"session1", "epoch": 0}, {"sessions": {DRONE_ID: {b"session1": 255}}}, RejectCode.EPOCH),
        ({"epoch": 1}, {}, RejectCode.EPOCH),
        ({}, {"busy": True}, RejectCode.BUSY),
    ],
)
def test_reject_codes_come_behind_the_gate(changes, policy, code):
    responder = Responder(policy_for(LIGHT, **policy))
    reply = responder.feed(_hello(responder, **changes))
    assert reply == frame(9, bytes([code]))
    assert responder.gated
    assert isinstance(responder.error, RejectedError)
    silent = Responder(policy_for(LIGHT, **policy))
    assert silent.feed(_hello(silent, psk=bytes(32), **changes)) == b""
    assert not silent.gated
    assert isinstance(silent.error, AuthenticationError)


def test_initiator_reports_the_reject_code():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT, allowed_suites=frozenset()))
    frames = run(initiator, responder)
    assert len(frames) == 3
    assert initiator.error.code == 2
    assert "suite not allowed" in str(initiator.error)


def test_rekey_takes_the_next_epoch_and_a_new_session():
    first_drone, first_gcs = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    run(first_drone, first_gcs)
    old = first_gcs.keys
    suite = find_suite("ML-1024-AS-FA-1024")
    policy = policy_for(suite, sessions={DRONE_ID: {old.session_id: old.epoch}})
    drone, gcs = initiator_for(suite, previous=(old.session_id, old.epoch)), Responder(policy)
    run(drone, gcs)
    assert drone.keys == gcs.keys
    assert (gcs.keys.epoch, gcs.keys.suite) == (1, suite)
    assert gcs.keys.session_id not in (old.session_id, bytes(8))


@pytest.mark.parametrize(
    "changes",
    [
        {"psk": bytes(32)},
        {"drone_id": "stranger"},
    ],
)
def test_strangers_get_silence_and_no_keygen(changes, monkeypatch):
    def forbidden(*_: object) -> None:
        raise AssertionError("key generation or signing for a stranger")

    monkeypatch.setattr("pqc_mav_wirespec.handshake.kem_keypair", forbidden)
    monkeypatch.setattr("pqc_mav_wirespec.handshake.sig_sign", forbidden)
    initiator, responder = initiator_for(LIGHT, **changes), Responder(policy_for(LIGHT))
    assert len(run(initiator, responder)) == 2
    assert not responder.gated
    assert isinstance(responder.error, AuthenticationError)


def test_a_replayed_hello_fails_on_another_cookie():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    hello = initiator.feed(responder.start())
    other = Responder(policy_for(LIGHT))
    other.start()
    assert other.feed(hello) == b""
    assert not other.gated


@pytest.mark.parametrize(
    "changes",
    [
        {"flags": 4},
        {"flags": 0x81},
        {"drone_id": b""},
        {"drone_id": b"Drone"},
        {"drone_id": b"a" * 33},
        {"suite_id": b"a" * 65},
        {"kem_name": b"a" * 65},
        {"sig_name": b"a" * 65},
    ],
)
def test_malformed_hello_is_silent_even_with_a_valid_gate(changes):
    responder = Responder(policy_for(LIGHT))
    assert responder.feed(_hello(responder, **changes)) == b""
    assert isinstance(responder.error, MalformedError)


def test_every_flipped_byte_of_every_message_is_refused():
    whole = run(initiator_for(LIGHT, signed=True), Responder(policy_for(LIGHT)))
    for number, original in enumerate(whole):
        step = 1 if len(original) < 300 else 29  # every byte of the small ones, a sample with the edges of the large
        for at in {*range(0, len(original), step), *range(60), *range(len(original) - 60, len(original))}:
            if at >= len(original):
                continue
            initiator, responder = initiator_for(LIGHT, signed=True), Responder(policy_for(LIGHT))
            message = responder.start()
            parties = (initiator, responder)
            for turn in range(number):
                message = parties[turn % 2].feed(message)
            at = min(at, len(message) - 1)
            damaged = message[:at] + bytes([message[at] ^ 0x01]) + message[at + 1 :]
            receiver = parties[number % 2]
            if number == 0 and at >= 13:  # another cookie is as good as this one until the gcs compares
                assert responder.feed(receiver.feed(damaged)) == b""
                receiver = responder
            else:
                receiver.feed(damaged)
                # a length one higher makes the receiver wait for a byte that never comes
                if receiver.error is None:
                    assert at < 4 or damaged[3] > message[3]
                    receiver.abort(MalformedError("closed"))
            assert receiver.keys is None
            assert receiver.error is not None, (number, at)


@pytest.mark.parametrize("number", range(5))
def test_garbage_behind_a_message_is_refused(number):
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    message, parties = responder.start(), (initiator, responder)
    for turn in range(number):
        message = parties[turn % 2].feed(message)
    receiver = parties[number % 2]
    assert receiver.feed(message + b"\0") == b""
    assert isinstance(receiver.error, MalformedError)


@pytest.mark.parametrize("number", range(5))
def test_a_message_out_of_order_is_refused(number):
    whole = run(initiator_for(LIGHT), Responder(policy_for(LIGHT)))
    for wrong in range(5):
        if wrong == number:
            continue
        initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
        message, parties = responder.start(), (initiator, responder)
        for turn in range(number):
            message = parties[turn % 2].feed(message)
        receiver = parties[number % 2]
        assert receiver.feed(whole[wrong]) == b""
        assert isinstance(receiver.error, MalformedError)


def test_wrong_gcs_key_stops_the_drone_before_it_encapsulates(monkeypatch):
    def forbidden(*_: object) -> None:
        raise AssertionError("encapsulation to an unverified key")

    initiator = initiator_for(LIGHT, gcs_public=key_pair("mldsa44", "another gcs")[0])
    responder = Responder(policy_for(LIGHT))
    hello = responder.feed(initiator.feed(responder.start()))
    monkeypatch.setattr("pqc_mav_wirespec.handshake.kem_encapsulate", forbidden)
    assert initiator.feed(hello) == b""
    assert isinstance(initiator.error, AuthenticationError)


def test_stolen_psk_does_not_replace_the_drone_signature():
    initiator = initiator_for(LIGHT, sign_secret=key_pair("mldsa44", "thief")[1])
    responder = Responder(policy_for(LIGHT, require_signature=frozenset([DRONE_ID])))
    assert len(run(initiator, responder)) == 4
    assert "signature does not verify" in str(responder.error)


def test_low_order_x25519_key_of_the_drone_is_refused(monkeypatch):
    """A drone that computes every key on an all-zero shared secret: its confirmation would verify."""
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m2 = responder.feed(initiator.feed(responder.start()))
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        patch.setattr("pqc_mav_wirespec.handshake.x25519_shared", lambda *_: bytes(32))
        m3 = initiator.feed(m2)
    assert responder.feed(m3) == b""
    assert "low order" in str(responder.error)


def test_low_order_x25519_key_of_the_gcs_is_refused(monkeypatch):
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m1 = initiator.feed(responder.start())
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        m2 = responder.feed(m1)
    assert initiator.feed(m2) == b""
    assert "low order" in str(initiator.error)


def test_nothing_prints_a_secret():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    run(initiator, responder)
    shown = repr(initiator.keys) + repr(responder.transcript) + repr(policy_for(LIGHT))
    t = initiator.transcript
    for secret in (t.k_d2g, t.k_g2d, t.prk, t.ss_kem, t.ss_x25519, t.k_cc, t.k_cs, t.gate_key, PSK):
        assert repr(secret) not in shown
