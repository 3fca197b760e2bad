# SPDX-License-Identifier: Apache-2.0
"""The engine against the executable specification: every available suite in both roles, pure in one, hybrid in the
other."""

import pytest
from engine_support import OUTCOMES, engine, engine_initiator, engine_keys, engine_responder
from support import DRONE_ID, LIGHT, PSK, initiator_for, key_pair, policy_for, run

from pqc_mav_wirespec import control, proofs
from pqc_mav_wirespec.dataplane import KIND_CONTROL, Direction, Outcome, ReceiveKey, SendKey
from pqc_mav_wirespec.handshake import Previous, Responder
from pqc_mav_wirespec.keyschedule import reject_mac
from pqc_mav_wirespec.messages import M0, ClientHello, Reject
from pqc_mav_wirespec.oqs_library import library_version, offers
from pqc_mav_wirespec.suites import AEADS, ALL_SUITES, CORE_SUITES, find_suite

AVAILABLE = [suite for info in engine.suites("all", only_available=True) if offers(suite := find_suite(info.id))]
PER_SIGNATURE = [suite for suite in AVAILABLE if suite.kem.family_id == 1 and suite.aead == AEADS[0]]
# By liboqs 0.16, for what took their place in the standards.
DROPPED = {"hqc128", "hqc192", "hqc256", "sphincs128s", "sphincs192s", "sphincs256s"}
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


def test_every_core_suite_is_available_unless_its_library_dropped_it():
    lacking = {algorithm for suite in CORE_SUITES if suite not in AVAILABLE for algorithm in dropped(suite)}
    assert lacking == (set() if library_version() == "0.13.0" else DROPPED)


def dropped(suite):
    """What of a suite later versions of liboqs do not have; a suite that lacks for another reason is named itself."""
    return {each for each in (suite.kem.token, suite.sig.token) if each in DROPPED} or {suite.id}


def test_tables_agree():
    assert set(OUTCOMES.values()) == set(Outcome)
    infos = {info.id: info for info in engine.suites("all")}
    assert sorted(infos) == sorted(suite.id for suite in ALL_SUITES)
    for suite in ALL_SUITES:
        info = infos[suite.id]
        assert (info.short_code, info.level, info.core) == (suite.short_code, suite.kem.level, suite.core)
        tokens = (info.kem_token, info.aead_token, info.sig_token)
        assert tokens == (suite.kem.token, suite.aead.token, suite.sig.token)
        assert (info.kem_name, info.sig_name) == (suite.kem.name, suite.sig.name)


@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("suite", AVAILABLE, ids=lambda suite: suite.short_code)
def test_handshake_and_data(suite, role):
    hybrid = AVAILABLE.index(suite) % 2 == (role == "gcs")
    initiator, responder = parties(role, suite, hybrid=hybrid)
    frames = run(initiator, responder)
    assert initiator.keys is not None, initiator.error
    assert initiator.keys == responder.keys
    assert initiator.keys.hybrid is hybrid
    assert len(frames) == 4
    check_data(initiator.keys)


@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("suite", PER_SIGNATURE, ids=lambda suite: suite.sig.token)
def test_drone_signature(suite, role):
    initiator, responder = parties(role, suite, signed=True)
    run(initiator, responder)
    assert initiator.keys is not None, initiator.error
    assert initiator.keys == responder.keys
    assert initiator.keys.drone_signed


RUNNING, CK = b"session1", b"c" * 32


@pytest.mark.parametrize("epoch", [0, 7, 254, 255])
def test_rekey_with_the_engine_as_drone(epoch):
    other = find_suite("ML-1024-AS-FA-1024")
    initiator = engine_initiator(other, session=(RUNNING, epoch, CK))
    policy = policy_for(other, sessions={DRONE_ID: Previous(RUNNING, epoch, CK)})
    responder = Responder(policy, inside=(DRONE_ID, RUNNING))
    run(initiator, responder)
    assert initiator.keys == responder.keys is not None
    assert initiator.keys.epoch == (epoch + 1) % 256


@pytest.mark.parametrize("epoch", [0, 7, 254, 255])
def test_rekey_with_the_engine_as_gcs(epoch):
    other = find_suite("ML-768-CP-MD-65")
    initiator = initiator_for(other, previous=Previous(RUNNING, epoch, CK))
    responder = engine_responder(other, session=(RUNNING, epoch, CK))
    run(initiator, responder)
    assert initiator.keys == responder.keys is not None
    assert initiator.keys.epoch == (epoch + 1) % 256


