# SPDX-License-Identifier: Apache-2.0
import hashlib
import secrets
from dataclasses import replace

import pytest
from support import DRONE_ID, LIGHT, PSK, initiator_for, key_pair, policy_for, run

from pqc_mav_wirespec import messages as msg
from pqc_mav_wirespec.encoding import lp
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError, RejectedError
from pqc_mav_wirespec.handshake import Previous, Responder
from pqc_mav_wirespec.keyschedule import SessionKeys, gate, gate_key, reject_mac
from pqc_mav_wirespec.messages import ClientHello, RejectCode
from pqc_mav_wirespec.oqs_library import library_version, offers
from pqc_mav_wirespec.suites import ALL_SUITES, find_suite

# one cipher suffices here: it takes no part in the handshake but for its name
PER_ALGORITHM_PAIR = [suite for suite in ALL_SUITES if suite.aead.token == "aesgcm" and offers(suite)]
SUITES = [
    find_suite(name) for name in ("ML-768-CP-MD-65", "HQC-128-AS-FA-512", "MC-348-AG-SP-128s", "FR-640A-AG-MD-44")
]

SESSION = SessionKeys(LIGHT, b"session1", 7, bytes(32), bytes(32), b"c" * 32)


def test_the_matrix_has_every_pair_of_published_algorithms():
    if library_version() == "0.13.0":
        assert len(PER_ALGORITHM_PAIR) == 44


@pytest.mark.parametrize("hybrid", [True, False], ids=["hybrid", "pure"])
@pytest.mark.parametrize("suite", PER_ALGORITHM_PAIR, ids=lambda suite: suite.short_code)
def test_both_ends_agree(suite, hybrid):
    initiator, responder = initiator_for(suite, hybrid=hybrid), Responder(policy_for(suite))
    frames = run(initiator, responder)
    assert (initiator.error, responder.error) == (None, None)
    assert initiator.keys == responder.keys
    assert initiator.keys.hybrid is hybrid
    assert [whole[4] for whole in frames] == [1, 2, 3, 4]
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


def _hello(psk: bytes = PSK, **changes: object) -> bytes:
    """A ClientHello with a valid gate under `psk`, whatever else is changed in it."""
    hello = ClientHello(
        drone_id=DRONE_ID.encode(),
        gcs_id=b"gcs",
        client_nonce=secrets.token_bytes(32),
        suite_id=LIGHT.id.encode(),
        kem_name=b"ML-KEM-512",
        sig_name=b"ML-DSA-44",
        flags=1,
        prev_session=bytes(8),
        epoch=0,
    )
    hello = replace(hello, **changes)
    mac = gate(gate_key(psk), msg.M0, hello.frame_without_gate())
    return hello.with_gate(mac).frame()


@pytest.mark.parametrize(
    ("changes", "policy", "code", "detail"),
    [
        ({"suite_id": b"cs-nothing"}, {}, RejectCode.SUITE_UNKNOWN, 0),
        ({"suite_id": b""}, {}, RejectCode.SUITE_UNKNOWN, 0),
        ({"suite_id": b"\xff" * 64}, {}, RejectCode.SUITE_UNKNOWN, 0),
        ({"suite_id": b"ML-512-AG-MD-44"}, {}, RejectCode.SUITE_UNKNOWN, 0),
        ({}, {"allowed_suites": frozenset()}, RejectCode.SUITE_NOT_ALLOWED, 0),
        ({}, {"require_signature": frozenset([DRONE_ID])}, RejectCode.SUITE_NOT_ALLOWED, 0),
        ({"flags": 3}, {"drone_publics": {}}, RejectCode.SUITE_NOT_ALLOWED, 0),
        ({"flags": 0}, {"allow_pure": False}, RejectCode.SUITE_NOT_ALLOWED, 0),
        ({"kem_name": b"Kyber512"}, {}, RejectCode.ALGORITHM_UNAVAILABLE, 1),
        ({"sig_name": b"ML-DSA-65"}, {}, RejectCode.ALGORITHM_UNAVAILABLE, 2),
        ({}, {"sign_secrets": {}}, RejectCode.ALGORITHM_UNAVAILABLE, 4),
        (
            {"prev_session": b"session1", "epoch": 2},
            {"sessions": {DRONE_ID: Previous(b"session1", 2, bytes(32))}},
            RejectCode.EPOCH,
            0,
        ),
        ({"epoch": 1}, {}, RejectCode.EPOCH, 0),
        ({}, {"busy": 700}, RejectCode.BUSY, 700),
    ],
)
def test_reject_codes_come_behind_the_gate(changes, policy, code, detail):
    inside = (DRONE_ID, b"session1") if "prev_session" in changes else None
    responder = Responder(policy_for(LIGHT, **policy), inside=inside)
    hello = _hello(**changes)
    reject = msg.Reject.parse(responder.feed(hello))
    assert (reject.code, reject.retry_ms) == (code, detail)
    assert reject.mac == reject_mac(PSK, msg.M0, hello, code, detail)
    assert responder.gated
    assert isinstance(responder.error, RejectedError)
    silent = Responder(policy_for(LIGHT, **policy), inside=inside)
    assert silent.feed(_hello(psk=bytes(32), **changes)) == b""
    assert not silent.gated
    assert isinstance(silent.error, AuthenticationError)


