# SPDX-License-Identifier: Apache-2.0
"""Test vectors of compact headers and bundles (docs/protocol.md section 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seeded import SeededRandom
from vectorfile import Section, VectorFile
from vectors_data import SUITE_PER_AEAD, keys_of, put_keys, receive_script
from vectors_keys import begin

from pqc_mav_wirespec import bundle, control
from pqc_mav_wirespec.dataplane import (
    KIND_BUNDLE,
    KIND_CONTROL,
    KIND_DATA,
    CompactHeader,
    Direction,
    Outcome,
    ReceiveKey,
    SendKey,
)
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError
from pqc_mav_wirespec.keyschedule import FEATURE_BUNDLES, FEATURE_COMPACT, SessionKeys
from pqc_mav_wirespec.suites import find_suite

INDICES = (0, 255, 256, 65535)
PLACES = {  # (H + 1, sequence)
    "first": (0, 0),
    "ahead-of-none": (0, 16_382),
    "below-wrap": (65_530, 65_532),
    "last-of-lap": (65_535, 65_535),
    "wrap": (65_535, 65_536),
    "late-below-wrap": (65_540, 65_535),
    "above-wrap": (65_540, 65_541),
    "half-a-lap-ahead": (100_000, 132_768),
    "high": (1 << 40, (1 << 40) + 16_000),
}
LOST = {"lost-lap": (0, 65_541), "lost-half": (40_000, 72_769)}  # which do not reconstruct

BUNDLES = {  # lengths of the datagrams
    "one": (40,),
    "one-empty": (0,),
    "two": (40, 40),
    "edges": (0, 127, 128, 1, 0),
    "longest": (1_000,),
    "sixty-four": (3,) * 64,
}
UNUSABLE = {
    "empty": b"",
    "one-byte-of-two": b"\x80",
    "torn": b"\x02a",
    "torn-long": b"\x80\x80" + bytes(127),
    "second-torn": b"\x01a\x01",
    "short-length-in-two-bytes": b"\x80\x7f" + bytes(127),
    "sixty-five": b"\0" * 65,
}


def generate_compact(seed: bytes) -> VectorFile:
    """One frame per index and place, in both forms, and two whose sequence cannot be found."""
    random = SeededRandom(seed + b"/compact")
    file = begin("compact", "Compact frames")
    keys = SessionKeys(find_suite(SUITE_PER_AEAD[0]), random(8), 2, random(32), random(32))
    put_keys(file.section("keys"), keys, Direction.D2G)
    for index in INDICES:
        for turn, (name, (expected, sequence)) in enumerate({**PLACES, **(LOST if index == 0 else {})}.items()):
            content = control.encode(control.Keepalive()) if turn % 3 == 2 else random(turn % 5)
            row = file.section(f"index-{index}-{name}").put(index=index, expected=expected, sequence=sequence)
            kind = KIND_CONTROL if turn % 3 == 2 else KIND_DATA
            compact, long = _both_forms(keys, index, sequence, kind, content)
            row.put(content=content, datagram=compact, long=long)
            row.put(outcome=_open_after(keys, index, expected, compact)[0].value)
    return file


def generate_receive(seed: bytes) -> VectorFile:
    """A script for a receiver with compact headers."""
    random = SeededRandom(seed + b"/receive compact")
    suite, session_id = find_suite(SUITE_PER_AEAD[0]), random(8)
    keys = SessionKeys(suite, session_id, 1, random(32), random(32), features=FEATURE_COMPACT, own_index=7)
    return receive_script("receive_compact", keys, 64, compact_steps(keys, 64))


def check_compact(file: VectorFile) -> None:
    """Both forms must be what sealing gives, and the compact one must meet its outcome behind H."""
    keys, _ = keys_of(file["keys"])
    for row in file.sections[2:]:
        _check_row(keys, row)


def _check_row(keys: SessionKeys, row: Section) -> None:
    compact, long, content = row.raw("datagram"), row.raw("long"), row.raw("content")
    index, expected = row.number("index"), row.number("expected")
    kind = CompactHeader.parse(compact).kind
    if _both_forms(keys, index, row.number("sequence"), kind, content) != (compact, long):
        raise AuthenticationError(f"[{row.name}] is not what sealing its content gives")
    outcome, opened = _open_after(keys, index, expected, compact)
    if outcome.value != row.text("outcome") or opened not in (content, b""):
        raise MalformedError(f"[{row.name}] opens as {outcome.value}, expected {row.text('outcome')}")


def _both_forms(keys: SessionKeys, index: int, sequence: int, kind: int, content: bytes) -> tuple[bytes, bytes]:
    agreed = replace(keys, features=FEATURE_COMPACT, peer_index=index)
    short = SendKey(agreed, Direction.D2G, sequence)
    short.seen = sequence - 1
    return short.seal(content, kind=kind), SendKey(keys, Direction.D2G, sequence).seal(content, kind=kind)


def _open_after(keys: SessionKeys, index: int, expected: int, datagram: bytes) -> tuple[Outcome, bytes]:
    """What a receiver makes of it whose highest verified sequence is `expected` - 1."""
    receiver = ReceiveKey(replace(keys, features=FEATURE_COMPACT, own_index=index), Direction.D2G)
    if expected > 0:
        receiver.open(SendKey(keys, Direction.D2G, expected - 1).seal(b""))
    return receiver.open(datagram)


def compact_steps(keys: SessionKeys, window_bits: int) -> Iterator[tuple[Outcome, str, bytes]]:
    """Datagrams in order of arrival at one receiver with compact headers, and what section 10 demands of each."""
    short, plain = replace(keys, peer_index=keys.own_index), replace(keys, features=0)

    def sealed(
        sequence: int, kind: int = KIND_DATA, content: bytes = b"payload", *, form: SessionKeys = short
    ) -> bytes:
        sender = SendKey(form, Direction.D2G, sequence)
        sender.seen = sequence - 1
        return sender.seal(content, kind=kind)

    def changed(datagram: bytes, at: int, to: int) -> bytes:
        return datagram[:at] + bytes([to]) + datagram[at + 1 :]

    first = sealed(0)
    yield Outcome.MALFORMED, "no room for the tag", first[:19]
    yield Outcome.MALFORMED, "control and bundle", changed(first, 0, 0xE0)
    yield Outcome.MALFORMED, "one of the last four bits", changed(first, 0, 0x81)
    yield Outcome.MALFORMED, "an index below 256 in two bytes", b"\x90\x00" + first[1:]
    yield Outcome.MALFORMED, "a bundle without the feature", changed(first, 0, 0xA0)
    yield Outcome.UNKNOWN, "another index", changed(first, 1, keys.own_index ^ 1)
    yield Outcome.UNKNOWN, "a wide index", b"\x90\x01" + first[1:]
    yield Outcome.AUTH_FAIL, "data frame made a control frame", changed(first, 0, 0xC0)
    yield Outcome.AUTH_FAIL, "sequence changed", changed(first, 3, 1)
    yield Outcome.DELIVERED, "first", first
    yield Outcome.REPLAY, "first in the long form", sealed(0, form=plain)
    yield Outcome.DELIVERED, "second in the long form", sealed(1, form=plain)
    yield Outcome.REPLAY, "second in the compact form", sealed(1)
    yield Outcome.CONTROL, "keepalive", sealed(2, KIND_CONTROL, control.encode(control.Keepalive()))
    yield Outcome.DECRYPT_FAIL, "unusable control content", sealed(3, KIND_CONTROL, b"\x07\x00")
    yield Outcome.DELIVERED, "the furthest that may be compact", sealed(16_386)
    yield Outcome.SEQ_OLD, "just below the window", sealed(16_386 - window_bits)
    yield Outcome.DELIVERED, "just inside the window", sealed(16_387 - window_bits)
    yield Outcome.AUTH_FAIL, "further ahead than half a lap", sealed(16_387 + 65_536 + 1)
    yield Outcome.DELIVERED, "the same in the long form", sealed(16_387 + 65_536 + 1, form=plain)
    yield Outcome.DELIVERED, "and on with compact ones", sealed(16_387 + 65_536 + 2)


def generate_bundles(seed: bytes) -> VectorFile:
    """Bundles in the long and the compact form, and contents that are unusable as a whole."""
    random = SeededRandom(seed + b"/bundles")
    file = begin("bundles", "Bundles")
    keys = SessionKeys(find_suite(SUITE_PER_AEAD[0]), random(8), 4, random(32), random(32))
    put_keys(file.section("keys"), keys, Direction.G2D)
    contents = {name: bundle.encode(map(random, lengths)) for name, lengths in BUNDLES.items()}
    contents |= {f"unusable-{name}": content for name, content in UNUSABLE.items()}
    for sequence, (name, content) in enumerate(contents.items()):
        row = file.section(name).put(sequence=sequence, index=9, content=content)
        compact, long = _both_bundles(keys, 9, sequence, content)
        row.put(datagram=compact, long=long)
        if name in BUNDLES:
            row.put(lengths=",".join(map(str, BUNDLES[name])))
        row.put(outcome="delivered" if name in BUNDLES else "drop_decrypt_fail")
    return file


def check_bundles(file: VectorFile) -> None:
    """Both forms must be what sealing gives, and open to datagrams of the recorded lengths, or to nothing."""
    keys, direction = keys_of(file["keys"])
    for row in file.sections[2:]:
        content, index = row.raw("content"), row.number("index")
        compact, long = _both_bundles(keys, index, row.number("sequence"), content)
        if (compact, long) != (row.raw("datagram"), row.raw("long")):
            raise AuthenticationError(f"[{row.name}] is not what sealing its content gives")
        for datagram in (compact, long):
            receiver = ReceiveKey(replace(keys, features=FEATURE_COMPACT | FEATURE_BUNDLES, own_index=index), direction)
            outcome, opened = receiver.open(datagram)
            if outcome.value != row.text("outcome") or opened not in (content, b""):
                raise MalformedError(f"[{row.name}] opens as {outcome.value}, expected {row.text('outcome')}")
        if "lengths" in row and ",".join(str(len(each)) for each in bundle.decode(content)) != row.text("lengths"):
            raise MalformedError(f"[{row.name}] has datagrams of other lengths")


def _both_bundles(keys: SessionKeys, index: int, sequence: int, content: bytes) -> tuple[bytes, bytes]:
    sender = SendKey(replace(keys, features=FEATURE_COMPACT, peer_index=index), Direction.G2D, sequence)
    long = SendKey(keys, Direction.G2D, sequence).seal(content, kind=KIND_BUNDLE)
    return sender.seal(content, kind=KIND_BUNDLE), long
