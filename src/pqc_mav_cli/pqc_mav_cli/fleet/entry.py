# SPDX-License-Identifier: Apache-2.0
"""What stands in a registry: signed by the operator, and what is secret in it sealed to each station. No I/O.

An entry is JSON: `body`, itself a JSON text, and `signature` over it. The body has the entry's name, a revision that
only ever rises, what is to be (`settings` of a drone, none for one that is to go, or `families` to avoid), and for each
station a sealed part: the drone's key files for that station, the key by which it confirms, and the one by which
stations warn each other.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pqc_mav_cli.fleet.identity import Operator, OperatorPublic, Station, StationPublic
from pqc_mav_cli.joining.desk import plain
from pqc_mav_cli.joining.share import FILE_SIZE, NAME

LARGEST = 256 * 1024  # bytes of an entry: some fifty stations
AVOID = "avoid"
_PREFIX = b"pqcmav registry 1\0"
_NAME = re.compile(rf"drone\.({NAME})|{AVOID}")
_FILE = re.compile(rf"psk\.key|{NAME}\.pub")
_KEY = re.compile(r"[0-9a-f]{64}")
_OUTCOME = 300  # characters


class Refusal(Enum):
    """Why a station does not do what stands in a registry."""

    FORM = "it is no entry of this version"
    SIGNATURE = "this fleet's operator has not signed it"
    NAME = "it is another entry's, copied"
    OLD = "it is older than what this station has done already"
    SEALED = "its keys are not sealed to this station, or altered"


class EntryError(Exception):
    """An entry that is not done."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


@dataclass(frozen=True)
class Order:
    """What a station is to do: of an entry, the part that it can read.

    Attributes:
        name: of the entry, `drone.ID` or `avoid`.
        revision: rises with each change of any entry.
        settings: of a drone that is to be there; None for one that is to go.
        files: that drone's key files, by `psk.key` or `ALGORITHM.pub`.
        families: which the station is to avoid; of the entry `avoid` alone.
        receipt: the key by which the station confirms.
        warning: the key that all stations have; empty of an operator who knows of none.
        begun: an earlier process may have done a part of it.
    """

    name: str
    revision: int
    settings: Mapping[str, Any] | None = None
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    families: tuple[str, ...] = ()
    receipt: bytes = field(default=b"", repr=False)
    warning: bytes = field(default=b"", repr=False)
    begun: bool = False

    @property
    def drone_id(self) -> str:
        """Of an entry about a drone; else empty."""
        return drone_of(self.name)


def drone_of(name: str) -> str:
    """The drone of an entry's name; empty for one that is about none."""
    found = _NAME.fullmatch(name)
    return (found[1] or "") if found else ""


def make(
    operator: Operator,
    name: str,
    revision: int,
    what: Mapping[str, Any],
    stations: Mapping[str, tuple[StationPublic, Mapping[str, str]]],
) -> bytes:
    """An entry: `what` is for everybody's eyes; each station has its key and the files that it alone is to have."""
    sealed = {}
    warning = operator.warning_key(public for public, _ in stations.values()).hex()
    for gcs_id, (public, files) in stations.items():
        context = _context(operator.public, gcs_id, name, revision)
        secret = {"files": dict(files), "receipt": operator.receipt_key(context).hex(), "warning": warning}
        sealed[gcs_id] = b64encode(public.seal(json.dumps(secret).encode(), context)).decode()
    body = json.dumps({"name": name, "revision": revision, **what, "sealed": sealed})
    signature = operator.key.sign(_PREFIX + body.encode())
    return json.dumps({"body": body, "signature": b64encode(signature).decode()}).encode()


def read(value: bytes, name: str, gcs_id: str, station: Station, operator: OperatorPublic, newest: int) -> Order:
    """What this station is to do, of the entry that stands at `name`; one below the revision `newest` is refused.

    Nothing of an entry is looked at before its signature is good. Raises EntryError.
    """
    outer = fields(value, {"body": str, "signature": str}) if len(value) <= LARGEST else None
    if outer is None:
        raise EntryError(Refusal.FORM)
    if not operator.signed(_raw(outer["signature"]), _PREFIX + outer["body"].encode()):
        raise EntryError(Refusal.SIGNATURE)
    body = fields(outer["body"], {"name": str, "revision": int, "sealed": dict})
    if body is None or not _NAME.fullmatch(body["name"]):
        raise EntryError(Refusal.FORM)
    if body["name"] != name:
        raise EntryError(Refusal.NAME)
    if body["revision"] < newest:
        raise EntryError(Refusal.OLD)
    context = _context(operator, gcs_id, name, body["revision"])
    opened = station.opened(_raw(body["sealed"].get(gcs_id, "")), context)
    secret = fields(opened, {"files": dict, "receipt": str}) if opened is not None else None
    if secret is None:
        raise EntryError(Refusal.SEALED)
    files, families, settings = secret["files"], body.get("families", []), body.get("settings")
    good = all(
        _FILE.fullmatch(path) and isinstance(text, str) and len(text) <= FILE_SIZE for path, text in files.items()
    )
    good = good and isinstance(families, list) and all(isinstance(each, str) for each in families)
    good = good and (settings is None or isinstance(settings, dict)) and bool(_KEY.fullmatch(secret["receipt"]))
    warning = secret.get("warning", "")
    good = good and isinstance(warning, str) and (not warning or bool(_KEY.fullmatch(warning)))
    if not good:
        raise EntryError(Refusal.FORM)
    keys = bytes.fromhex(secret["receipt"]), bytes.fromhex(warning)
    return Order(name, body["revision"], settings, files, tuple(families), *keys)


def receipt(order: Order, outcome: str) -> bytes:
    """What a station says it has done; nobody else could."""
    said = outcome[:_OUTCOME]
    mac = hmac.digest(order.receipt, _said(order.name, order.revision, said), "sha256").hex()
    return json.dumps({"revision": order.revision, "outcome": said, "mac": mac}).encode()


def confirmed(operator: Operator, gcs_id: str, name: str, revision: int, value: bytes) -> str | None:
    """What this station says of that revision; None for what is of another revision, or of somebody else."""
    said = fields(value, {"revision": int, "outcome": str, "mac": str}) if len(value) <= LARGEST else None
    if said is None or said["revision"] != revision or len(said["outcome"]) > _OUTCOME:
        return None
    good = hmac.digest(
        receipt_key(operator, gcs_id, name, revision), _said(name, revision, said["outcome"]), "sha256"
    ).hex()
    if not hmac.compare_digest(good.encode(), said["mac"].encode()):
        return None
    return plain(said["outcome"], _OUTCOME)


def receipt_key(operator: Operator, gcs_id: str, name: str, revision: int) -> bytes:
    """Which only the operator knows, and the station from that revision of that entry."""
    return operator.receipt_key(_context(operator.public, gcs_id, name, revision))


def _context(operator: OperatorPublic, gcs_id: str, name: str, revision: int) -> bytes:
    return _PREFIX + json.dumps([operator.fingerprint, gcs_id, name, revision]).encode()


def _said(name: str, revision: int, outcome: str) -> bytes:
    return _PREFIX + json.dumps([name, revision, outcome]).encode()


def fields(text: str | bytes, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """A JSON object that has fields of these kinds; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not all(type(value.get(name)) is kind for name, kind in kinds.items()):
        return None
    return value


def _raw(text: object) -> bytes:
    """Of base64; nothing for what is none."""
    try:
        return b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        return b""