def test_a_rekey_is_bound_to_the_old_session():
    initiator = initiator_for(LIGHT, previous=Previous(RUNNING, 3, b"another ck".ljust(32)))
    responder = engine_responder(LIGHT, session=(RUNNING, 3, CK))
    run(initiator, responder)
    assert (initiator.keys, responder.keys) == (None, None)


@pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7"])
def test_the_engine_proves_that_it_returns(host):
    restart_key, serial = b"r" * 32, 51_234
    tag = proofs.address_tag(restart_key, DRONE_ID.encode(), serial, host)
    ticket = (serial.to_bytes(4, "big") + tag, proofs.return_key(restart_key, DRONE_ID.encode(), serial))
    initiator, responder = engine_initiator(LIGHT, ticket=ticket), Responder(policy_for(LIGHT))
    hello = ClientHello.parse(run(initiator, responder)[0])
    assert initiator.keys == responder.keys is not None
    verdict = proofs.check_return_proof(restart_key, hello, host, serial)
    assert (verdict.good, verdict.address_fits) == (True, True)


def test_the_engine_is_of_one_gcs():
    policy = policy_for(LIGHT, gcs_id="north")
    initiator, responder = engine_initiator(LIGHT, gcs_id="north"), Responder(policy)
    run(initiator, responder)
    assert initiator.keys == responder.keys is not None
    assert run(engine_initiator(LIGHT, gcs_id="south"), Responder(policy))[1:] == []
    assert run(initiator_for(LIGHT, gcs_id="south"), engine_responder(LIGHT, gcs_id="north"))[1:] == []


@pytest.mark.parametrize("retry_ms", [0, 100, 65_535])
def test_busy_keeps_an_attempt_with_the_engine(retry_ms):
    initiator = engine_initiator(LIGHT)
    m1 = initiator.start()
    assert initiator.feed(Responder(policy_for(LIGHT, busy=retry_ms)).feed(m1)) == b""
    assert (initiator.status, initiator.retry_ms) == ("working", retry_ms)
    other = initiator_for(LIGHT)
    busy = engine.Responder(psks={DRONE_ID: PSK}, gcs_secrets={}).refuse_busy(other.start(), retry_ms)
    assert other.feed(busy) == b""
    assert (other.error, other.retry_ms) == (None, min(max(retry_ms, 100), 10_000))


@pytest.mark.parametrize("role", ["drone", "gcs"])
@pytest.mark.parametrize("changes", [{"psk": bytes(32)}, {"drone_id": "stranger"}], ids=["wrong PSK", "unknown drone"])
def test_strangers_get_silence(role, changes):
    initiator, responder = parties(role, LIGHT, **changes)
    assert len(run(initiator, responder)) == 1
    assert responder.finished
    assert responder.keys is None
    if role == "gcs":
        assert responder.keygens == 0


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_wrong_gcs_key_stops_the_drone(role):
    wrong = key_pair("mldsa44", "another gcs")[0]
    changes = {"gcs_public_key": wrong} if role == "drone" else {"gcs_public": wrong}
    initiator, responder = parties(role, LIGHT, **changes)
    assert len(run(initiator, responder)) == 2
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
    assert len(run(initiator, responder)) == 3
    assert responder.finished
    assert responder.keys is None


def test_low_order_x25519_key_of_the_drone(monkeypatch):
    """A drone that computes all keys on a zero shared secret: only the check of the X25519 output can stop it."""
    initiator, responder = initiator_for(LIGHT), engine_responder(LIGHT)
    m2 = responder.feed(initiator.start())
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_wirespec.handshake.x25519_public", lambda _: bytes(32))
        patch.setattr("pqc_mav_wirespec.handshake.x25519_shared", lambda *_: bytes(32))
        m3 = initiator.feed(m2)
    assert responder.feed(m3) == b""
    assert (responder.status, responder.keys) == ("failed", None)


def test_low_order_x25519_key_of_the_gcs(monkeypatch):
    initiator, responder = engine_initiator(LIGHT), Responder(policy_for(LIGHT))
    m1 = initiator.start()
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
    m1, reject = run(initiator, responder)
    assert reject == Reject(3, 4, reject_mac(PSK, M0, m1, 3, 4)).frame()
    code = initiator.reject_code if role == "drone" else initiator.error.code
    assert (code, initiator.keys) == (3, None)