@pytest.mark.parametrize("sessions", [{}, {DRONE_ID: Previous(b"newer one"[:8], 2, bytes(32))}])
def test_a_rekey_inside_a_session_of_the_past_is_not_answered(sessions):
    responder = Responder(policy_for(LIGHT, sessions=sessions), inside=(DRONE_ID, b"session1"))
    assert responder.feed(_hello(prev_session=b"session1", epoch=3)) == b""
    assert isinstance(responder.error, MalformedError)


def test_initiator_reports_the_reject_code():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT, allowed_suites=frozenset()))
    frames = run(initiator, responder)
    assert len(frames) == 2
    assert initiator.error.code == 2
    assert "suite not allowed" in str(initiator.error)


def test_a_reject_that_does_not_verify_changes_nothing():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m1 = initiator.start()
    good = msg.Reject(2, 0, reject_mac(PSK, msg.M0, m1, 2, 0)).frame()
    for at in range(5, len(good)):
        assert initiator.feed(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]) == b""
    responder.feed(initiator.feed(responder.feed(m1)))
    assert responder.keys is not None


def test_busy_keeps_the_attempt():
    initiator, busy = initiator_for(LIGHT), Responder(policy_for(LIGHT, busy=5))
    m1 = initiator.start()
    assert initiator.feed(busy.feed(m1)) == b""
    assert (initiator.error, initiator.retry_ms) == (None, 100)
    responder = Responder(policy_for(LIGHT))
    initiator.feed(responder.feed(initiator.feed(responder.feed(m1))))
    assert initiator.keys == responder.keys is not None


def rekeyed(running, suite=LIGHT, drone_ck=None, gcs_ck=None):
    """(drone, gcs) after a rekey on `running`, each with its own idea of the old `ck`."""
    at_drone = Previous(running.session_id, running.epoch, drone_ck or running.ck)
    at_gcs = Previous(running.session_id, running.epoch, gcs_ck or running.ck)
    gcs = Responder(policy_for(suite, sessions={DRONE_ID: at_gcs}), inside=(DRONE_ID, running.session_id))
    drone = initiator_for(suite, previous=at_drone)
    run(drone, gcs)
    return drone, gcs


def test_rekey_takes_the_next_epoch_and_a_new_session():
    first_drone, first_gcs = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    run(first_drone, first_gcs)
    old = first_gcs.keys
    suite = find_suite("ML-1024-AS-FA-1024")
    drone, gcs = rekeyed(old, suite)
    assert drone.keys == gcs.keys
    assert (gcs.keys.epoch, gcs.keys.suite) == (1, suite)
    assert gcs.keys.session_id not in (old.session_id, bytes(8))
    assert gcs.keys.ck not in (old.ck, b"")


def test_the_epoch_goes_round():
    drone, gcs = rekeyed(replace(SESSION, epoch=255))
    assert drone.keys == gcs.keys
    assert gcs.keys.epoch == 0


def test_a_rekey_is_bound_to_the_old_session():
    drone, gcs = rekeyed(SESSION, drone_ck=b"x" * 32)
    assert (drone.keys, gcs.keys) == (None, None)
    assert "confirmation" in str(gcs.error)


@pytest.mark.parametrize(
    ("changes", "inside"),
    [
        ({"prev_session": b"session1", "epoch": 3}, None),
        ({}, (DRONE_ID, b"session1")),
        ({"prev_session": b"another!", "epoch": 3}, (DRONE_ID, b"session1")),
        ({"prev_session": b"session1", "epoch": 3, "drone_id": b"other"}, (DRONE_ID, b"session1")),
        ({"prev_session": b"session1", "epoch": 3, "gcs_id": b"south"}, (DRONE_ID, b"session1")),
    ],
)
def test_a_hello_in_the_wrong_place_is_malformed(changes, inside):
    policy = policy_for(LIGHT, sessions={DRONE_ID: Previous(b"session1", 2, bytes(32))})
    responder = Responder(policy, inside=inside)
    assert responder.feed(_hello(**changes)) == b""
    assert isinstance(responder.error, MalformedError)


@pytest.mark.parametrize(
    "changes",
    [
        {"psk": bytes(32)},
        {"drone_id": "stranger"},
        {"gcs_id": "south"},
    ],
)
def test_strangers_get_silence_and_no_keygen(changes, monkeypatch):
    def forbidden(*_: object) -> None:
        raise AssertionError("key generation or signing for a stranger")

    monkeypatch.setattr("pqc_mav_wirespec.handshake.kem_keypair", forbidden)
    monkeypatch.setattr("pqc_mav_wirespec.handshake.sig_sign", forbidden)
    initiator, responder = initiator_for(LIGHT, **changes), Responder(policy_for(LIGHT))
    assert len(run(initiator, responder)) == 1
    assert not responder.gated
    assert isinstance(responder.error, AuthenticationError)


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
        {"gcs_id": b""},
        {"gcs_id": b"South"},
        {"gcs_id": b"a" * 33},
        {"max_datagram": 547},
        {"return_proof": bytes(1)},
        {"return_proof": bytes(27)},
        {"return_proof": bytes(29)},
    ],
)
def test_malformed_hello_is_silent_even_with_a_valid_gate(changes):
    responder = Responder(policy_for(LIGHT))
    assert responder.feed(_hello(**changes)) == b""
    assert isinstance(responder.error, MalformedError)


