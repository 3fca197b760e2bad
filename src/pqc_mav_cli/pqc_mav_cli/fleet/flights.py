# SPDX-License-Identifier: Apache-2.0
"""Flights in a registry's object store: sealed at a station, found by drone and time and opened by the operator alone.

A recording is cut into pieces, each sealed with its number and whether it is the last, so that none can be taken away,
changed, moved or added. What it is about is piece 0, in the object's description.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.fleet.view import Key, text_of
from pqc_mav_cli.joining.share import NAME

_PIECE, _TAG = 1 << 20, 16
_SALT = 32
_LARGEST = 64 * 1024  # bytes of a description
_DRONES = 1000
_FILE = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,100}\.mcap"


@dataclass(frozen=True)
class Flight:
    """A recording that is in the store. Times are seconds since 1970, as its file has them."""

    gcs_id: str
    file: str
    begin_s: float
    end_s: float
    drones: tuple[str, ...]
    size: int

    def __post_init__(self) -> None:
        """Raises ValueError: both become a part of a path at the operator's."""
        if not re.fullmatch(NAME, self.gcs_id) or not re.fullmatch(_FILE, self.file):
            raise ValueError(f"its name is not of letters, digits, '.', '_' and '-': {self.file!r}")

    @property
    def name(self) -> str:
        """What the store calls it."""
        return f"{self.gcs_id}/{self.file}"

    @property
    def sealed_size(self) -> int:
        """Bytes in the store."""
        return self.size + _TAG * max(1, -(-self.size // _PIECE))


@dataclass(frozen=True)
class Box:
    """A flight's own key, and what it is bound to."""

    secret: bytes
    context: bytes

    @staticmethod
    def of(key: Key, salt: bytes, name: str) -> Box:
        """Each flight has another salt, and so another key."""
        return Box(hmac.digest(key.secret(b"flight"), salt, "sha256"), f"pqcmav flight 1\0{name}\0".encode())

    def close(self, number: int, last: bool, plain: bytes) -> bytes:
        """A piece."""
        return AESGCM(self.secret).encrypt(number.to_bytes(12, "big"), plain, self.context + bytes([last]))

    def open(self, number: int, last: bool, sealed: bytes) -> bytes:
        """Raises InvalidTag."""
        return AESGCM(self.secret).decrypt(number.to_bytes(12, "big"), sealed, self.context + bytes([last]))


def look_into(gcs_id: str, path: Path) -> Flight:
    """What a recording is about. Raises RecordingError for a file that is none, ValueError for a name that is none."""
    from pqc_mav_recorder.reader import RecordingReader

    reader = RecordingReader(path)
    begin_ns, end_ns, drones = 0, 0, set()
    for message in reader.messages():
        begin_ns, end_ns = begin_ns or message.log_ns, max(end_ns, message.log_ns)
        if message.topic.type_name == "pqc_mav_interfaces/msg/TunnelStatus":
            drones.add(str(reader.decode(message).drone_id))
    named = tuple(sorted(drones - {""})[:_DRONES])
    return Flight(gcs_id, path.name, begin_ns / 1e9, end_ns / 1e9, named, path.stat().st_size)


def seal(key: Key, flight: Flight, source: IO[bytes], target: IO[bytes]) -> str:
    """The recording as it goes into the store; returns its description."""
    salt = os.urandom(_SALT)
    box = Box.of(key, salt, flight.name)
    number, piece = 0, source.read(_PIECE)
    while True:
        number, following = number + 1, source.read(_PIECE)
        target.write(box.close(number, not following, piece))
        if not following:
            break
        piece = following
    about = b64encode(box.close(0, False, json.dumps(asdict(flight)).encode())).decode()
    whose = {"name": key.name, "revision": key.revision, "salt": b64encode(salt).decode()}
    return json.dumps({**whose, "about": about})


def described(operator: Operator, name: str, description: str, size: int) -> tuple[Flight, Box] | None:
    """What a station says of it; None for what no station of this fleet has put there, by its name and its size."""
    gcs_id = name.partition("/")[0]
    form = {"name": str, "revision": int, "salt": str, "about": str}
    outer = entry.fields(description, form) if len(description) <= _LARGEST else None
    if outer is None:
        return None
    try:
        receipt = entry.receipt_key(operator, gcs_id, outer["name"], outer["revision"])
        box = Box.of(Key(outer["name"], outer["revision"], receipt), b64decode(outer["salt"], validate=True), name)
        about = json.loads(box.open(0, False, b64decode(outer["about"], validate=True)))
        flight = _flight(about)
    except (ValueError, KeyError, TypeError, OverflowError, InvalidTag):
        return None
    return (flight, box) if (flight.name, flight.sealed_size) == (name, size) else None


def unseal(box: Box, source: IO[bytes], target: IO[bytes]) -> None:
    """The recording as it was. Raises CliError for one that was changed on the way or in the store."""
    number, piece = 0, source.read(_PIECE + _TAG)
    while True:
        number, following = number + 1, source.read(_PIECE + _TAG)
        try:
            target.write(box.open(number, not following, piece))
        except InvalidTag:
            raise CliError("The registry has something else in the place of this flight than was sent.") from None
        if not following:
            return
        piece = following


def _flight(about: Mapping[str, Any]) -> Flight:
    drones = tuple(text_of(each) for each in about["drones"])
    begin_s, end_s, size = float(about["begin_s"]), float(about["end_s"]), int(about["size"])
    if not 0 <= begin_s <= end_s < 1e11:
        raise ValueError(begin_s)
    return Flight(text_of(about["gcs_id"]), text_of(about["file"]), begin_s, end_s, drones, size)
