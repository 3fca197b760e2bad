# SPDX-License-Identifier: Apache-2.0
"""What schema version 2 held that version 3 does not: campaigns recorded under it are read without those figures.

Until protocol 3 a handshake began with a TCP connection and a challenge of the ground, and each had a time of its own.
Files are not rewritten: their hashes are over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "2.0"

#: `category.field` of version 2 that is no more: also the columns of the tidy table.
REMOVED = frozenset({"handshake.phase_connect_ms", "handshake.phase_challenge_ms", "handshake.gcs_phase_challenge_ms"})


def without_removed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A metrics document of version 2 without what is no more."""
    out = dict(document)
    for category in {path.partition(".")[0] for path in REMOVED}:
        if isinstance(values := out.get(category), Mapping):
            out[category] = {name: value for name, value in values.items() if f"{category}.{name}" not in REMOVED}
    if isinstance(status := out.get("metric_status"), Mapping):
        out["metric_status"] = {path: value for path, value in status.items() if path not in REMOVED}
    if isinstance(findings := out.get("findings"), list):
        out["findings"] = [_finding(found) for found in findings]
    return out


def _finding(found: Any) -> Any:
    if not isinstance(found, Mapping) or not isinstance(found.get("fields"), list):
        return found
    return {**found, "fields": [path for path in found["fields"] if path not in REMOVED]}
