# SPDX-License-Identifier: Apache-2.0
"""What schema version 4 holds that version 3 does not: several handshakes of a suite in one run, and each one's times.

Files are not rewritten: their hashes are over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "3.0"

_BEFORE = "recorded before this was measured: a run had one full handshake"

#: `category.field` that version 4 added, or the last releases of version 3: of those with a column, a table of an older
#: version may have none.
ADDED = frozenset(
    {
        "run_context.same_clock",
        "run_context.link",
        "handshake.kind",
        "crypto_primitives.gcs_keygen_pooled",
        "rekey.ratchets",
        "lifecycle.renew_s",
        "handshake.handshakes",
        "handshake.handshake_low_ms",
        "handshake.handshake_high_ms",
        "system_drone.foreign_cpu_percent",
        "system_gcs.foreign_cpu_percent",
        "handshake.samples_ms",
        "handshake.gcs_samples_ms",
    }
)


def today(document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """A metrics document of version 3 as one of schema `version`: what it has no value for says why."""
    out = {**document, "schema_version": version}
    if isinstance(status := out.get("metric_status"), Mapping):
        out["metric_status"] = {**{path: {"status": "not_applicable", "reason": _BEFORE} for path in ADDED}, **status}
    return out
