# SPDX-License-Identifier: Apache-2.0
"""Control frames: the TLVs inside them (docs/protocol.md section 11). Times are nanoseconds, `*_us` microseconds."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import ClassVar, get_args

from .encoding import Reader, u8, u16, u32
from .errors import MalformedError
from .primitives import sha256

PRINTABLE = re.compile(rb"[ -~]*")
PATHS_MOST = 4


@dataclass(frozen=True)
class Probe:
    """Asks for an answer at once; `t1` is the sender's clock."""

    TYPE: ClassVar[int] = 1
    FORM: ClassVar[struct.Struct] = struct.Struct("!IQ")
    id: int
    t1: int


@dataclass(frozen=True)
class ProbeReply:
    """`t2`, `t3`: the answering end's clock when the probe came and when this left."""

    TYPE: ClassVar[int] = 2
    FORM: ClassVar[struct.Struct] = struct.Struct("!IQQQ")
    id: int
    t1: int
    t2: int
    t3: int

    def rtt(self, t4: int) -> int:
        """Round-trip time in ns, the other end's delay taken off; `t4` is when the reply arrived."""
        return (t4 - self.t1) - (self.t3 - self.t2)

    def offset(self, t4: int) -> float:
        """The other end's clock minus the own one, in ns."""
        return ((self.t2 - self.t1) + (self.t3 - t4)) / 2


@dataclass(frozen=True)
class LinkReport:
    """What its sender received from the other end in the last `window_ms`, and its six drop counters since start."""

    TYPE: ClassVar[int] = 3
    FORM: ClassVar[struct.Struct] = struct.Struct("!7I6Q")
    window_ms: int = 0
    packets_per_s_milli: int = 0
    gap_p95_us: int = 0
    longest_silence_us: int = 0
    jitter_us: int = 0
    loss_ppm: int = 0
    blackouts: int = 0
    drop_malformed: int = 0
    drop_unknown: int = 0
    drop_seq_old: int = 0
    drop_replay: int = 0
    drop_auth_fail: int = 0
    drop_decrypt_fail: int = 0


@dataclass(frozen=True)
class Switched:
    """The epoch its sender now uses for sending."""

    TYPE: ClassVar[int] = 4
    FORM: ClassVar[struct.Struct] = struct.Struct("!B")
    epoch: int


@dataclass(frozen=True)
class RekeyRequest:
    """The gcs asks the drone to rekey, or to ratchet; an empty `suite` means the same one."""

    TYPE: ClassVar[int] = 5
    request_id: int
    suite: str
    reason: str
    ratchet: bool = False

    def value(self) -> bytes:
        """The value without type and length."""
        return u32(self.request_id) + _short_text(self.suite) + _short_text(self.reason) + u8(1) * self.ratchet

    @classmethod
    def parse(cls, reader: Reader) -> RekeyRequest:
        """Raises MalformedError."""
        request_id, suite, reason = reader.u32("request id"), _take_text(reader, "suite"), _take_text(reader, "reason")
        ratchet = reader.left > 0
        if ratchet and reader.u8("ratchet") != 1:
            raise MalformedError("a REKEY_REQUEST that ends in another byte than 1")
        return cls(request_id, suite, reason, ratchet)


@dataclass(frozen=True)
class Close:
    """Advice that its sender goes: 1 shutdown, 2 session limit."""

    TYPE: ClassVar[int] = 6
    FORM: ClassVar[struct.Struct] = struct.Struct("!B")
    SHUTDOWN: ClassVar[int] = 1
    SESSION_LIMIT: ClassVar[int] = 2
    reason: int


@dataclass(frozen=True)
class Keepalive:
    """Says only that its sender lives."""

    TYPE: ClassVar[int] = 7
    FORM: ClassVar[struct.Struct] = struct.Struct("!")


@dataclass(frozen=True)
class RekeyResult:
    """How a requested rekey ended."""

    TYPE: ClassVar[int] = 8
    request_id: int
    ok: bool
    epoch: int
    duration_us: int
    text: str

    def value(self) -> bytes:
        """The value without type and length."""
        fixed = u32(self.request_id) + u8(self.ok) + u8(self.epoch) + u32(self.duration_us)
        return fixed + _short_text(self.text)

    @classmethod
    def parse(cls, reader: Reader) -> RekeyResult:
        """Raises MalformedError."""
        request_id, ok, epoch = reader.u32("request id"), reader.u8("ok") != 0, reader.u8("epoch")
        return cls(request_id, ok, epoch, reader.u32("duration"), _take_text(reader, "text"))


