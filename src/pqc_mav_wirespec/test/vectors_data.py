# SPDX-License-Identifier: Apache-2.0
"""Test vectors of the suite table, the data plane and control frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

from seeded import SeededRandom
from vectorfile import Section, Value, VectorFile
from vectors_keys import begin

from pqc_mav_wirespec import control, dataplane
from pqc_mav_wirespec.control import Tlv
from pqc_mav_wirespec.dataplane import KIND_CONTROL, KIND_DATA, Direction, Outcome, ReceiveKey, SendKey
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError
from pqc_mav_wirespec.keyschedule import SessionKeys
from pqc_mav_wirespec.replay import SEQUENCE_LIMIT
from pqc_mav_wirespec.suites import ALL_SUITES, find_suite

SEQUENCES = (0, 1, SEQUENCE_LIMIT - 1)
EPOCHS = (0, 1, 255)
SHORT_PAYLOADS = (0, 1)
LONG_PAYLOADS = (255, 1400)
SUITE_PER_AEAD = ("ML-768-AG-MD-65", "HQC-256-CP-SP-256f", "MC-348-AS-FA-512", "ML-512-AA-MD-44")
TLVS: dict[str, Tlv] = {
    "probe": control.Probe(0x01020304, 0x1112131415161718),
    "probe_reply": control.ProbeReply(0x01020304, 0x1112131415161718, 0x2122232425262728, 0x3132333435363738),
    "link_report": control.LinkReport(5000, 319_800, 3_700, 21_000, 240, 1_250, 2, 3, 4, 5, 6, 7, 1 << 40),
    "switched": control.Switched(255),
    "rekey_request": control.RekeyRequest(7, "cs-mlkem768-aesgcm-mldsa65", "battery low"),
    "rekey_request_same": control.RekeyRequest(0xFFFFFFFF, "", ""),
    "close": control.Close(control.Close.SHUTDOWN),
    "keepalive": control.Keepalive(),
    "rekey_result": control.RekeyResult(7, True, 3, 4_120, "switched"),
    "handshake": control.Handshake(b"attempt1", 0x01020304, bytes.fromhex("02030000000500000000") + b"\0"),
    "return": control.Return(0x0000ABCD, bytes(range(8)), bytes(range(32))),
    "restart": control.Restart(bytes(range(16))),
    "path_challenge": control.PathChallenge(bytes(range(8))),
    "path_response": control.PathResponse(bytes(range(8))),
    "seen": control.Seen(0x0102030405060708),
    "got_return": control.got(control.Return(0x0000ABCD, bytes(range(8)), bytes(range(32)))),
    "got_restart": control.got(control.Restart(bytes(range(16)))),
    "role_active": control.Role(control.Role.ACTIVE, 0x01020304),
    "role_standby": control.Role(control.Role.STANDBY, 0xFFFFFFFF),
    "term": control.Term(0x01020304),
    "got_role": control.got(control.Role(control.Role.ACTIVE, 0x01020304)),
    "got_term": control.got(control.Term(0x01020304)),
    "rekey_request_ratchet": control.RekeyRequest(8, "", "key age", ratchet=True),
    "pin": control.Pin(7, 600),
    "path_response_labelled": control.PathResponse(bytes(range(8)), 3),
    "paths": control.Paths(0x01020304, 1, 0x05 | control.Paths.AGAIN),
    "paths_for_commands": control.Paths(0x01020305, 2, control.Paths.ONLY_COMMANDS),
    "got_paths": control.got(control.Paths(0x01020304, 1, 0x05)),
    "arrived": control.Arrived(0x0102030405060708, 0x1112131415161718, 0x2122232425262728),
    "alarm": control.Alarm(2, "handshake_flood"),
    "alarm_over": control.Alarm(0, ""),
}
UNUSABLE: dict[str, bytes] = {
    "empty": b"",
    "type_only": bytes.fromhex("07"),
    "length_cut": bytes.fromhex("0700"),
    "value_cut": bytes.fromhex("060001"),
    "value_beyond_frame": bytes.fromhex("07ffff00"),
    "keepalive_with_value": bytes.fromhex("07000100"),
    "close_too_long": bytes.fromhex("0600020101"),
    "probe_too_short": bytes.fromhex("01000b") + bytes(11),
    "link_report_too_long": bytes.fromhex("03004d") + bytes(77),
    "rekey_request_suite_beyond_value": bytes.fromhex("050006") + bytes.fromhex("000000010900"),
    "rekey_request_bytes_left": bytes.fromhex("050007") + bytes.fromhex("00000001000000"),
    "rekey_request_suite_not_printable": bytes.fromhex("05000700000001010a00"),
    "rekey_request_reason_not_ascii": bytes.fromhex("050007000000010001e9"),
    "rekey_result_text_beyond_value": bytes.fromhex("08000c") + bytes.fromhex("000000010101000000ff0241"),
    "handshake_too_short": bytes.fromhex("20000b") + bytes(11),
    "return_too_short": bytes.fromhex("21002b") + bytes(43),
    "restart_too_long": bytes.fromhex("220011") + bytes(17),
    "seen_too_short": bytes.fromhex("230007") + bytes(7),
    "path_challenge_too_short": bytes.fromhex("240007") + bytes(7),
    "path_response_too_long": bytes.fromhex("25000a") + bytes(10),
    "path_response_of_more": bytes.fromhex("250009") + bytes(8) + bytes([4]),
    "paths_main_of_more": bytes.fromhex("2c0006") + bytes.fromhex("000000010400"),
    "paths_other_of_more": bytes.fromhex("2c0006") + bytes.fromhex("000000010010"),
    "paths_too_short": bytes.fromhex("2c0005") + bytes(5),
    "role_of_none": bytes.fromhex("260005") + bytes.fromhex("0000000001"),
    "role_of_more": bytes.fromhex("260005") + bytes.fromhex("0300000001"),
    "role_too_short": bytes.fromhex("260004") + bytes.fromhex("01000000"),
    "term_too_long": bytes.fromhex("270005") + bytes(5),
    "got_too_short": bytes.fromhex("280004") + bytes(4),
    "pin_too_short": bytes.fromhex("2a0007") + bytes(7),
    "arrived_too_short": bytes.fromhex("2b0017") + bytes(23),
    "alarm_of_more": bytes.fromhex("2d00020300"),
    "alarm_kind_too_long": bytes.fromhex("2d001b0119") + b"a" * 25,
    "good_then_bad": control.encode(control.Keepalive()) + bytes.fromhex("060000"),
    "seventeen_known": control.encode(*[control.Keepalive()] * 17),
    "unknown_cut": bytes.fromhex("c8000401"),
}


def generate_suites() -> VectorFile:
    """Every suite with its alias and the four id bytes of its header."""
    file = begin("suites", "The suite table")
    for suite in ALL_SUITES:
        row = file.section(suite.id).put(short_code=suite.short_code)
        row.put(level=suite.kem.level, core=int(suite.core), header_ids=suite.header_ids)
    return file


def check_suites(file: VectorFile) -> None:
    """The table must be this package's, no row more or less."""
    if file.body() != generate_suites().body():
        raise AuthenticationError("the suite table differs from docs/protocol.md section 1")


