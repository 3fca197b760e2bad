# SPDX-License-Identifier: Apache-2.0
"""What each station says of its drones, for the operator alone: sealed with a key of an entry that this station has.

The store shows it to everybody and can show an old one again, so what counts is the time inside. No I/O.
"""

from __future__ import annotations

import hmac
import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.joining.desk import plain
from pqc_mav_proxy.names import DROPS

LARGEST = 900 * 1024  # bytes: a server takes a MiB unless it is told otherwise
EVENTS = 100  # the newest, of all drones of a station
_UNPACKED = 64 << 20
_NONCE = 12
_USE = b"view"
_TEXT = 300  # characters
# As the engine names it.
_STATE = ("state", "suite", "station_role", "silence_s", "epoch", "key_age_s", "last_error", "hybrid",
          "handshakes_ok", "handshakes_failed", "rekeys_ok", "peer_alarm", "peer_alarm_kind")  # fmt: skip
_RATES = ("tx_packets_per_s", "tx_bytes_per_s", "rx_packets_per_s", "rx_bytes_per_s")
_LINK = ("rtt_ms", "rtt_min_ms")
_SIDE = ("loss", "gap_p95_ms", "longest_silence_ms", "blackouts")
_EVENT = ("event", "time", "drone_id", "old", "new", "reason", "ok", "kind", "suite", "epoch", "handshake_ms", "error",
          "text", "level")  # fmt: skip
_TEXTS = {"drone", "state", "suite", "station_role", "last_error", "event", "drone_id", "old", "new", "reason", "kind",
          "peer_alarm_kind", "error", "text", "level"}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """By which a station seals what it tells: the key by which it confirms an entry, and which entry that is."""

    name: str
    revision: int
    receipt: bytes = field(repr=False)

    def secret(self, use: bytes) -> bytes:
        """What the station and the operator alone know, for one use."""
        return hmac.digest(self.receipt, use, "sha256")


@dataclass(frozen=True)
class View:
    """One station's drones, at a time by its own clock [ms since 1970].

    Attributes:
        rows: of each drone `drone`, `status`, `stats` and `link`, with the engine's names and some of its figures.
        boot: of the engine; numbers of events mean nothing to another one.
        events: the newest, oldest first, each with its number.
    """

    at_ms: int
    rows: Sequence[Mapping[str, Any]]
    boot: str = ""
    events: Sequence[tuple[int, Mapping[str, Any]]] = ()


def row_of(status: Mapping[str, Any], stats: Mapping[str, Any], link: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of one drone, from what the engine says: not where it is, nor its application."""
    quality = _some(link, _LINK) | {side: _some(link.get(side) or {}, _SIDE) for side in ("local", "peer")}
    counted = _some(stats, _RATES) | {name: stats[name] for name in DROPS if stats.get(name)}
    return {"drone": status["drone_id"], "status": _some(status, _STATE), "stats": counted, "link": quality}


def event_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of an event."""
    return _some(event, _EVENT)


def sealed(key: Key, gcs_id: str, view: View) -> bytes:
    """As it stands in the store. Without figures, or without the drones themselves, if it would be too large for it."""
    plain_text = _packed(view)
    if len(plain_text) > LARGEST // 2:
        bare = [{**row, "stats": {}, "link": {}} for row in view.rows]
        plain_text = _packed(replace(view, rows=bare, events=()))
    if len(plain_text) > LARGEST // 2:
        plain_text = _packed(replace(view, rows=(), events=()))
    nonce = os.urandom(_NONCE)
    box = AESGCM(key.secret(_USE)).encrypt(nonce, plain_text, _context(gcs_id, key.name, key.revision))
    return json.dumps({"name": key.name, "revision": key.revision, "box": b64encode(nonce + box).decode()}).encode()


def opened(operator: Operator, gcs_id: str, value: bytes, least: int = 0) -> View | None:
    """What this station says; None for what is not its own, or not of this form, or by the key of an older entry."""
    outer = entry.fields(value, {"name": str, "revision": int, "box": str}) if len(value) <= LARGEST else None
    if outer is None or outer["revision"] < least:
        return None
    name, revision = outer["name"], outer["revision"]
    try:
        box = b64decode(outer["box"], validate=True)
        secret = Key(name, revision, entry.receipt_key(operator, gcs_id, name, revision)).secret(_USE)
        packed = AESGCM(secret).decrypt(box[:_NONCE], box[_NONCE:], _context(gcs_id, name, revision))
        unpacked = zlib.decompressobj().decompress(packed, _UNPACKED)
    except (ValueError, InvalidTag, zlib.error):
        return None
    inner = entry.fields(unpacked, {"at_ms": int, "rows": list, "boot": str, "events": list})
    if inner is None:
        return None
    try:
        return View(
            int(_number(inner["at_ms"])), [_row(each) for each in inner["rows"]], inner["boot"],
            [(int(_number(number)), _event(event)) for number, event in inner["events"]],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None


def _packed(view: View) -> bytes:
    return zlib.compress(json.dumps(vars(view)).encode(), 1)


def _context(gcs_id: str, name: str, revision: int) -> bytes:
    return b"pqcmav view 1\0" + json.dumps([gcs_id, name, revision]).encode()


def _some(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Those that are there, with texts that are fit for a terminal."""
    found = {name: fields[name] for name in names if fields.get(name) is not None}
    return {name: plain(each, _TEXT) if isinstance(each, str) else each for name, each in found.items()}


def _row(row: Any) -> dict[str, Any]:
    """What whoever shows it counts on, and nothing that a newer version may have added. Raises as `_known`."""
    link = row["link"]
    return {
        "drone": text_of(row["drone"]),
        "status": {"state": "", "suite": "", **_known(row["status"], _STATE)},
        "stats": _known(row["stats"], (*_RATES, *DROPS)),
        "link": _known(link, _LINK) | {side: _known(link.get(side, {}), _SIDE) for side in ("local", "peer")},
    }


def _event(event: Any) -> dict[str, Any]:
    return {"event": "", "time": 0, "drone_id": "", **_known(event, _EVENT)}


def _known(fields: Any, names: Sequence[str]) -> dict[str, Any]:
    """The fields of these names, each a text or a number as it should be. Raises KeyError, TypeError or ValueError."""
    if not isinstance(fields, dict):
        raise TypeError
    return {name: (text_of if name in _TEXTS else _number)(fields[name]) for name in names if name in fields}


def text_of(value: Any) -> str:
    """A text that moves no terminal. Raises ValueError."""
    if not isinstance(value, str) or len(value) > _TEXT or not value.isprintable():
        raise ValueError(value)
    return value


def _number(value: float) -> float:
    if not abs(value) < 1 << 63:  # as what is not a number is not
        raise ValueError(value)
    return value
