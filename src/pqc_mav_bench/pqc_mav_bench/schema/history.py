# SPDX-License-Identifier: Apache-2.0
"""The schema's version, and how runs of those before are read; a file stays as it is, for its hash is over that.

Version 7 lacked the memory of what runs beside the tunnel, and said 0 for a detector without measuring it. Version 8
did not say where the tunnel's engine runs. Tables are always of today: an export is made anew from the runs.
"""

from collections.abc import Mapping
from typing import Any

SCHEMA_VERSION = "9.0"
#: The fields, as `category.field`, that each version before lacks and the one after it has; the oldest first.
LACKING = {
    "7.0": frozenset({"system_drone.load_rss_mib", "system_gcs.load_rss_mib"}),
    "8.0": frozenset({"system_drone.tunnel_arrangement", "system_gcs.tunnel_arrangement"}),
}
BEFORE = tuple(LACKING)
LACKED = {"status": "not_applicable", "reason": "recorded before this was measured"}
CATEGORY, NAME, WITHOUT_NAME = "workload", "scenario_load_memory_mib", "7.0"
UNMEASURED = {"status": "unavailable", "reason": "schema version 7 wrote 0 for a detector without measuring it"}


def lacked(version: str) -> frozenset[str]:
    """The fields of today that a version before does not have."""
    return frozenset().union(*(LACKING[each] for each in BEFORE[BEFORE.index(version) :]))


def as_today(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metrics document of a version before as one of today's; any other one as it is."""
    version = document.get("schema_version")
    if version not in BEFORE:
        return document
    out = {**document, "schema_version": SCHEMA_VERSION}
    status, workload = out.get("metric_status"), out.get(CATEGORY)
    if not isinstance(status, Mapping) or not isinstance(workload, Mapping):
        return out  # the models refuse it
    out["metric_status"] = {**dict.fromkeys(lacked(version), LACKED), **status}
    if version == WITHOUT_NAME and workload.get("scenario_load") == "detector":
        out[CATEGORY] = {**workload, NAME: None}
        out["metric_status"][f"{CATEGORY}.{NAME}"] = UNMEASURED
    return out
