# SPDX-License-Identifier: Apache-2.0
"""Files of the autopilot, read by a ground station: logs by LOG_REQUEST_DATA, any file by MAVLink FTP.

https://mavlink.io/en/services/ftp.html
"""

import random
import struct
import time
from dataclasses import dataclass
from typing import Any

from autopilots.flight import Flight
from autopilots.ground import AUTOPILOT, Ground, LateError, mavlink

Figures = dict[str, float]
_BYTES = 60_000
_LIMIT_S = 240.0
_SILENCE_S = 1.0  # then what lacks is asked for again
_TERMINATE, _OPEN, _BURST, _ACK, _NAK = 1, 4, 15, 128, 129
_HEADER = struct.Struct("<HBBBBBxI")  # sequence, session, opcode, size, opcode of the request, burst is over, offset
_PAYLOAD = 251


class Pieces:
    """A file of known size that comes in pieces."""

    def __init__(self, size: int) -> None:
        self.content, self._there = bytearray(size), bytearray(size)
        self._first = 0

    def take(self, offset: int, data: bytes) -> None:
        """Bytes beyond the end are not the file's."""
        data = data[: max(0, len(self.content) - offset)]
        self.content[offset : offset + len(data)] = data
        self._there[offset : offset + len(data)] = b"\1" * len(data)

    @property
    def lacks(self) -> int | None:
        """The first byte that has not come; None when all have."""
        self._first = self._there.find(0, max(self._first, 0))
        return None if self._first < 0 else self._first


def logs(flight: Flight) -> Figures:
    """Read a log by its own messages and by FTP, and compare both with the file on the autopilot's disk."""
    ardupilot = flight.model.name == "ardupilot"
    name = "logs/00000001.BIN" if ardupilot else "log/2026-01-01/10_00_00.ulg"
    file = flight.folder / name
    file.parent.mkdir(parents=True)
    file.write_bytes(random.Random(1).randbytes(_BYTES))
    if ardupilot:
        (file.parent / "LASTLOG.TXT").write_text("1", encoding="ascii")
    flight.boot()
    log_s, log = read_log(flight.ground, _BYTES)
    ftp_s, copy = read_file(flight.ground, name if ardupilot else f"/{name}")
    content = file.read_bytes()
    return {"log_s": log_s, "ftp_s": ftp_s, "same": float(log == content and copy == content)}


def read_log(ground: Ground, size: int) -> tuple[float, bytes]:
    """The autopilot's log of that size: seconds, and its content. Raises LateError."""

    def ask_list() -> None:
        ground.send(mavlink.MAVLink_log_request_list_message(ground.system, AUTOPILOT, 0, 0xFFFF))

    entry = ground.ask(ask_list, ("LOG_ENTRY",), _LIMIT_S, lambda each: each.size == size)
    pieces = Pieces(entry.size)
    begun = time.monotonic()
    asked = 0.0
    while (at := pieces.lacks) is not None:
        now = time.monotonic()
        _in_time(begun, f"a log of {entry.size} bytes", at)
        if now - asked > _SILENCE_S:
            asked = now
            rest = entry.size - at
            ground.send(mavlink.MAVLink_log_request_data_message(ground.system, AUTOPILOT, entry.id, at, rest))
        for message in ground.step():
            if message.get_type() == "LOG_DATA" and message.id == entry.id:
                pieces.take(message.ofs, bytes(message.data[: message.count]))
                asked = time.monotonic()
    seconds = time.monotonic() - begun
    ground.send(mavlink.MAVLink_log_request_end_message(ground.system, AUTOPILOT))
    return seconds, bytes(pieces.content)


@dataclass
class _Talk:
    """One conversation by FTP."""

    ground: Ground
    sequence: int = 0

    def say(self, opcode: int, session: int = 0, offset: int = 0, data: bytes = b"", size: int | None = None) -> None:
        self.sequence += 1
        length = len(data) if size is None else size
        payload = _HEADER.pack(self.sequence, session, opcode, length, 0, 0, offset) + data
        message = mavlink.MAVLink_file_transfer_protocol_message(
            0, self.ground.system, AUTOPILOT, list(payload.ljust(_PAYLOAD, b"\0"))
        )
        self.ground.send(message)

    def heard(self, message: Any, request: int) -> tuple[int, int, int, bool, bytes] | None:
        """Opcode, session, offset, whether the burst is over, data; of an answer to that request."""
        if message.get_type() != "FILE_TRANSFER_PROTOCOL":
            return None
        raw = bytes(message.payload)
        _, session, opcode, size, answered, over, offset = _HEADER.unpack(raw[: _HEADER.size])
        if answered != request or opcode not in (_ACK, _NAK):
            return None
        return opcode, session, offset, bool(over), raw[_HEADER.size : _HEADER.size + size]


def read_file(ground: Ground, path: str) -> tuple[float, bytes]:
    """A file by FTP, in bursts: seconds, and its content. Raises LateError."""
    talk = _Talk(ground)
    begun = time.monotonic()
    answer = ground.ask(
        lambda: talk.say(_OPEN, data=path.encode()),
        ("FILE_TRANSFER_PROTOCOL",), _LIMIT_S, lambda message: talk.heard(message, _OPEN) is not None,
    )  # fmt: skip
    opened = talk.heard(answer, _OPEN)
    if opened is None or opened[0] == _NAK:
        raise LateError(f"the autopilot does not open {path}")
    session = opened[1]
    pieces = Pieces(struct.unpack("<I", opened[4])[0])
    asked = 0.0
    while (at := pieces.lacks) is not None:
        _in_time(begun, path, at)
        if time.monotonic() - asked > _SILENCE_S:
            asked = time.monotonic()
            talk.say(_BURST, session, at, size=239)
        for message in ground.step():
            said = talk.heard(message, _BURST)
            if said is None:
                continue
            asked = 0.0 if said[3] or said[0] == _NAK else time.monotonic()
            if said[0] == _ACK:
                pieces.take(said[2], said[4])
    seconds = time.monotonic() - begun
    talk.say(_TERMINATE, session)
    return seconds, bytes(pieces.content)


def _in_time(begun: float, what: str, at: int) -> None:
    if time.monotonic() - begun > _LIMIT_S:
        raise LateError(f"{what} did not come within {_LIMIT_S:g} s: byte {at} lacks")
