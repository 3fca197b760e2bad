# SPDX-License-Identifier: Apache-2.0
"""Test vectors of handshake datagrams, acknowledgements, Retry, Reject, proofs and tokens."""

from __future__ import annotations

from seeded import SeededRandom
from vectorfile import Section, VectorFile
from vectors_keys import begin

from pqc_mav_wirespec import keyschedule as ks
from pqc_mav_wirespec import messages as msg
from pqc_mav_wirespec.control import Restart, Return, got
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError
from pqc_mav_wirespec.fragments import Assembly, Cut, fragment_size
from pqc_mav_wirespec.handshake import GcsPolicy, Initiator, Responder
from pqc_mav_wirespec.hsframes import (
    HEAD_BYTES,
    TAG_BYTES,
    Ack,
    CookieFrame,
    Fragment,
    FragmentKeys,
    Frame,
    HandshakeDatagram,
    parse_frames,
    parse_restart,
    parse_retry,
    restart_datagram,
    retry_verifies,
    seal_datagram,
    seal_retry,
)
from pqc_mav_wirespec.oqs_library import sig_keypair
from pqc_mav_wirespec.primitives import sha256
from pqc_mav_wirespec.proofs import (
    CookieJar,
    address_tag,
    check_return_proof,
    gcs_psk,
    restart_token,
    return_key,
    with_return_proof,
)
from pqc_mav_wirespec.suites import find_suite

SUITE, DRONE_ID, GCS_ID = "ML-768-AG-MD-65", "drone_01", "north"
LIMITS = (1200, 548)
LOST = 2  # the fragment of M2 that parity rebuilds
HAVE = {
    "none_of_one": (1, ""),
    "one_of_one": (1, "0"),
    "first_of_four": (4, "0"),
    "last_of_four": (4, "3"),
    "gap_in_ten": (10, "0-3,5-6,9"),
    "all_of_255": (255, "0-254"),
    "all_but_first_of_255": (255, "1-254"),
    "all_of_256": (256, "0-255"),
    "all_but_first_of_256": (256, "1-255"),
    "all_but_first_of_257": (257, "1-256"),
    "beyond_the_bitmap": (600, "257-599"),
    "far_base": (1182, "0-899,1000,1156-1181"),
}
HOSTS = ("192.0.2.7", "2001:db8::7")
REJECTS = ((1, 0), (2, 0), (3, 0), (4, 0), (5, 1_000), (2, 0x0309))
SERIAL = 51_234


def _expect(what: str, recomputed: object, recorded: object) -> None:
    if recomputed != recorded:
        raise AuthenticationError(f"{what} differs from what the formulas give")


def _numbers(text: str) -> set[int]:
    """`0-3,5` as a set."""
    spans = [part.partition("-") for part in text.split(",") if part]
    return {number for first, _, last in spans for number in range(int(first), int(last or first) + 1)}


def _hello(random: SeededRandom, psk: bytes, ticket: tuple[int, bytes, bytes] | None = None) -> bytes:
    """An M1 of the default suite."""
    suite = find_suite(SUITE)
    hello = msg.ClientHello(
        *(DRONE_ID.encode(), GCS_ID.encode(), random(32), suite.id.encode(), b"ML-KEM-768", b"ML-DSA-65"),
        flags=1,
        prev_session=msg.NO_SESSION,
        epoch=0,
    )
    if ticket is not None:
        hello = with_return_proof(hello, *ticket)
    return hello.with_gate(ks.gate(ks.gate_key(psk), msg.M0, hello.frame_without_gate())).frame()


# --- datagrams of a handshake


def generate_datagrams(seed: bytes) -> VectorFile:
    """The datagrams of a default handshake, cut with 1,150 and 498, and M2 with one fragment rebuilt."""
    random = SeededRandom(seed + b"/datagrams")
    suite = find_suite(SUITE)
    with random.drives_liboqs():
        psk = random(32)
        public, secret = sig_keypair(suite.sig)
        responder = Responder(GcsPolicy({DRONE_ID: psk}, {suite.sig.token: secret}, gcs_id=GCS_ID), random)
        initiator = Initiator(suite, DRONE_ID, psk, public, gcs_id=GCS_ID, random_bytes=random)
        m1 = initiator.start()
        m2 = responder.feed(m1)
        m3 = initiator.feed(m2)
        messages = [m1, m2, m3, responder.feed(m3)]
    attempt, first = random(8), int.from_bytes(random(4), "big") >> 1
    keys = FragmentKeys.derive(psk, attempt)
    file = begin("datagrams", "Datagrams of a handshake")
    inputs = file.section("inputs").put(psk=psk, attempt=attempt, k_f=keys.drone + keys.gcs)
    inputs.put(**{f"m{number}_sha256": sha256(message) for number, message in enumerate(messages, 1)})
    for limit in LIMITS:
        packets = {True: 0, False: first}
        for message in messages:
            _put_message(file, keys, attempt, message, limit, packets)
    return file


