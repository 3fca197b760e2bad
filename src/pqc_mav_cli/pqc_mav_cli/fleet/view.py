# SPDX-License-Identifier: Apache-2.0
"""What each station says of its drones, for the operator alone: sealed with a key of an entry that this station has.

The store shows it to everybody and can show an old one again, so what counts is the time inside. No I/O but `table`.
"""

from __future__ import annotations

import hmac
import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from rich.table import Table

from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.wording import counted, short_code

FRESH_S = 15.0
LARGEST = 900 * 1024  # bytes: a server takes a MiB unless it is told otherwise
_UNPACKED = 64 << 20
_NONCE = 12
_ROW = {"drone": str, "state": str, "suite": str, "role": str, "silence_s": float}
_UP = ("UP", "REKEYING")


@dataclass(frozen=True)
class Key:
    """By which a station seals its view: from an entry's receipt key, and which entry it was."""

    name: str
    revision: int
    secret: bytes

    @staticmethod
    def of(name: str, revision: int, receipt: bytes) -> Key:
        """From what the station and the operator alone know."""
        return Key(name, revision, hmac.digest(receipt, b"view", "sha256"))


@dataclass(frozen=True)
class View:
    """One station's drones, at a time by its own clock [ms since 1970]."""

    at_ms: int
    rows: Sequence[Mapping[str, Any]]


def row_of(tunnel: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of one drone, from what the engine says."""
    return {
        "drone": tunnel["drone_id"], "state": tunnel["state"], "suite": tunnel["suite"],
        "role": tunnel["station_role"], "silence_s": float(tunnel["silence_s"] or 0),
    }  # fmt: skip


def sealed(key: Key, gcs_id: str, at_ms: int, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """As it stands in the store. Without the drones themselves if they are too many for it."""
    nonce = os.urandom(_NONCE)
    plain = zlib.compress(json.dumps({"at_ms": at_ms, "rows": rows}).encode(), 1)
    if len(plain) > LARGEST // 2:
        plain = zlib.compress(json.dumps({"at_ms": at_ms, "rows": []}).encode())
    box = AESGCM(key.secret).encrypt(nonce, plain, _context(gcs_id, key.name, key.revision))
    return json.dumps({"name": key.name, "revision": key.revision, "box": b64encode(nonce + box).decode()}).encode()


def opened(operator: Operator, gcs_id: str, value: bytes) -> View | None:
    """What this station says; None for what is not its own, or not of this form."""
    outer = entry.fields(value, {"name": str, "revision": int, "box": str}) if len(value) <= LARGEST else None
    if outer is None:
        return None
    name, revision = outer["name"], outer["revision"]
    try:
        box = b64decode(outer["box"], validate=True)
        secret = Key.of(name, revision, entry.receipt_key(operator, gcs_id, name, revision)).secret
        packed = AESGCM(secret).decrypt(box[:_NONCE], box[_NONCE:], _context(gcs_id, name, revision))
        plain = zlib.decompressobj().decompress(packed, _UNPACKED)
    except (ValueError, InvalidTag, zlib.error):
        return None
    inner = entry.fields(plain, {"at_ms": int, "rows": list})
    if inner is None or not all(_good(row) for row in inner["rows"]):
        return None
    return View(inner["at_ms"], inner["rows"])


def table(views: Mapping[str, View | None], drones: Sequence[str], now_ms: int) -> tuple[Table, list[str]]:
    """A row per drone and station that has a session with it, and sentences for what is not as it should be."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("drone", "station", "state", "suite", "silent"):
        made.add_column(title, overflow="fold")
    by_drone: dict[str, list[tuple[str, Mapping[str, Any]]]] = {drone: [] for drone in drones}
    wrong = []
    for gcs_id, view in views.items():
        if view is None:
            wrong.append(f"{gcs_id} has said nothing yet.")
            continue
        age_s = (now_ms - view.at_ms) / 1000
        if age_s > FRESH_S:
            wrong.append(f"{gcs_id} said this {age_s:,.0f} s ago, by its clock.")
        for row in view.rows:
            by_drone.setdefault(row["drone"], []).append((gcs_id, row))
    for drone, told in sorted(by_drone.items()):
        with_session = [(gcs_id, row) for gcs_id, row in told if row["suite"]]
        for gcs_id, row in with_session:
            state = row["state"] if row["role"] != "standby" else f"{row['state']} standby"
            made.add_row(drone, gcs_id, state, short_code(row["suite"]), f"{row['silence_s']:.1f} s")
        if not with_session:
            made.add_row(drone, "-", "DOWN", "-", "-")
    down = [drone for drone, told in by_drone.items() if not any(row["state"] in _UP for _, row in told)]
    if down:
        wrong.append(f"{counted(len(down), 'drone')} without a session: {', '.join(sorted(down)[:10])}.")
    return made, wrong


def _context(gcs_id: str, name: str, revision: int) -> bytes:
    return b"pqcmav view 1\0" + json.dumps([gcs_id, name, revision]).encode()


def _good(row: object) -> bool:
    """Is it a row, and does none of its words move a terminal?"""
    if not isinstance(row, dict) or not all(type(row.get(name)) is kind for name, kind in _ROW.items()):
        return False
    return all(len(each) <= 64 and each.isprintable() for each in row.values() if isinstance(each, str))
