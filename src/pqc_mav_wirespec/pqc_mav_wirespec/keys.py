# SPDX-License-Identifier: Apache-2.0
"""Reads the key files of a drone's or the gcs' key folder.

A file is text: the line `pqcmav-key 1`, the lines `kind: psk|sig-secret|sig-public`, `algorithm: <token>|psk` and
`owner: <gcs or drone_id>`, then the key in base64. Layout of the folders:

    gcs:   psk/<drone_id>.key   sig/<token>.key   sig/<token>.pub   drones/<drone_id>/<token>.pub
    drone: psk.key              gcs/<token>.pub   sig/<token>.key   sig/<token>.pub
"""

from __future__ import annotations

import base64
import binascii
import stat
from dataclasses import dataclass, field
from pathlib import Path

from .errors import KeyFileError
from .handshake import GcsPolicy
from .proofs import gcs_psk

FIRST_LINE = "pqcmav-key 1"
PSK_BYTES = 32
SECRET_KINDS = ("psk", "sig-secret")


@dataclass(frozen=True)
class KeyFile:
    """One parsed key file."""

    kind: str
    algorithm: str
    owner: str
    key: bytes = field(repr=False)


def read_key_file(path: Path, kind: str, algorithm: str) -> KeyFile:
    """Reads one key and checks that it is of this kind and algorithm. Raises KeyFileError."""
    try:
        mode = path.stat().st_mode
        lines = path.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"{path} cannot be read: {error}") from error
    if kind in SECRET_KINDS and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyFileError(f"{path} can be read by others: chmod 600 it")
    if not lines or lines[0].strip() != FIRST_LINE:
        raise KeyFileError(f"{path} does not begin with '{FIRST_LINE}'")
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    encoded = "".join(line.strip() for line in lines[1:] if ": " not in line)
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise KeyFileError(f"{path} holds no base64 behind its head") from error
    found = KeyFile(fields.get("kind", ""), fields.get("algorithm", ""), fields.get("owner", ""), key)
    if (found.kind, found.algorithm) != (kind, algorithm):
        raise KeyFileError(f"{path} holds a {found.kind} for {found.algorithm}, expected a {kind} for {algorithm}")
    if kind == "psk" and len(key) != PSK_BYTES:
        raise KeyFileError(f"{path} holds a PSK of {len(key)} bytes, expected {PSK_BYTES}")
    return found


def write_key_file(path: Path, key_file: KeyFile) -> None:
    """Writes a key file, mode 0600, making its folder (tests make their own keys with it)."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    encoded = base64.b64encode(key_file.key).decode("ascii")
    head = f"{FIRST_LINE}\nkind: {key_file.kind}\nalgorithm: {key_file.algorithm}\nowner: {key_file.owner}\n"
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(f"{head}{encoded}\n", "ascii")


@dataclass(frozen=True)
class DroneKeys:
    """What a drone's folder holds, signature keys by token; `psk` is the one that the gcs holds, too."""

    drone_id: str
    psk: bytes = field(repr=False)
    gcs_publics: dict[str, bytes]
    sign_secrets: dict[str, bytes] = field(repr=False)


def load_drone_keys(folder: Path, gcs_id: str = "gcs") -> DroneKeys:
    """Reads a drone's whole key folder, for talking to this gcs. Raises KeyFileError."""
    psk = read_key_file(folder / "psk.key", "psk", "psk")
    own_folder = folder / "gcs" / gcs_id
    return DroneKeys(
        drone_id=psk.owner,
        psk=gcs_psk(psk.key, gcs_id),
        gcs_publics=_by_token(own_folder if own_folder.is_dir() else folder / "gcs", ".pub", "sig-public"),
        sign_secrets=_by_token(folder / "sig", ".key", "sig-secret"),
    )


def load_gcs_policy(folder: Path) -> GcsPolicy:
    """Reads the whole key folder of a gcs into a policy that allows everything. Raises KeyFileError."""
    psks = {path.stem: read_key_file(path, "psk", "psk").key for path in sorted((folder / "psk").glob("*.key"))}
    drone_publics = {
        (drone_folder.name, token): key
        for drone_folder in sorted((folder / "drones").glob("*"))
        for token, key in _by_token(drone_folder, ".pub", "sig-public").items()
    }
    return GcsPolicy(psks, _by_token(folder / "sig", ".key", "sig-secret"), drone_publics)


def _by_token(folder: Path, suffix: str, kind: str) -> dict[str, bytes]:
    return {path.stem: read_key_file(path, kind, path.stem).key for path in sorted(folder.glob(f"*{suffix}"))}