def _put_message(
    file: VectorFile, keys: FragmentKeys, attempt: bytes, message: bytes, limit: int, packets: dict[bool, int]
) -> None:
    is_drone = message[4] in (1, 3)
    cut = Cut(message, fragment_size(len(message), limit, in_session=False))
    for index in cut.order(parity=True):
        packed = b"".join(frame.pack() for frame in _frames(cut, index))
        packet = packets[is_drone]
        packets[is_drone] += 1
        row = file.section(f"limit-{limit}-m{message[4]}-{index:02d}")
        row.put(message=message[4], total=cut.total, size=cut.size, index=index, packet=packet)
        row.put(datagram=seal_datagram(keys, is_drone=is_drone, attempt=attempt, packet=packet, frames=packed))


def _frames(cut: Cut, index: int) -> tuple[Frame, ...]:
    """What the datagram of one fragment holds: with M2 the ACK of M1, too."""
    fragment = cut.fragment(index)
    return (fragment, Ack(1, 0, 7, 1)) if fragment.message == 2 else (fragment,)


def check_datagrams(file: VectorFile) -> None:
    """Tags and frames must be the recorded ones, and each message must come out whole, M2 without one fragment."""
    inputs = file["inputs"]
    keys = FragmentKeys.derive(inputs.raw("psk"), inputs.raw("attempt"))
    _expect("k_f", keys.drone + keys.gcs, inputs.raw("k_f"))
    for limit in LIMITS:
        for number in range(1, 5):
            rows = [row for row in file.sections[2:] if row.name.startswith(f"limit-{limit}-m{number}-")]
            message = _put_together(rows, lost=None)
            _expect(f"m{number} at {limit}", sha256(message), inputs.raw(f"m{number}_sha256"))
            if len(rows) > 1:
                _expect(f"m{number} at {limit} without a fragment", _put_together(rows, lost=LOST), message)
            _check_rows(rows, keys, inputs.raw("attempt"), message)


def _put_together(rows: list[Section], lost: int | None) -> bytes:
    """The message in these datagrams, without its fragment `lost`. Raises MalformedError."""
    assembly: Assembly | None = None
    for row in rows:
        parsed = HandshakeDatagram.parse(row.raw("datagram"))
        fragment = next(frame for frame in parsed.frames if isinstance(frame, Fragment))
        assembly = assembly or Assembly(fragment.message, fragment.total, fragment.size)
        if fragment.index != lost:
            assembly.add(fragment)
    if assembly is None or assembly.complete is None:
        raise MalformedError("a message does not come out whole")
    return assembly.complete


def _check_rows(rows: list[Section], keys: FragmentKeys, attempt: bytes, message: bytes) -> None:
    """Everything in the datagrams must follow from the message."""
    cut = Cut(message, rows[0].number("size"))
    for row in rows:
        parsed = HandshakeDatagram.parse(row.raw("datagram"))
        if not parsed.verifies(keys):
            raise AuthenticationError(f"[{row.name}] the tag does not verify")
        _expect(f"[{row.name}] attempt and packet", (parsed.attempt, parsed.packet), (attempt, row.number("packet")))
        fragment = next(frame for frame in parsed.frames if isinstance(frame, Fragment))
        recorded = (row.number("total"), row.number("size"), row.number("index"))
        _expect(f"[{row.name}] fragment", (fragment.total, fragment.size, fragment.index), recorded)
        _expect(f"[{row.name}] frames", _frames(cut, fragment.index), parsed.frames)
        packed = b"".join(frame.pack() for frame in parsed.frames)
        _expect(f"[{row.name}] bytes", parsed.raw[HEAD_BYTES:-TAG_BYTES], packed)


# --- acknowledgements


