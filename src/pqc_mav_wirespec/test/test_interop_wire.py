# SPDX-License-Identifier: Apache-2.0
"""The engine and the executable specification must take, refuse and name the same bytes in the same way."""

from dataclasses import replace

import pytest
from engine_support import OUTCOMES, engine, engine_initiator, engine_keys, engine_responder
from hypothesis import given, settings
from hypothesis import strategies as st
from support import DRONE_ID, LIGHT, PSK, VECTORS, initiator_for, policy_for
from vectorfile import VectorFile
from vectors_data import TLVS

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import KIND_CONTROL, Direction, ReceiveKey, SendKey
from pqc_mav_wirespec.errors import MalformedError
from pqc_mav_wirespec.handshake import Previous, Responder
from pqc_mav_wirespec.keyschedule import SessionKeys, gate, gate_key
from pqc_mav_wirespec.messages import M0, ClientHello
from pqc_mav_wirespec.suites import find_suite

RUNNING, CK, NONCE = b"session1", b"c" * 32, bytes(range(32))
names = st.one_of(st.binary(max_size=70), st.sampled_from([b"ML-KEM-512", b"ML-DSA-44", LIGHT.id.encode()]))
hellos = st.fixed_dictionaries(
    {},
    optional={
        "drone_id": st.one_of(st.binary(max_size=34), st.just(b"stranger")),
        "gcs_id": st.one_of(st.binary(max_size=34), st.just(b"south")),
        "features": st.integers(0, 65535),
        "index": st.integers(0, 255),
        "max_datagram": st.one_of(st.sampled_from([547, 548, 1199, 1200]), st.integers(0, 65535)),
        "term": st.integers(0, 2**32 - 1),
        "return_proof": st.one_of(st.binary(max_size=40), st.binary(min_size=28, max_size=28)),
        "suite_id": names,
        "kem_name": names,
        "sig_name": names,
        "flags": st.one_of(st.integers(0, 3), st.integers(0, 255)),
        "prev_session": st.sampled_from([bytes(8), RUNNING, b"another!"]),
        "epoch": st.sampled_from([0, 1, 2, 3, 254, 255]),
    },
)
policies = st.fixed_dictionaries(
    {
        "running": st.sampled_from([None, 0, 1, 2, 254, 255]),
        "require_signature": st.booleans(),
        "allow_pure": st.booleans(),
        "has_signing_key": st.booleans(),
        "has_drone_public": st.booleans(),
    }
)


def responders(policy):
    """(engine's, own) with the same knowledge and rules."""
    native, own = {}, {}
    inside = None
    if policy["running"] is not None:
        native["session"] = (RUNNING, policy["running"], CK)
        own["sessions"] = {DRONE_ID: Previous(RUNNING, policy["running"], CK)}
        inside = (DRONE_ID, RUNNING)
    native["require_signature"] = policy["require_signature"]
    own["require_signature"] = frozenset([DRONE_ID]) if policy["require_signature"] else frozenset()
    native["allow_pure"] = own["allow_pure"] = policy["allow_pure"]
    if not policy["has_signing_key"]:
        native["gcs_secrets"] = own["sign_secrets"] = {}
    if not policy["has_drone_public"]:
        native["drone_publics"] = own["drone_publics"] = {}
    return engine_responder(LIGHT, **native), Responder(policy_for(LIGHT, **own), inside=inside)


def reply_to_hello(responder, changes, psk):
    """What a ClientHello with a valid gate under `psk` gets: the whole Reject, nothing, or only the type of an M2."""
    hello = ClientHello(
        *(DRONE_ID.encode(), b"gcs", NONCE, LIGHT.id.encode(), b"ML-KEM-512", b"ML-DSA-44"),
        flags=1,
        prev_session=bytes(8),
        epoch=0,
    )
    hello = replace(hello, **changes)
    mac = gate(gate_key(psk), M0, hello.frame_without_gate())
    reply = responder.feed(hello.with_gate(mac).frame())
    return reply if len(reply) <= 40 else reply[4:5]


@settings(max_examples=600)
@given(hellos, policies, st.sampled_from([PSK, PSK, PSK, bytes(32)]))
def test_same_answer_to_any_hello(changes, policy, psk):
    native, own = responders(policy)
    assert reply_to_hello(native, changes, psk) == reply_to_hello(own, changes, psk)
    assert (native.keygens == 1) is (len(own.transcript.m2) > 0)


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_no_bytes_in_place_of_a_hello_get_an_answer(data):
    responder = engine_responder(LIGHT)
    assert responder.feed(data) == b""
    assert responder.keygens == 0