@dataclass(frozen=True)
class Return:
    """What the drone proves with that it had a session; gcs to drone."""

    TYPE: ClassVar[int] = 33
    FORM: ClassVar[struct.Struct] = struct.Struct("!I8s32s")
    serial: int
    address_tag: bytes
    return_key: bytes


@dataclass(frozen=True)
class Restart:
    """What a restarted gcs proves with that it held this session; gcs to drone."""

    TYPE: ClassVar[int] = 34
    FORM: ClassVar[struct.Struct] = struct.Struct("!16s")
    token: bytes


@dataclass(frozen=True)
class Seen:
    """The highest verified sequence of the session and epoch whose keys carry this very frame."""

    TYPE: ClassVar[int] = 35
    FORM: ClassVar[struct.Struct] = struct.Struct("!Q")
    highest: int


@dataclass(frozen=True)
class PathChallenge:
    """Asks whether this path lives; gcs to drone."""

    TYPE: ClassVar[int] = 36
    FORM: ClassVar[struct.Struct] = struct.Struct("!8s")
    random: bytes


@dataclass(frozen=True)
class Aside:
    """How many packets under the key of this frame were PathChallenges; gcs to drone."""

    TYPE: ClassVar[int] = 41
    FORM: ClassVar[struct.Struct] = struct.Struct("!Q")
    count: int


@dataclass(frozen=True)
class Arrived:
    """The highest verified sequence under the key of this frame, when it came, and the bytes of all that came."""

    TYPE: ClassVar[int] = 43
    FORM: ClassVar[struct.Struct] = struct.Struct("!QQQ")
    highest: int
    at: int
    bytes: int


@dataclass(frozen=True)
class PathResponse:
    """The answer to a PathChallenge, over the path it came by; of a drone with several, with that one's number."""

    TYPE: ClassVar[int] = 37
    random: bytes
    path: int | None = None

    def value(self) -> bytes:
        """The value without type and length."""
        return self.random + (b"" if self.path is None else u8(self.path))

    @classmethod
    def parse(cls, reader: Reader) -> PathResponse:
        """Raises MalformedError."""
        random, path = reader.take(8, "random"), reader.u8("path") if reader.left else None
        if path is not None and path >= PATHS_MOST:
            raise MalformedError(f"there is no path {path}")
        return cls(random, path)


@dataclass(frozen=True)
class Paths:
    """What goes to the drone by which of its paths; drone to gcs. `others`: a bit for each, 128 for again, 64 if
    the main path is for commands alone."""

    TYPE: ClassVar[int] = 44
    FORM: ClassVar[struct.Struct] = struct.Struct("!IBB")
    AGAIN: ClassVar[int] = 0x80
    ONLY_COMMANDS: ClassVar[int] = 0x40
    serial: int
    main: int
    others: int

    def __post_init__(self) -> None:
        """Raises MalformedError for a path or a bit that there is not."""
        if self.main >= PATHS_MOST or self.others & ~(self.AGAIN | self.ONLY_COMMANDS | (1 << PATHS_MOST) - 1):
            raise MalformedError(f"there is no path {self.main}, or none of {self.others:#x}")


@dataclass(frozen=True)
class Role:
    """What the drone takes this gcs for, among several; drone to gcs."""

    TYPE: ClassVar[int] = 38
    FORM: ClassVar[struct.Struct] = struct.Struct("!BI")
    ACTIVE: ClassVar[int] = 1
    STANDBY: ClassVar[int] = 2
    role: int
    term: int

    def __post_init__(self) -> None:
        """Raises MalformedError for a role that there is not."""
        if self.role not in (self.ACTIVE, self.STANDBY):
            raise MalformedError(f"{self.role} is no role of a ground station")


@dataclass(frozen=True)
class Term:
    """The highest term that this gcs was ever told by the drone; gcs to drone."""

    TYPE: ClassVar[int] = 39
    FORM: ClassVar[struct.Struct] = struct.Struct("!I")
    term: int


@dataclass(frozen=True)
class Got:
    """Ends the repetition of a RETURN, RESTART, ROLE, TERM or PATHS."""

    TYPE: ClassVar[int] = 40
    FORM: ClassVar[struct.Struct] = struct.Struct("!B4s")
    type: int
    check: bytes