def generate_acks(seed: bytes) -> VectorFile:
    """What an ACK says of these fragments."""
    file = begin("acks", "Acknowledgements")
    random = SeededRandom(seed + b"/acks")
    for name, (count, have) in HAVE.items():
        ack = Ack.of(2, int.from_bytes(random(4), "big") >> 1, random(1)[0], count, _numbers(have))
        row = file.section(name).put(count=count, have=have, echo=ack.echo, delay_ms=ack.delay_ms)
        row.put(base=ack.base, bitmap=ack.bitmap, frame=ack.pack())
    return file


def check_acks(file: VectorFile) -> None:
    """Each frame must follow from what is here, and say it again when it is parsed."""
    for row in file.sections[1:]:
        count, have = row.number("count"), _numbers(row.text("have"))
        ack = Ack.of(2, row.number("echo"), row.number("delay_ms"), count, have)
        recorded = (row.number("base"), row.raw("bitmap"), row.raw("frame"))
        _expect(f"[{row.name}]", (ack.base, ack.bitmap, ack.pack()), recorded)
        _expect(f"[{row.name}] parsed", parse_frames(row.raw("frame"), from_drone=True), (ack,))
        _expect(f"[{row.name}] bits", ack.here, {index for index in have if ack.base < index <= ack.base + 256})


# --- Retry and cookies


def generate_retry(seed: bytes) -> VectorFile:
    """An M1 before and after a Retry, from an IPv4 and an IPv6 address."""
    random = SeededRandom(seed + b"/retry")
    file = begin("retry", "Retry and cookies")
    for number, host in enumerate(HOSTS):
        psk, attempt, cookie_key = random(32), random(8), random(32)
        m1, port, second = _hello(random, psk), 46012 + number, 1_000_000 + number
        row = file.section(f"retry-{number}").put(psk=psk, attempt=attempt, cookie_key=cookie_key)
        row.put(host=host, port=port, t=second, m1=m1)
        row.put(**_retry_values(row))
    return file


def _retry_values(row: Section) -> dict[str, bytes]:
    attempt, m1 = row.raw("attempt"), row.raw("m1")
    keys = FragmentKeys.derive(row.raw("psk"), attempt)
    address = (row.text("host"), row.number("port"))
    cookie = CookieJar(row.raw("cookie_key")).make(address, attempt, m1, row.number("t"))
    hello = Fragment(1, len(m1), len(m1), 0, m1).pack()
    with_cookie = hello + CookieFrame(cookie).pack()
    return {
        "before": seal_datagram(keys, is_drone=True, attempt=attempt, packet=0, frames=hello),
        "cookie": cookie,
        "retry": seal_retry(keys, attempt, cookie),
        "after": seal_datagram(keys, is_drone=True, attempt=attempt, packet=3, frames=with_cookie),
    }


def check_retry(file: VectorFile) -> None:
    """Everything must follow from the keys; the cookie must be good for 30 s, from its own address."""
    for row in file.sections[1:]:
        for name, value in _retry_values(row).items():
            _expect(f"[{row.name}] {name}", value, row.raw(name))
        attempt, cookie, m1, now = row.raw("attempt"), row.raw("cookie"), row.raw("m1"), row.number("t")
        keys, jar = FragmentKeys.derive(row.raw("psk"), attempt), CookieJar(row.raw("cookie_key"))
        _expect(f"[{row.name}] Retry", parse_retry(row.raw("retry")), (attempt, cookie))
        _expect(f"[{row.name}] tag", retry_verifies(row.raw("retry"), keys), True)
        after = HandshakeDatagram.parse(row.raw("after"))
        _expect(f"[{row.name}] after", (after.verifies(keys), after.cookie), (True, cookie))
        address = (row.text("host"), row.number("port"))
        answers = [
            jar.good(cookie, address, attempt, m1, now + 30),
            jar.good(cookie, address, attempt, m1, now + 31),
            jar.good(cookie, (address[0], address[1] + 1), attempt, m1, now),
        ]
        _expect(f"[{row.name}] life", answers, [True, False, False])


# --- Reject


def generate_rejects(seed: bytes) -> VectorFile:
    """Every code, with its mac."""
    random = SeededRandom(seed + b"/rejects")
    file = begin("rejects", "Refusals")
    psk = random(32)
    m1 = _hello(random, psk)
    file.section("inputs").put(psk=psk, m0=msg.M0, m1=m1)
    for code, retry_ms in REJECTS:
        mac = ks.reject_mac(psk, msg.M0, m1, code, retry_ms)
        name = f"code-{code}" if code != msg.RejectCode.SUITE_NOT_ALLOWED or not retry_ms else "lattices-avoided"
        row = file.section(name).put(code=code, retry_ms=retry_ms, mac=mac)
        row.put(frame=msg.Reject(code, retry_ms, mac).frame())
    return file


