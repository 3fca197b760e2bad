# SPDX-License-Identifier: Apache-2.0
"""The PSK of a gcs, and what it hands out and recognises without keeping it (docs/protocol.md sections 2, 6, 9)."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace

from .encoding import Reader, lp, u16, u32
from .messages import MAC_BYTES, ClientHello
from .primitives import hkdf_expand, hmac, same, sha256

ADDRESS_TAG_BYTES = 8
PROOF_MAC_BYTES = TOKEN_BYTES = 16
COOKIE_BYTES = 32
COOKIE_S = 30
SERIAL_EPOCH_S = 1_577_836_800  # 2020-01-01 00:00 UTC
SERIAL_LIFE_HOURS = 168

Address = tuple[str, int]


def gcs_psk(psk_drone: bytes, gcs_id: str) -> bytes:
    """`PSK = HKDF-Expand(PSK_drone, "PQMAV/3 gcs" || gcs_id, 32)`."""
    return hkdf_expand(psk_drone, b"PQMAV/3 gcs" + gcs_id.encode("ascii"), 32)


def ip16(host: str) -> bytes:
    """An IPv6 address, or an IPv4 address in its mapped form."""
    address = ipaddress.ip_address(host)
    return address.packed if address.version == 6 else bytes(10) + b"\xff\xff" + address.packed


def serial_of(unix_s: float) -> int:
    """Hours since 2020, 0 before."""
    return max(0, int(unix_s - SERIAL_EPOCH_S) // 3600)


def restart_token(restart_key: bytes, session_id: bytes) -> bytes:
    """`HMAC(restart key, "PQMAV/3 restart" || session_id)[0..16]`."""
    return hmac(restart_key, b"PQMAV/3 restart" + session_id)[:TOKEN_BYTES]


def return_key(restart_key: bytes, drone_id: bytes, serial: int) -> bytes:
    """`HMAC(restart key, "PQMAV/3 return" || lp(drone_id) || serial)`."""
    return hmac(restart_key, b"PQMAV/3 return" + lp(drone_id) + u32(serial))


def address_tag(restart_key: bytes, drone_id: bytes, serial: int, host: str) -> bytes:
    """`HMAC(restart key, "PQMAV/3 address" || lp(drone_id) || serial || IP[16])[0..8]`."""
    text = b"PQMAV/3 address" + lp(drone_id) + u32(serial) + ip16(host)
    return hmac(restart_key, text)[:ADDRESS_TAG_BYTES]


def _proof_mac(hello: ClientHello, key: bytes) -> bytes:
    """Over M1 from its first byte up to and including the address tag."""
    return hmac(key, hello.frame()[: -(PROOF_MAC_BYTES + MAC_BYTES)])[:PROOF_MAC_BYTES]


def with_return_proof(hello: ClientHello, serial: int, tag: bytes, key: bytes) -> ClientHello:
    """A copy that carries the proof made with the newest RETURN."""
    head = u32(serial) + tag
    unproven = replace(hello, return_proof=head + bytes(PROOF_MAC_BYTES))
    return replace(hello, return_proof=head + _proof_mac(unproven, key))


@dataclass(frozen=True)
class ProofVerdict:
    """Whether the proof is one of a former session, and whether from the address that session had."""

    good: bool = False
    address_fits: bool = False


def check_return_proof(restart_key: bytes, hello: ClientHello, host: str, serial_now: int) -> ProofVerdict:
    """What an M1 from this host proves beyond its gate."""
    if not hello.return_proof:
        return ProofVerdict()
    reader = Reader(hello.return_proof)
    serial, tag, mac = reader.u32("serial"), reader.take(ADDRESS_TAG_BYTES, "address tag"), reader.rest()
    key = return_key(restart_key, hello.drone_id, serial)
    good = same(mac, _proof_mac(hello, key)) and abs(serial - serial_now) <= SERIAL_LIFE_HOURS
    return ProofVerdict(good, good and same(tag, address_tag(restart_key, hello.drone_id, serial, host)))


@dataclass(frozen=True)
class CookieJar:
    """Makes and recognises cookies; `key` is random per process, times are seconds of a monotonic clock."""

    key: bytes = field(repr=False)

    def make(self, address: Address, attempt: bytes, m1: bytes, now: float) -> bytes:
        """The cookie for an M1 from this address."""
        return self._at(int(now), address, attempt, m1)

    def good(self, cookie: bytes, address: Address, attempt: bytes, m1: bytes, now: float) -> bool:
        """Whether it was made here for this M1 and address in the last 30 s."""
        made = int.from_bytes(cookie[:4], "big")
        return 0 <= int(now) - made <= COOKIE_S and same(cookie, self._at(made, address, attempt, m1))

    def _at(self, second: int, address: Address, attempt: bytes, m1: bytes) -> bytes:
        text = u32(second) + ip16(address[0]) + u16(address[1]) + attempt + sha256(m1)
        return u32(second) + hmac(self.key, text)[: COOKIE_BYTES - 4]