@dataclass(frozen=True)
class Pin:
    """Before a request of that number: the suite is to be kept for so long; before its result: it is."""

    TYPE: ClassVar[int] = 42
    FORM: ClassVar[struct.Struct] = struct.Struct("!II")
    request_id: int
    for_s: int


@dataclass(frozen=True)
class Alarm:
    """The detector of its sender, or of another end that concerns the receiver: 0 none, 1 suspicious, 2 an attack."""

    TYPE: ClassVar[int] = 45
    KIND_MOST: ClassVar[int] = 24
    level: int
    kind: str

    def value(self) -> bytes:
        """The value without type and length."""
        return u8(self.level) + _short_text(self.kind)

    @classmethod
    def parse(cls, reader: Reader) -> Alarm:
        """Raises MalformedError."""
        found = cls(reader.u8("level"), _take_text(reader, "kind"))
        if found.level > 2 or len(found.kind) > cls.KIND_MOST:
            raise MalformedError(f"an ALARM of level {found.level} and {len(found.kind)} characters")
        return found


@dataclass(frozen=True)
class Handshake:
    """A handshake datagram inside a session; it goes alone in its frame."""

    TYPE: ClassVar[int] = 32
    attempt: bytes
    packet: int
    frames: bytes

    def value(self) -> bytes:
        """The value without type and length."""
        return self.attempt + u32(self.packet) + self.frames

    @classmethod
    def parse(cls, reader: Reader) -> Handshake:
        """Raises MalformedError."""
        return cls(reader.take(8, "attempt"), reader.u32("packet"), reader.rest())


FixedTlv = (
    Probe
    | ProbeReply
    | LinkReport
    | Switched
    | Close
    | Keepalive
    | Return
    | Restart
    | Seen
    | PathChallenge
    | Aside
    | Arrived
    | Paths
    | Role
    | Term
    | Got
    | Pin
)
VariableTlv = RekeyRequest | RekeyResult | Handshake | PathResponse | Alarm
Tlv = FixedTlv | VariableTlv
FIXED: tuple[type[FixedTlv], ...] = get_args(FixedTlv)
VARIABLE: tuple[type[VariableTlv], ...] = get_args(VariableTlv)


def _short_text(text: str) -> bytes:
    encoded = text.encode("ascii")
    if not PRINTABLE.fullmatch(encoded):
        raise MalformedError("text of a control frame takes printable ASCII only")
    return u8(len(encoded)) + encoded


def _take_text(reader: Reader, field: str) -> str:
    raw = reader.take(reader.u8(f"length of {field}"), field)
    if not PRINTABLE.fullmatch(raw):
        raise MalformedError(f"{field} is not printable ASCII")
    return raw.decode("ascii")


def got(tlv: Return | Restart | Role | Term | Paths) -> Got:
    """The answer to a TLV that is repeated until then."""
    return Got(tlv.TYPE, sha256(tlv.FORM.pack(*astuple(tlv)))[:4])


def encode(*tlvs: Tlv) -> bytes:
    """The content of one control frame that carries these TLVs in order."""
    content = b""
    for tlv in tlvs:
        value = tlv.value() if isinstance(tlv, VariableTlv) else tlv.FORM.pack(*astuple(tlv))
        content += u8(tlv.TYPE) + u16(len(value)) + value
    return content


MAX_TLVS = 16


def _fixed_parser(kind: type[FixedTlv]) -> Callable[[Reader], Tlv]:
    return lambda reader: kind(*kind.FORM.unpack(reader.take(kind.FORM.size, kind.__name__)))


_PARSERS: dict[int, Callable[[Reader], Tlv]] = {kind.TYPE: _fixed_parser(kind) for kind in FIXED}
_PARSERS |= {kind.TYPE: kind.parse for kind in VARIABLE}


def decode(content: bytes) -> list[Tlv]:
    """The known TLVs in order, unknown ones skipped. Raises MalformedError when any part is unusable: then all is."""
    if not content:
        raise MalformedError("a control frame without any TLV")
    tlvs: list[Tlv] = []
    at = 0
    while at < len(content):
        head = Reader(content[at:])
        tlv_type = head.u8("type")
        value = head.take(head.u16("length"), "value")
        at += 3 + len(value)
        if tlv_type in _PARSERS:
            reader = Reader(value)
            tlvs.append(_PARSERS[tlv_type](reader))
            reader.end()
    if len(tlvs) > MAX_TLVS:
        raise MalformedError(f"{len(tlvs)} TLVs in a control frame; {MAX_TLVS} are allowed")
    return tlvs