@pytest.mark.parametrize(
    "changes",
    [{"features": 0xFFFF}, {"index": 255}, {"term": 2**32 - 1}, {"max_datagram": 548}, {"max_datagram": 65535}],
)
def test_reserved_fields_of_a_hello_are_ignored(changes):
    responder = Responder(policy_for(LIGHT))
    assert responder.feed(_hello(**changes))[4] == 2


def test_features_of_a_server_hello_must_be_zero():
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m2 = responder.feed(initiator.start())
    initiator.feed(m2[:5] + m2[5:46] + b"\0\1" + m2[48:])
    assert isinstance(initiator.error, MalformedError)


def test_the_longest_hello_has_396_bytes():
    hello = _hello(
        drone_id=b"a" * 32,
        gcs_id=b"b" * 32,
        suite_id=b"c" * 64,
        kem_name=b"d" * 64,
        sig_name=b"e" * 64,
        return_proof=bytes(28),
    )
    assert len(hello) == 396
    assert len(_hello(drone_id=b"a", gcs_id=b"b", suite_id=b"", kem_name=b"", sig_name=b"")) == 114


def parties(**options):
    """(initiator, responder) by turn: the receiver of message number n, M1 being 1, is `[n % 2]`."""
    return initiator_for(LIGHT, **options), Responder(policy_for(LIGHT))


def until(number, pair):
    """Message number `number`, on its way to `pair[number % 2]`."""
    message = pair[0].start()
    for turn in range(1, number):
        message = pair[turn % 2].feed(message)
    return message


def test_every_flipped_byte_of_every_message_is_refused():
    for number in range(1, 5):
        size = len(until(number, parties(signed=True)))
        step = 1 if size < 300 else 29  # every byte of the small ones, a sample with the edges of the large
        for at in {*range(0, size, step), *range(60), *range(size - 60, size)}:
            if not 0 <= at < size:
                continue
            pair = parties(signed=True)
            message = until(number, pair)
            receiver = pair[number % 2]
            receiver.feed(message[:at] + bytes([message[at] ^ 0x01]) + message[at + 1 :])
            assert receiver.keys is None
            assert receiver.error is not None, (number, at)


@pytest.mark.parametrize("number", range(1, 5))
def test_garbage_behind_a_message_is_refused(number):
    pair = parties()
    message = until(number, pair)
    receiver = pair[number % 2]
    assert receiver.feed(message + b"\0") == b""
    assert isinstance(receiver.error, MalformedError)


@pytest.mark.parametrize("number", range(1, 5))
def test_a_message_out_of_order_is_refused(number):
    whole = run(*parties())
    for wrong in {1, 2, 3, 4} - {number}:
        pair = parties()
        until(number, pair)
        receiver = pair[number % 2]
        assert receiver.feed(whole[wrong - 1]) == b""
        assert isinstance(receiver.error, MalformedError)


def test_wrong_gcs_key_stops_the_drone_before_it_encapsulates(monkeypatch):
    def forbidden(*_: object) -> None:
        raise AssertionError("encapsulation to an unverified key")

    initiator = initiator_for(LIGHT, gcs_public=key_pair("mldsa44", "another gcs")[0])
    responder = Responder(policy_for(LIGHT))
    hello = responder.feed(initiator.start())
    monkeypatch.setattr("pqc_mav_wirespec.handshake.kem_encapsulate", forbidden)
    assert initiator.feed(hello) == b""
    assert isinstance(initiator.error, AuthenticationError)


def test_stolen_psk_does_not_replace_the_drone_signature():
    initiator = initiator_for(LIGHT, sign_secret=key_pair("mldsa44", "thief")[1])
    responder = Responder(policy_for(LIGHT, require_signature=frozenset([DRONE_ID])))
    assert len(run(initiator, responder)) == 3
    assert "signature does not verify" in str(responder.error)


def test_low_order_x25519_key_of_the_drone_is_refused(monkeypatch):
    """A drone that computes every key on an all-zero shared secret: its confirmation would verify."""
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m2 = responder.feed(initiator.start())
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        patch.setattr("pqc_mav_wirespec.handshake.x25519_shared", lambda *_: bytes(32))
        m3 = initiator.feed(m2)
    assert responder.feed(m3) == b""
    assert "low order" in str(responder.error)


def test_low_order_x25519_key_of_the_gcs_is_refused(monkeypatch):
    initiator, responder = initiator_for(LIGHT), Responder(policy_for(LIGHT))
    m1 = initiator.start()
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
    for secret in (t.k_d2g, t.k_g2d, t.prk, t.ss_kem, t.ss_x25519, t.k_cc, t.k_cs, t.gate_key, t.ck, PSK):
        assert repr(secret) not in shown