@pytest.mark.parametrize("number", range(1, 5))
def test_flipped_bytes_and_garbage_of_every_message_are_refused(number):
    """The engine is the receiver."""

    def until(number):
        if number % 2:
            initiator, responder = initiator_for(LIGHT, signed=True), engine_responder(LIGHT)
        else:
            initiator, responder = engine_initiator(LIGHT, signed=True), Responder(policy_for(LIGHT))
        message = initiator.start()
        for turn in range(1, number):
            message = (initiator, responder)[turn % 2].feed(message)
        return message, (initiator, responder)[number % 2]

    size = len(until(number)[0])
    for at in {*range(0, size, 1 if size < 300 else 41), *range(min(size, 80)), *range(max(0, size - 80), size)}:
        message, receiver = until(number)
        damaged = message[:at] + bytes([message[at] ^ 0x01]) + message[at + 1 :]
        assert receiver.feed(damaged) == b"", at
        assert receiver.keys is None
        # a frame that announces one byte more is waited for, all else fails at once
        assert receiver.status == "failed" or (at == 3 and damaged[3] > message[3]), at
    message, receiver = until(number)
    receiver.feed(message + b"\0")
    assert (receiver.status, receiver.keys) == ("failed", None)


@settings(max_examples=500)
@given(st.one_of(st.binary(max_size=60), st.sampled_from(sorted(map(control.encode, TLVS.values()))), st.data()))
def test_same_reading_of_control_content(content):
    if not isinstance(content, bytes):  # a valid content with one byte changed
        valid = content.draw(st.sampled_from(sorted(map(control.encode, TLVS.values()))))
        at, value = content.draw(st.integers(0, len(valid) - 1)), content.draw(st.integers(0, 255))
        content = valid[:at] + bytes([value]) + valid[at + 1 :]
    try:
        own = [(name_of(tlv), fields_of(tlv)) for tlv in control.decode(content)]
    except MalformedError:
        own = None
    native = engine.parse_controls(content)
    assert native == own


def name_of(tlv):
    if isinstance(tlv, control.Handshake):
        return "HS"
    words = "".join(f"_{c}" if c.isupper() else c for c in type(tlv).__name__)
    return words.lstrip("_").upper()


def fields_of(tlv):
    if isinstance(tlv, control.Handshake):
        return {"value": tlv.value()}
    fields = dict(vars(tlv))
    drops = [fields.pop(name) for name in list(fields) if name.startswith("drop_")]
    return fields | ({"drops": drops} if drops else {})


@pytest.mark.parametrize("name", TLVS)
def test_engine_encodes_control_as_specified(name):
    tlv = TLVS[name]
    assert engine.encode_control(name_of(tlv), **fields_of(tlv)) == control.encode(tlv)


sequences = st.one_of(st.integers(0, 200), st.integers(0, 2**48 + 1))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(sequences, st.booleans(), st.integers(0, 400)), max_size=60), st.sampled_from([64, 128, 1024])
)
def test_same_fate_of_any_sequence_of_datagrams(script, window_bits):
    """Sequence numbers in any order, control frames among them, some damaged at one bit."""
    keys = SessionKeys(find_suite("ML-768-AG-MD-65"), b"session1", 3, bytes(32), bytes(range(32)))
    own = ReceiveKey(keys, Direction.D2G, window_bits)
    native = engine.ReceiveKey(engine_keys(keys), "d2g", window_bits)
    for sequence, is_control, bit in script:
        if sequence >= 2**48:
            datagram = SendKey(keys, Direction.D2G, 0).seal(b"")
            datagram = datagram[:13] + sequence.to_bytes(8, "big") + datagram[21:]
        else:
            content = b"\x07\x00\x00"[: 2 + sequence % 2] if is_control else b""
            datagram = SendKey(keys, Direction.D2G, sequence).seal(content, kind=KIND_CONTROL * is_control)
        if bit < len(datagram) * 8:
            damaged = bytearray(datagram)
            damaged[bit // 8] ^= 1 << bit % 8
            datagram = bytes(damaged)
        outcome, plaintext = native.open(datagram)
        assert (OUTCOMES[outcome], plaintext) == own.open(datagram)


@pytest.mark.parametrize("name", ["data", "control"])
def test_engine_agrees_with_the_datagram_vectors(name):
    file = VectorFile.read(VECTORS / f"{name}.txt")
    for row in (row for row in file.sections if "datagram" in row):
        given = row if name == "data" else file["keys"]
        key, direction, epoch = given.raw("key"), given.text("direction"), given.number("epoch")
        keys = engine.SessionKeys(given.text("suite"), given.raw("session_id"), epoch, key, key)
        outcome, _ = engine.ReceiveKey(keys, direction).open(row.raw("datagram"))
        expected = row.text("outcome") if "outcome" in row else "delivered"
        assert OUTCOMES[outcome].value == expected
        content, datagram = row.raw("payload" if name == "data" else "content"), row.raw("datagram")
        token = find_suite(given.text("suite")).aead.token
        sealed = engine.aead_seal(token, key, epoch, row.number("sequence"), datagram[:22], content)
        assert sealed == datagram[22:]


def test_engine_agrees_with_the_receiver_script():
    file = VectorFile.read(VECTORS / "receive.txt")
    row = file["receiver"]
    key = row.raw("key")
    keys = engine.SessionKeys(row.text("suite"), row.raw("session_id"), row.number("epoch"), key, key)
    receiver = engine.ReceiveKey(keys, row.text("direction"), row.number("window_bits"))
    for step in file.sections[2:]:
        outcome, plaintext = receiver.open(step.raw("datagram"))
        assert (OUTCOMES[outcome].value, plaintext) == (step.text("outcome"), step.raw("plaintext")), step.text("what")