def check_rejects(file: VectorFile) -> None:
    """Macs and frames must be what the formulas give."""
    inputs = file["inputs"]
    for row in file.sections[2:]:
        code, retry_ms = row.number("code"), row.number("retry_ms")
        mac = ks.reject_mac(inputs.raw("psk"), inputs.raw("m0"), inputs.raw("m1"), code, retry_ms)
        _expect(f"[{row.name}] mac", mac, row.raw("mac"))
        _expect(f"[{row.name}] frame", msg.Reject.parse(row.raw("frame")), msg.Reject(code, retry_ms, mac))
        _expect(f"[{row.name}] frame", msg.Reject(code, retry_ms, mac).frame(), row.raw("frame"))


# --- proofs and tokens


def generate_proofs(seed: bytes) -> VectorFile:
    """The PSK of a gcs, return proofs, restart tokens and the GOT of each."""
    random = SeededRandom(seed + b"/proofs")
    file = begin("proofs", "Proofs and tokens")
    psk_drone, restart_key = random(32), random(32)
    psk = gcs_psk(psk_drone, GCS_ID)
    inputs = file.section("inputs").put(psk_drone=psk_drone, gcs_id=GCS_ID, psk=psk, restart_key=restart_key)
    inputs.put(drone_id=DRONE_ID)
    for number, host in enumerate(HOSTS):
        row = file.section(f"return-{number}").put(host=host, serial=SERIAL + number)
        row.put(**_return_values(inputs, row))
        ticket = (row.number("serial"), row.raw("address_tag"), row.raw("return_key"))
        row.put(m1=_hello(random, psk, ticket))
    for number in range(2):
        row = file.section(f"restart-{number}").put(session_id=random(8))
        row.put(**_restart_values(inputs, row))
    return file


def _return_values(inputs: Section, row: Section) -> dict[str, bytes]:
    key, drone_id, serial = inputs.raw("restart_key"), inputs.text("drone_id").encode(), row.number("serial")
    tag, secret = address_tag(key, drone_id, serial, row.text("host")), return_key(key, drone_id, serial)
    check = got(Return(serial, tag, secret)).check
    return {"address_tag": tag, "return_key": secret, "got_check": check}


def _restart_values(inputs: Section, row: Section) -> dict[str, bytes]:
    token = restart_token(inputs.raw("restart_key"), row.raw("session_id"))
    datagram = restart_datagram(row.raw("session_id"), token)
    return {"token": token, "datagram": datagram, "got_check": got(Restart(token)).check}


def check_proofs(file: VectorFile) -> None:
    """Everything must follow from the restart key; the proof must be good for its week, and from its own address."""
    inputs = file["inputs"]
    _expect("psk", gcs_psk(inputs.raw("psk_drone"), inputs.text("gcs_id")), inputs.raw("psk"))
    for row in file.sections[2:]:
        is_return = row.name.startswith("return-")
        values = _return_values(inputs, row) if is_return else _restart_values(inputs, row)
        for name, value in values.items():
            _expect(f"[{row.name}] {name}", value, row.raw(name))
        if not is_return:
            parsed = parse_restart(row.raw("datagram"))
            _expect(f"[{row.name}] Restart", parsed, (row.raw("session_id"), row.raw("token")))
            continue
        key, host, serial = inputs.raw("restart_key"), row.text("host"), row.number("serial")
        hello = msg.ClientHello.parse(row.raw("m1"))
        ticket = (serial, row.raw("address_tag"), row.raw("return_key"))
        _expect(f"[{row.name}] proof", with_return_proof(hello, *ticket).return_proof, hello.return_proof)
        gate = ks.gate(ks.gate_key(inputs.raw("psk")), msg.M0, hello.frame_without_gate())
        _expect(f"[{row.name}] gate", hello.gate, gate)
        verdicts = [
            check_return_proof(key, hello, where, when)
            for where, when in ((host, serial - 168), (host, serial + 169), ("192.0.2.99", serial))
        ]
        answers = [(verdict.good, verdict.address_fits) for verdict in verdicts]
        _expect(f"[{row.name}] verdicts", answers, [(True, True), (False, False), (True, False)])
