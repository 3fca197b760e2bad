# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec import control, dataplane
from pqc_mav_wirespec.dataplane import (
    COMPACT_LAG,
    HEADER,
    KIND_CONTROL,
    OVERHEAD_BYTES,
    Direction,
    Header,
    Outcome,
    ReceiveKey,
    SendKey,
    is_compact,
)
from pqc_mav_wirespec.errors import KeyExhaustedError, MalformedError
from pqc_mav_wirespec.keyschedule import FEATURE_COMPACT, SessionKeys
from pqc_mav_wirespec.replay import SEQUENCE_LIMIT
from pqc_mav_wirespec.suites import find_suite

SUITES = [find_suite(name) for name in ("ML-768-AG-MD-65", "HQC-128-CP-FA-512", "MC-348-AS-SP-128s")]


def keys_for(suite=SUITES[0], epoch=1):
    return SessionKeys(suite, b"session1", epoch, bytes(range(32)), bytes(range(32, 64)))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.aead.token)
@given(payload=st.binary(max_size=200))
def test_carries_any_datagram_in_both_directions(suite, payload):
    keys = keys_for(suite)
    for direction in Direction:
        datagram = SendKey(keys, direction).seal(payload)
        assert len(datagram) == len(payload) + OVERHEAD_BYTES
        assert ReceiveKey(keys, direction).open(datagram) == (Outcome.DELIVERED, payload)


def test_layout_of_the_header():
    datagram = SendKey(keys_for(epoch=9), Direction.D2G, next_sequence=0x0102).seal(b"")
    assert datagram[:22].hex() == "03" + "01020102" + b"session1".hex() + "0000000000000102" + "09"
    control_frame = SendKey(keys_for(), Direction.D2G).seal_control(control.Keepalive())
    assert control_frame[0] == 0x13


def test_directions_have_their_own_keys():
    datagram = SendKey(keys_for(), Direction.D2G).seal(b"echo")
    assert ReceiveKey(keys_for(), Direction.G2D).open(datagram)[0] is Outcome.AUTH_FAIL


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.aead.token)
def test_every_flipped_byte_is_dropped_and_moves_nothing(suite):
    keys = keys_for(suite)
    datagram = SendKey(keys, Direction.D2G, next_sequence=5).seal(b"payload")
    receiver = ReceiveKey(keys, Direction.D2G)
    for at in range(len(datagram)):
        damaged = datagram[:at] + bytes([datagram[at] ^ 0x80]) + datagram[at + 1 :]
        outcome, payload = receiver.open(damaged)
        expected = Outcome.MALFORMED if at <= 4 else Outcome.UNKNOWN if at <= 12 or at == 21 else Outcome.AUTH_FAIL
        if 13 <= at <= 14:  # a sequence at or above 2^48
            expected = Outcome.SEQ_OLD
        assert (outcome, payload) == (expected, b""), at
    assert receiver.window.highest == -1
    assert receiver.open(datagram) == (Outcome.DELIVERED, b"payload")


@given(st.binary(max_size=100))
def test_random_bytes_are_never_delivered(data):
    assert ReceiveKey(keys_for(), Direction.D2G).open(data)[0] in (Outcome.MALFORMED, Outcome.UNKNOWN)


def test_a_key_ends_before_2_to_the_48():
    key = SendKey(keys_for(), Direction.D2G, next_sequence=SEQUENCE_LIMIT - 1)
    key.seal(b"last")
    with pytest.raises(KeyExhaustedError, match="rekey"):
        key.seal(b"one too many")


def test_a_key_ends_after_the_packets_that_it_may_carry(monkeypatch):
    monkeypatch.setattr(dataplane, "KEY_PACKETS", 2)
    sender, receiver = SendKey(keys_for(), Direction.D2G), ReceiveKey(keys_for(), Direction.D2G)
    for _ in range(2):
        assert receiver.open(sender.seal(b"one")) == (Outcome.DELIVERED, b"one")
    with pytest.raises(KeyExhaustedError, match="rekey"):
        sender.seal(b"one too many")
    other = SendKey(keys_for(), Direction.D2G, next_sequence=2).seal(b"of a peer that does not count")
    assert receiver.open(other) == (Outcome.AUTH_FAIL, b"")


def test_limits_of_a_header():
    datagram = SendKey(keys_for(), Direction.D2G).seal(b"1234")
    with pytest.raises(MalformedError, match="expected 38 to 41"):
        Header.parse(datagram, longest=41)
    assert Header.parse(datagram, longest=42).pack() == datagram[:22]


def test_unusable_control_content_is_counted_and_its_number_used():
    sender, receiver = SendKey(keys_for(), Direction.G2D), ReceiveKey(keys_for(), Direction.G2D)
    datagram = sender.seal(b"\x07", kind=KIND_CONTROL)
    assert receiver.open(datagram) == (Outcome.DECRYPT_FAIL, b"")
    assert receiver.open(datagram) == (Outcome.REPLAY, b"")


def test_a_compact_frame_stands_for_the_long_one():
    keys = replace(keys_for(), features=FEATURE_COMPACT, own_index=300, peer_index=300)
    short, long = SendKey(keys, Direction.D2G).seal(b"text"), SendKey(keys, Direction.D2G).seal(b"text", long_form=True)
    assert short[:5] == bytes.fromhex("90012c0000")
    assert short[5:] == long[HEADER.size :]
    receiver = ReceiveKey(keys, Direction.D2G)
    assert receiver.open(short) == (Outcome.DELIVERED, b"text")
    assert receiver.open(long) == (Outcome.REPLAY, b"")


def test_what_the_peer_has_not_seen_limits_the_compact_form():
    keys = replace(keys_for(), features=FEATURE_COMPACT)
    sender = SendKey(keys, Direction.D2G, next_sequence=COMPACT_LAG - 2)
    assert [is_compact(sender.seal(b"")) for _ in range(2)] == [True, False]
    sender.peer_has_seen(COMPACT_LAG + 5)
    assert not is_compact(sender.seal(b""))
    sender.peer_has_seen(COMPACT_LAG)
    assert is_compact(sender.seal(b""))
