# SPDX-License-Identifier: Apache-2.0
"""The line of an invitation: what `pqcmav invite` prints and `pqcmav join` reads. Pure.

One word of capital letters and digits, so that a double click takes all of it and a QR code needs the fewest dots:
PQJOIN, then in base32 (RFC 4648) `version u8 | secret[32] | public key[48] | until u32 | port u16 | host | check[4]`.
The secret is the PSK of one handshake, the public key that of the ground station in it. `until` is the ground's
calendar when its time is over [s since 1970]; it serves sentences alone, for the ground counts the time itself. `check`
is the start of SHA-256 over what is before it: it finds typing errors, and proves nothing.
"""

import hashlib
import re
import struct
from base64 import b32decode, b32encode
from binascii import Error
from dataclasses import dataclass, field

from pqc_mav_cli.errors import CliError, ExitCode

START = "PQJOIN"
SECRET_SIZE = 32
PUBLIC_SIZE = 48
_VERSION = 1
_HEAD = struct.Struct(f"!B{SECRET_SIZE}s{PUBLIC_SIZE}sIH")
_CHECK_SIZE = 4
_HOST = re.compile(rb"[A-Za-z0-9.:%_-]{1,253}")
_LONGEST = 1024  # characters; the longest host name needs 556
_AGAIN = "copy it again, from PQJOIN to its last letter, or ask for a new one with 'pqcmav invite'."


class LineError(CliError):
    """The line cannot be read; nothing was sent."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, ExitCode.USAGE)


@dataclass(frozen=True)
class Line:
    """What a line says. Whoever has it may take the keys once: never log it."""

    host: str
    port: int
    secret: bytes = field(repr=False)
    public: bytes
    until_s: int

    def text(self) -> str:
        """The word itself. Raises LineError for a host that cannot be in it."""
        host = self.host.encode("ascii", "replace")
        if not _HOST.fullmatch(host):
            raise LineError(f"'{self.host[:60]}' is no host name or address that drones could be given.")
        until_s = min(max(self.until_s, 0), 0xFFFFFFFF)
        body = _HEAD.pack(_VERSION, self.secret, self.public, until_s, self.port) + host
        return START + b32encode(body + _check(body)).decode().rstrip("=")


def read(text: str) -> Line:
    """The line in `text`, in whatever case and broken by whatever white space. Raises LineError."""
    word = "".join(text.split()).upper()
    if not word.startswith(START):
        raise LineError(
            f"This is no invitation: it begins with {START}; 'pqcmav invite DRONE' at the ground prints one."
        )
    if len(word) > _LONGEST:
        raise LineError(f"The line has {len(word)} characters, more than an invitation can have; {_AGAIN}")
    letters = word[len(START) :]
    try:
        whole = b32decode(letters + "=" * (-len(letters) % 8))
    except (Error, ValueError):
        raise LineError(f"The line is not whole, or has a letter that cannot be in it; {_AGAIN}") from None
    body, check = whole[:-_CHECK_SIZE], whole[-_CHECK_SIZE:]
    if len(body) <= _HEAD.size or check != _check(body):
        raise LineError(f"The line has a typing error, or a part of it is missing; {_AGAIN}")
    version, secret, public, until_s, port = _HEAD.unpack_from(body)
    if version != _VERSION:
        raise LineError(
            f"The line is of version {version}, but this pqcmav reads version {_VERSION}: give both ends one release."
        )
    host = body[_HEAD.size :]
    if not _HOST.fullmatch(host) or port == 0:
        raise LineError(f"The line names no address that could be asked; {_AGAIN}")
    return Line(host.decode(), port, secret, public, until_s)


def _check(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:_CHECK_SIZE]
