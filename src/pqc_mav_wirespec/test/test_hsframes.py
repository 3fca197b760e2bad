# SPDX-License-Identifier: Apache-2.0
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec import hsframes
from pqc_mav_wirespec.errors import MalformedError
from pqc_mav_wirespec.hsframes import Ack, CookieFrame, Fragment, FragmentKeys, HandshakeDatagram, parse_frames

KEYS = FragmentKeys.derive(bytes(32), b"attempt1")
M1 = Fragment(1, 200, 200, 0, bytes(200))


def ack(count, have):
    return Ack.of(2, 7, 5, count, set(have))


@pytest.mark.parametrize(
    ("count", "have", "base", "bitmap"),
    [
        (1, [], 0, ""),
        (1, [0], 1, ""),
        (4, [0, 1, 2, 3], 4, ""),
        (4, [3], 0, "04"),
        (10, [0, 2, 9], 1, "81"),
        (11, [0, 2, 10], 1, "0101"),
        (255, range(1, 255), 0, "ff" * 31 + "3f"),
        (256, range(1, 256), 0, "ff" * 31 + "7f"),
        (257, range(1, 257), 0, "ff" * 32),
        (600, range(257, 600), 0, ""),
        (600, range(256, 600), 0, "00" * 31 + "80"),
    ],
)
def test_bitmaps(count, have, base, bitmap):
    made = ack(count, have)
    assert (made.base, made.bitmap.hex()) == (base, bitmap)
    assert parse_frames(made.pack(), from_drone=True) == (made,)
    assert made.here == {index for index in have if base < index <= base + 256}


@given(st.integers(1, 700), st.sets(st.integers(0, 699)))
def test_an_ack_says_what_is_here(count, have):
    have = {index for index in have if index < count}
    made = ack(count, have)
    assert all(index in have for index in range(made.base))
    assert made.base not in have
    assert made.here == {index for index in have if made.base < index <= made.base + 256}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\4",
        b"\0\0\1",
        M1.pack()[:-1],
        M1.pack() + b"\5",
        M1.pack() + Fragment(3, 200, 200, 0, bytes(200)).pack(),
        Fragment(2, 200, 200, 0, bytes(200)).pack(),
        Fragment(5, 200, 200, 0, bytes(200)).pack(),
        Fragment(3, 3000, 474, 0, bytes(474)).pack(),
        Fragment(3, 3000, 1151, 0, bytes(1151)).pack(),
        Fragment(3, 3000, 1000, 4, bytes(1000)).pack(),
        Fragment(3, 5000, 1000, 6, bytes(1000)).pack(),
        Fragment(3, 17_000, 1000, 17, bytes(1000)).pack(),
        Ack(1, 0, 0, 0).pack(),
        Ack(2, 0, 0, 0, bytes(33)).pack(),
        ack(9, [8]).pack()[:-1],
        ack(9, [8]).pack() * 5,
        Fragment(1, 120, 120, 0, bytes(120)).pack() * 5,
        CookieFrame(bytes(32)).pack(),
        M1.pack() + CookieFrame(bytes(32)).pack() * 2,
        M1.pack() + CookieFrame(bytes(31)).pack(),
    ],
    ids=lambda data: data[:12].hex() or "empty",
)
def test_malformed_frames(data):
    with pytest.raises(MalformedError):
        parse_frames(data, from_drone=True)


@pytest.mark.parametrize("data", [b"\0", M1.pack() + b"\0", M1.pack() + CookieFrame(bytes(32)).pack()])
def test_no_padding_and_no_cookie_inside_a_session(data):
    parse_frames(data, from_drone=True)
    with pytest.raises(MalformedError):
        parse_frames(data, from_drone=True, is_session=True)


def test_parity_exists_only_for_groups_of_two_to_four_in_messages_of_two_to_sixteen():
    assert hsframes.parity_indices(1) == {}
    assert hsframes.parity_indices(2) == {2: range(2)}
    assert hsframes.parity_indices(5) == {5: range(4)}
    assert hsframes.parity_indices(6) == {6: range(4), 7: range(4, 6)}
    assert len(hsframes.parity_indices(16)) == 4
    assert hsframes.parity_indices(17) == {}


def test_a_datagram_with_padding_verifies_and_nothing_bent_does():
    frames = M1.pack() + bytes(100)
    sealed = hsframes.seal_datagram(KEYS, is_drone=True, attempt=b"attempt1", packet=3, frames=frames)
    parsed = HandshakeDatagram.parse(sealed)
    assert (parsed.attempt, parsed.packet, parsed.frames) == (b"attempt1", 3, (M1,))
    assert parsed.verifies(KEYS)
    for at in range(len(sealed)):
        bent = sealed[:at] + bytes([sealed[at] ^ (0x70 if at == 0 else 1)]) + sealed[at + 1 :]
        with contextlib.suppress(MalformedError):
            assert not HandshakeDatagram.parse(bent).verifies(KEYS)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    for first in (0x33, 0x43):
        try:
            parsed = HandshakeDatagram.parse(bytes([first]) + data)
        except MalformedError:
            continue
        assert not parsed.verifies(KEYS)


def test_retry_and_restart():
    retry = hsframes.seal_retry(KEYS, b"attempt1", bytes(range(32)))
    assert (len(retry), hsframes.parse_retry(retry)) == (57, (b"attempt1", bytes(range(32))))
    assert hsframes.retry_verifies(retry, KEYS)
    assert not hsframes.retry_verifies(retry[:-1] + bytes([retry[-1] ^ 1]), KEYS)
    restart = hsframes.restart_datagram(b"session1", bytes(16))
    assert (len(restart), hsframes.parse_restart(restart)) == (25, (b"session1", bytes(16)))
    for parse, data in ((hsframes.parse_retry, retry), (hsframes.parse_restart, restart)):
        for wrong in (data[:-1], data + b"\0"):
            with pytest.raises(MalformedError):
                parse(wrong)
