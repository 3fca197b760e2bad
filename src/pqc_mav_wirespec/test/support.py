# SPDX-License-Identifier: Apache-2.0
"""What several tests need: signature keys made once per algorithm, and both ends of one handshake."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from pqc_mav_wirespec.handshake import GcsPolicy, Initiator, Responder
from pqc_mav_wirespec.oqs_library import sig_keypair
from pqc_mav_wirespec.suites import SIGS, Suite, find_suite

PSK = bytes(range(32))
DRONE_ID = "drone_1"
LIGHT = find_suite("ML-512-AG-MD-44")
VECTORS = Path(__file__).resolve().parent / "vectors"


@functools.cache
def key_pair(sig_token: str, owner: str = "gcs") -> tuple[bytes, bytes]:
    """(public, secret), the same at every call with the same arguments."""
    return sig_keypair(next(sig for sig in SIGS if sig.token == sig_token))


def policy_for(suite: Suite, **changes: object) -> GcsPolicy:
    """A gcs that knows DRONE_ID, PSK and the key pairs of this suite's signature algorithm."""
    token = suite.sig.token
    policy = GcsPolicy(
        psks={DRONE_ID: PSK},
        sign_secrets={token: key_pair(token)[1]},
        drone_publics={(DRONE_ID, token): key_pair(token, DRONE_ID)[0]},
    )
    return replace(policy, **changes)


def initiator_for(suite: Suite, *, signed: bool = False, **changes: object) -> Initiator:
    """The drone that belongs to `policy_for`; keyword arguments of Initiator override."""
    token = suite.sig.token
    arguments: dict[str, object] = {
        "drone_id": DRONE_ID,
        "psk": PSK,
        "gcs_public": key_pair(token)[0],
        "sign_secret": key_pair(token, DRONE_ID)[1] if signed else None,
    }
    return Initiator(suite, **(arguments | changes))


def run(initiator: Initiator, responder: Responder) -> list[bytes]:
    """Exchanges frames until both are finished or one has nothing to say; returns the frames sent."""
    frames = [initiator.start()]
    while frames[-1]:
        party = responder if len(frames) % 2 else initiator
        if party.finished:
            break
        frames.append(party.feed(frames[-1]))
    return [frame for frame in frames if frame]
