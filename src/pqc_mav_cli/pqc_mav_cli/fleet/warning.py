# SPDX-License-Identifier: Apache-2.0
"""Stations warn each other of attacks, by words that only a station of the fleet can say. No I/O.

The store shows them to everybody, and can show old ones again: only a word that is newer than the last one of its
station, and said just now, counts. All stations have the same key, so one that was captured can warn in any name: then
drones watch more closely (docs/detection.md), and nothing else follows.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass

from pqc_mav_cli.fleet.entry import fields

AGAIN_S = 3.0  # while it lasts, as an engine forgets what it is told after 10 s
_FRESH_MS = 15_000  # how far the clocks of two stations may be apart
_LARGEST = 1024  # bytes
_PREFIX = b"pqcmav warning 1\0"


@dataclass(frozen=True)
class Warned:
    """What a station's detector says.

    Attributes:
        level: 0 nothing, 1 suspicious, 2 attack.
        kind: class of the attack; empty for level 0.
    """

    level: int
    kind: str


def told(key: bytes, gcs_id: str, at_ms: int, what: Warned) -> bytes:
    """The word of station `gcs_id` at a time of its wall clock."""
    mac = _mac(key, gcs_id, at_ms, what)
    return json.dumps({"at": at_ms, "level": what.level, "kind": what.kind, "mac": mac}).encode()


class Ear:
    """What one station believes of the others."""

    def __init__(self, gcs_id: str) -> None:
        self._gcs_id = gcs_id
        self._newest: dict[str, int] = {}  # by stations that have the key, so there are only so many

    def take(self, key: bytes, gcs_id: str, value: bytes, now_ms: int) -> Warned | None:
        """A word as it stands in the store; None for one that does not count."""
        said = fields(value, {"at": int, "level": int, "kind": str, "mac": str}) if len(value) <= _LARGEST else None
        if said is None or gcs_id == self._gcs_id or not key:
            return None
        what = Warned(said["level"], said["kind"])
        if not hmac.compare_digest(_mac(key, gcs_id, said["at"], what).encode(), said["mac"].encode()):
            return None
        if abs(now_ms - said["at"]) > _FRESH_MS or said["at"] <= self._newest.get(gcs_id, 0):
            return None
        self._newest[gcs_id] = said["at"]
        return what


def _mac(key: bytes, gcs_id: str, at_ms: int, what: Warned) -> str:
    return hmac.digest(key, _PREFIX + json.dumps([gcs_id, at_ms, what.level, what.kind]).encode(), "sha256").hex()
