# SPDX-License-Identifier: Apache-2.0
"""What schema version 5 holds that version 4 does not: how delays are distributed, and whether the clock was pinned.

Files are not rewritten: their hashes are over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "4.0"

_BEFORE = "recorded before this was measured"

#: `category.field` that version 5 added: of those with a column, a table of an older version has none.
ADDED = frozenset(
    {
        "latency_jitter.rtt_within_20ms_ratio",
        "latency_jitter.rtt_within_50ms_ratio",
        "latency_jitter.rtt_within_100ms_ratio",
        "latency_jitter.rtt_classes",
        "latency_jitter.owd_down_within_100ms_ratio",
        "latency_jitter.owd_down_classes",
        "latency_jitter.owd_up_within_20ms_ratio",
        "latency_jitter.owd_up_classes",
        "system_drone.governor_pinned",
        "system_gcs.governor_pinned",
    }
)


def today(document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """A metrics document of version 4 as one of schema `version`: what it has no value for says why."""
    out = {**document, "schema_version": version}
    if isinstance(status := out.get("metric_status"), Mapping):
        out["metric_status"] = {**{path: {"status": "not_applicable", "reason": _BEFORE} for path in ADDED}, **status}
    return out