def generate_data(seed: bytes) -> VectorFile:
    """Data frames: every cipher, epoch and sequence with a short payload, and each cipher with the long ones."""
    random = SeededRandom(seed + b"/data")
    file = begin("data", "Data frames")

    def put(keys: SessionKeys, sequence: int, size: int) -> None:
        number = len(file.sections) - 1
        row, direction = file.section(f"{keys.suite.aead.token}-{number:03d}"), list(Direction)[number % 2]
        put_keys(row, keys, direction)
        payload = random(size)
        row.put(sequence=sequence, payload=payload, datagram=SendKey(keys, direction, sequence).seal(payload))

    for short_code in SUITE_PER_AEAD:
        for turn, epoch in enumerate(EPOCHS):
            keys = SessionKeys(find_suite(short_code), random(8), epoch, random(32), random(32))
            for place, sequence in enumerate(SEQUENCES):
                put(keys, sequence, SHORT_PAYLOADS[(turn + place) % 2])
        for size in LONG_PAYLOADS:
            put(keys, SEQUENCES[1], size)
    return file


def check_data(file: VectorFile) -> None:
    """Each datagram must be what sealing gives, and must open."""
    for row in file.sections[1:]:
        _check_datagram(row, row, KIND_DATA, row.raw("payload"))


def generate_control(seed: bytes) -> VectorFile:
    """One control frame per TLV type, one with several, and contents that are unusable as a whole."""
    random = SeededRandom(seed + b"/control")
    file = begin("control", "Control frames")
    several = control.encode(TLVS["switched"]) + bytes.fromhex("c80003010203") + control.encode(TLVS["keepalive"])
    contents = {f"tlv-{name}": control.encode(tlv) for name, tlv in TLVS.items()}
    contents |= {"several-switched-unknown-keepalive": several}
    most = control.encode(*[control.Keepalive()] * control.MAX_TLVS) + bytes.fromhex("c80000") * 4
    contents |= {"several-sixteen-known-four-unknown": most}
    contents |= {f"unusable-{name}": content for name, content in UNUSABLE.items()}
    keys = SessionKeys(find_suite(SUITE_PER_AEAD[0]), random(8), 3, random(32), random(32))
    put_keys(file.section("keys"), keys, Direction.G2D)
    for sequence, (name, content) in enumerate(contents.items()):
        datagram = SendKey(keys, Direction.G2D, sequence).seal(content, kind=KIND_CONTROL)
        row = file.section(name).put(sequence=sequence, content=content, datagram=datagram)
        if name.startswith("tlv-"):
            row.put(**_fields(TLVS[name.removeprefix("tlv-")]))
        row.put(outcome="drop_decrypt_fail" if name.startswith("unusable-") else "control")
    return file


