# SPDX-License-Identifier: Apache-2.0
"""What a thief can make of a recording and a line: the protocol's own formulas with everything it knows.

It knows the secret of the line, so it verifies and reads the handshake. What it lacks are the two shared secrets: it
tries zeros, what an encapsulation and an exchange of its own give, and nothing at all.
"""

import contextlib
import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import attacks
import pqc_mav_tunnel
from joining_room import PORT

from pqc_mav_cli.joining import channel
from pqc_mav_cli.joining.line import Line
from pqc_mav_wirespec import hsframes, oqs_library
from pqc_mav_wirespec.fragments import Assembly
from pqc_mav_wirespec.keyschedule import Transcript, hash_2, hash_3
from pqc_mav_wirespec.messages import M0, ClientFinish, ServerHello
from pqc_mav_wirespec.primitives import hkdf_expand, x25519_public, x25519_shared
from pqc_mav_wirespec.suites import find_suite

_SUITE = find_suite(channel.SUITE)
_HEADER_TYPES = (0x03, 0x13, 0x23)


@dataclass(frozen=True)
class Loot:
    """Tags of the handshake that verify with the secret (so it is the right one), keys that were tried on how many
    recorded frames, how many of those opened, and whether any key is that of the handshake.
    """

    tags: int
    tried: int
    frames: int
    opened: int
    confirmed: bool


def psk_of(line: Line) -> bytes:
    """What the ground holds of the line's secret (docs/protocol.md section 2)."""
    return hkdf_expand(line.secret, b"PQMAV/3 gcs" + channel.ID.encode(), 32)


def try_to_read(flows: Sequence[attacks.Flow], line: Line) -> Loot:
    """Everything that the secret gives."""
    psk = psk_of(line)
    tags = 0
    messages: dict[tuple[bytes, int], Assembly] = {}
    for flow in flows:
        if not flow.handshake:
            continue
        datagram = hsframes.HandshakeDatagram.parse(flow.payload)
        tags += datagram.verifies(hsframes.FragmentKeys.derive(psk, datagram.attempt))
        for each in datagram.frames:
            if isinstance(each, hsframes.Fragment):
                place = (datagram.attempt, each.message)
                messages.setdefault(place, Assembly(each.message, each.total, each.size)).add(each)
    frames = [flow for flow in flows if flow.payload[0] in _HEADER_TYPES]
    tried = opened = 0
    confirmed = False
    for attempt in {attempt for attempt, _ in messages}:
        whole = [messages[attempt, number].complete if (attempt, number) in messages else None for number in (1, 2, 3)]
        if None in whole:
            continue
        m1, m2, m3 = (bytes(each or b"") for each in whole)
        hello, finish = ServerHello.parse(m2, _SUITE, True, 0xFFFF), ClientFinish.parse(m3, _SUITE, True, False)
        h3 = hash_3(hash_2(M0, m1, m2), finish.kem_ciphertext, finish.x25519_public)
        for ss_kem, ss_x25519 in _guesses(hello, finish):
            transcript = Transcript(h3=h3, t3=h3, ss_kem=ss_kem, ss_x25519=ss_x25519)
            transcript.derive(psk, _SUITE, hello.session_id, 0)
            tried += 1
            confirmed = confirmed or transcript.confirm_c == finish.confirm
            keys = pqc_mav_tunnel.SessionKeys(
                _SUITE.id, hello.session_id, 0, transcript.k_d2g, transcript.k_g2d, transcript.ck
            )
            opened += sum(_opens(keys, flow) for flow in frames)
    return Loot(tags, tried, len(frames), opened, confirmed)


def _guesses(hello: ServerHello, finish: ClientFinish) -> Iterator[tuple[bytes, bytes]]:
    scalar = os.urandom(32)
    _, own_kem = oqs_library.kem_encapsulate(_SUITE.kem, hello.kem_public)
    exchanges = [bytes(32), b"", x25519_shared(scalar, hello.x25519_public)]
    exchanges += [x25519_shared(scalar, finish.x25519_public), x25519_public(scalar)]
    for ss_kem in (bytes(32), b"", own_kem):
        for ss_x25519 in exchanges:
            yield ss_kem, ss_x25519


def _opens(keys: pqc_mav_tunnel.SessionKeys, flow: attacks.Flow) -> bool:
    outcome, _ = pqc_mav_tunnel.ReceiveKey(keys, "d2g" if flow.down else "g2d").open(flow.payload)
    return outcome in ("data", "control", "bundle")


@contextlib.contextmanager
def ground_keys(line: Line) -> Iterator[str]:
    """Keys of a ground station that has the line's secret, and a signing key of its own."""
    with channel.in_memory() as folder:
        pqc_mav_tunnel.init_keys(str(folder), [channel.ID], sig_tokens=[_SUITE.sig.token], gcs_id=channel.ID)
        psk = folder / "gcs" / "psk" / f"{channel.ID}.key"
        head = psk.read_text().splitlines()[:4]
        psk.write_text("\n".join([*head, b64encode(psk_of(line)).decode()]) + "\n")
        yield str(folder / "gcs")


def ground_config(keys: str, bind: str) -> dict[str, Any]:
    """Its configuration."""
    return {
        "role": "gcs", "keys": keys, "gcs_id": channel.ID, "drones": [channel.ID], "bind": bind, "data_port": PORT,
        "control_socket": "off",
    }  # fmt: skip
