# SPDX-License-Identifier: Apache-2.0
"""What schema version 1 called the figures: campaigns recorded under it are read with the names of version 2.

Version 2 changed names alone, so that a figure has one name from the message to the report. Files are not rewritten:
their hashes are over what was recorded. The renaming happens whenever one of them is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VERSION = "1.0"

_PRIMITIVES = ("kem_keygen", "kem_encaps", "kem_decaps", "sig_sign", "sig_verify", "x25519", "kdf")
_LOAD = {
    "cpu_avg_percent": "cpu_mean_percent",
    "core_avg_percent": "core_mean_percent",
    "memory_avg_mib": "memory_mean_mib",
    "temperature_avg_c": "temperature_mean_c",
}
#: category -> name in version 1 -> name in version 2. Where the ground has a counterpart, `gcs_` is before both.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "lifecycle": {"overhead_ratio": "wall_per_data"},
    "handshake": {
        "total_ms": "handshake_ms",
        "tcp_connect_ms": "phase_connect_ms",
        "challenge_ms": "phase_challenge_ms",
        "client_hello_ms": "phase_hello_ms",
        "server_hello_ms": "phase_server_hello_ms",
        "client_response_ms": "phase_finish_ms",
        "key_derivation_ms": "kdf_ms",
        "success": "ok",
        "is_rekey": "rekey",
    },
    "crypto_primitives": {
        **{f"{name}_time_ms": f"{name}_ms" for name in _PRIMITIVES},
        "total_time_ms": "primitives_ms",
        **{f"{name}_size_bytes": f"{name}_bytes" for name in ("public_key", "ciphertext", "signature")},
        "drone_signature_size_bytes": "drone_signature_bytes",
    },
    "rekey": {
        "rekey_window_ms": "rekey_ms",
        "total_rekey_time_ms": "rekey_total_ms",
        "average_rekey_time_ms": "rekey_mean_ms",
    },
    "data_plane": {"aead_encrypt_avg_ns": "seal_mean_ns", "aead_decrypt_avg_ns": "open_mean_ns"},
    "system_drone": _LOAD,
    "system_gcs": _LOAD,
    "power_energy": {"power_avg_w": "power_mean_w"},
}


def _pairs() -> Iterator[tuple[str, str]]:
    for category, names in _NAMES.items():
        for old, new in names.items():
            for side in ("", "gcs_"):
                yield f"{category}.{side}{old}", f"{category}.{side}{new}"


#: `category.field` in version 1 -> `category.field` in version 2: also the columns of the tidy table.
RENAMED: Mapping[str, str] = dict(_pairs())


def renamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A metrics document of version 1 with the names of version 2."""
    out = dict(document)
    for category in _NAMES:
        if isinstance(values := out.get(category), Mapping):
            paths = ((RENAMED.get(f"{category}.{name}", f"{category}.{name}"), value) for name, value in values.items())
            out[category] = {path.partition(".")[2]: value for path, value in paths}
    if isinstance(status := out.get("metric_status"), Mapping):
        out["metric_status"] = {RENAMED.get(path, path): value for path, value in status.items()}
    if isinstance(findings := out.get("findings"), list):
        out["findings"] = [_finding(found) for found in findings]
    return out


def _finding(found: Any) -> Any:
    if not isinstance(found, Mapping) or not isinstance(found.get("fields"), list):
        return found
    return {**found, "fields": [RENAMED.get(path, path) for path in found["fields"]]}