def check_control(file: VectorFile) -> None:
    """Contents must encode the recorded fields; the outcome must be the recorded one."""
    for row in file.sections[2:]:
        content = row.raw("content")
        _check_datagram(row, file["keys"], KIND_CONTROL, content)
        name = row.name.removeprefix("tlv-")
        if name in TLVS:
            fields = Section(row.name).put(**_fields(TLVS[name]))
            if any(row.text(key) != fields.text(key) for key in fields.names()):
                raise AuthenticationError(f"[{row.name}] fields differ from those of its kind")
            if control.encode(TLVS[name]) != content or control.decode(content) != [TLVS[name]]:
                raise AuthenticationError(f"[{row.name}] content is not the encoding of its fields")


def _fields(tlv: Tlv) -> dict[str, Value]:
    """The fields of a TLV under names that no other key of a section has."""
    return {f"tlv_{name}": int(value) if isinstance(value, bool) else value for name, value in asdict(tlv).items()}


def put_keys(row: Section, keys: SessionKeys, direction: Direction) -> None:
    """Suite, session, direction and its key."""
    key = keys.k_d2g if direction is Direction.D2G else keys.k_g2d
    row.put(suite=keys.suite.id, session_id=keys.session_id, epoch=keys.epoch, direction=direction.value, key=key)


def keys_of(row: Section) -> tuple[SessionKeys, Direction]:
    """What `put_keys` put there."""
    direction, key = Direction(row.text("direction")), row.raw("key")
    return SessionKeys(find_suite(row.text("suite")), row.raw("session_id"), row.number("epoch"), key, key), direction


def _check_datagram(row: Section, key_row: Section, kind: int, content: bytes) -> None:
    keys, direction = keys_of(key_row)
    datagram = row.raw("datagram")
    if SendKey(keys, direction, row.number("sequence")).seal(content, kind=kind) != datagram:
        raise AuthenticationError(f"[{row.name}] datagram is not what sealing its content gives")
    outcome, opened = ReceiveKey(keys, direction).open(datagram)
    expected = row.text("outcome") if "outcome" in row else "delivered"
    if outcome.value != expected or opened not in (content, b""):
        raise MalformedError(f"[{row.name}] opens as {outcome.value}, expected {expected}")


