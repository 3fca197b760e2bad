# SPDX-License-Identifier: Apache-2.0
"""The schema's version, and how a run of the one before is read; its file stays as it is, for its hash is over that.

Version 7 lacked the memory of what runs beside the tunnel, and said 0 for a detector without measuring it. Tables are
always of today: an export is made anew from the runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA_VERSION, BEFORE = "8.0", "7.0"
#: What version 8 added, as `category.field`.
ADDED = frozenset({"system_drone.load_rss_mib", "system_gcs.load_rss_mib"})
LACKED = {"status": "not_applicable", "reason": "recorded before this was measured"}
CATEGORY, NAME = "workload", "scenario_load_memory_mib"
UNMEASURED = {"status": "unavailable", "reason": "schema version 7 wrote 0 for a detector without measuring it"}


def as_today(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metrics document of the version before as one of today's; any other one as it is."""
    if document.get("schema_version") != BEFORE:
        return document
    out = {**document, "schema_version": SCHEMA_VERSION}
    status, workload = out.get("metric_status"), out.get(CATEGORY)
    if not isinstance(status, Mapping) or not isinstance(workload, Mapping):
        return out  # the models refuse it
    out["metric_status"] = {**dict.fromkeys(ADDED, LACKED), **status}
    if workload.get("scenario_load") == "detector":
        out[CATEGORY] = {**workload, NAME: None}
        out["metric_status"][f"{CATEGORY}.{NAME}"] = UNMEASURED
    return out
