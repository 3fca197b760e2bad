# SPDX-License-Identifier: Apache-2.0
"""Canonical JSON and the SHA-256 over it: the same content gives the same bytes on every machine."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical(value: Any) -> bytes:
    """JSON with sorted keys, no spaces, UTF-8, Python's shortest numbers. Raises ValueError for NaN and infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def sha256(value: Any) -> str:
    """Hexadecimal digest of the canonical form."""
    return hashlib.sha256(canonical(value)).hexdigest()


def file_sha256(data: bytes) -> str:
    """Hexadecimal digest of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def run_sha256(run: Mapping[str, Any]) -> str:
    """Digest of a metrics document, whatever its `integrity.sha256` says."""
    content = dict(run)
    content["integrity"] = {key: value for key, value in dict(run.get("integrity", {})).items() if key != "sha256"}
    return sha256(content)