def _steps(keys: SessionKeys, window_bits: int) -> Iterator[tuple[Outcome, str, bytes]]:
    """Datagrams in order of arrival, which lead one receiver to every outcome, with what section 10 demands of each."""

    def sealed(sequence: int, kind: int = KIND_DATA, content: bytes = b"payload") -> bytes:
        return SendKey(keys, Direction.D2G, sequence).seal(content, kind=kind)

    def changed(datagram: bytes, at: int, to: int | None = None) -> bytes:
        return datagram[:at] + bytes([datagram[at] ^ 1 if to is None else to]) + datagram[at + 1 :]

    head, first = dataplane.HEADER.size, sealed(0)
    yield Outcome.MALFORMED, "empty datagram", b""
    yield Outcome.MALFORMED, "one byte short", first[: dataplane.OVERHEAD_BYTES - 1]
    yield Outcome.MALFORMED, "version 2", changed(first, 0, 0x02)
    yield Outcome.MALFORMED, "type 2 (a bundle)", changed(first, 0, 0x23)
    for at, field in enumerate(("KEM family", "KEM param", "SIG family", "SIG param"), 1):
        yield Outcome.MALFORMED, f"other {field}", changed(first, at)
    yield Outcome.UNKNOWN, "other session", changed(first, 5)
    yield Outcome.UNKNOWN, "other epoch", changed(first, 21)
    yield Outcome.AUTH_FAIL, "data frame made a control frame", changed(first, 0, 0x13)
    yield Outcome.AUTH_FAIL, "sequence changed", changed(first, 20)
    yield Outcome.AUTH_FAIL, "ciphertext changed", changed(first, head)
    yield Outcome.AUTH_FAIL, "tag changed", changed(first, len(first) - 1)
    yield Outcome.DELIVERED, "first", first
    yield Outcome.REPLAY, "first again", first
    yield Outcome.REPLAY, "first again, tag changed", changed(first, len(first) - 1)
    yield Outcome.DELIVERED, "third", sealed(2)
    yield Outcome.DELIVERED, "second, late", sealed(1)
    yield Outcome.DELIVERED, "empty payload", sealed(3, content=b"")
    yield Outcome.AUTH_FAIL, "forged high sequence", changed(sealed(1 << 40), len(first) - 1)
    yield Outcome.CONTROL, "keepalive", sealed(4, KIND_CONTROL, control.encode(control.Keepalive()))
    yield Outcome.DECRYPT_FAIL, "unusable control content", sealed(5, KIND_CONTROL, b"\x07\x00")
    yield Outcome.REPLAY, "unusable control content again", sealed(5, KIND_CONTROL, b"\x07\x00")
    yield Outcome.DELIVERED, "newest", sealed(window_bits + 10)
    yield Outcome.DELIVERED, "just inside the window", sealed(11)
    yield Outcome.REPLAY, "just inside the window again", sealed(11)
    yield Outcome.SEQ_OLD, "just below the window", sealed(10)
    yield Outcome.SEQ_OLD, "far below the window", sealed(6)
    yield Outcome.DELIVERED, "highest sequence", sealed(SEQUENCE_LIMIT - 1)
    yield Outcome.SEQ_OLD, "at 2^48", _beyond_limit(first, SEQUENCE_LIMIT)
    yield Outcome.SEQ_OLD, "at 2^64 - 1", _beyond_limit(first, (1 << 64) - 1)


def _beyond_limit(datagram: bytes, sequence: int) -> bytes:
    return datagram[:13] + sequence.to_bytes(8, "big") + datagram[21:]


def generate_receive(seed: bytes) -> VectorFile:
    """A script: one receiver, datagrams in order, the outcome of each."""
    random = SeededRandom(seed + b"/receive")
    keys = SessionKeys(find_suite(SUITE_PER_AEAD[0]), random(8), 1, random(32), random(32))
    return receive_script("receive", keys, 64, _steps(keys, 64))


def receive_script(
    name: str, keys: SessionKeys, window_bits: int, steps: Iterable[tuple[Outcome, str, bytes]]
) -> VectorFile:
    """The steps as a file. Raises MalformedError where this package says otherwise than the step."""
    file = begin("receive", "What one receiver makes of datagrams in order", name)
    receiver_row = file.section("receiver").put(window_bits=window_bits)
    put_keys(receiver_row, keys, Direction.D2G)
    receiver_row.put(features=keys.features, index=keys.own_index)
    receiver = ReceiveKey(keys, Direction.D2G, window_bits)
    for number, (expected, what, datagram) in enumerate(steps):
        outcome, plaintext = receiver.open(datagram)
        if outcome is not expected:
            raise MalformedError(f"{what}: this package says {outcome.value}, docs/protocol.md says {expected.value}")
        row = file.section(f"step-{number:02d}").put(what=what, datagram=datagram, outcome=outcome.value)
        row.put(plaintext=plaintext)
    return file


def check_receive(file: VectorFile) -> None:
    """Every datagram must meet its recorded outcome, in order."""
    row = file["receiver"]
    keys, direction = keys_of(row)
    keys = replace(keys, features=row.number("features"), own_index=row.number("index"))
    receiver = ReceiveKey(keys, direction, row.number("window_bits"))
    for row in file.sections[2:]:
        outcome, plaintext = receiver.open(row.raw("datagram"))
        if (outcome.value, plaintext) != (row.text("outcome"), row.raw("plaintext")):
            raise MalformedError(f"[{row.name}] {row.text('what')}: {outcome.value}, expected {row.text('outcome')}")
