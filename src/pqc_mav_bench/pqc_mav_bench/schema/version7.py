# SPDX-License-Identifier: Apache-2.0
"""Schema version 7: it lacked the memory of what runs beside the tunnel, and said 0 where nobody had measured it.

Files are not rewritten: their hashes are over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

VERSION = "7.0"
PATH = "workload.scenario_load_memory_mib"
LOAD, DETECTOR = "workload.scenario_load", "detector"
#: What version 8 added, as `category.field`; a table of version 7 has no such columns.
ADDED = frozenset({"system_drone.load_rss_mib", "system_gcs.load_rss_mib"})
LACKED = "recorded before this was measured"
REASON = "schema version 7 wrote 0 for a detector without measuring it"


def as_following(document: Mapping[str, Any]) -> dict[str, Any]:
    """A metrics document of version 7 with a status for what it has no value for."""
    out = _without_unmeasured(document)
    if isinstance(status := out.get("metric_status"), Mapping):
        why = {"status": "not_applicable", "reason": LACKED}
        out["metric_status"] = {**dict.fromkeys(ADDED, why), **status}
    return out


def _without_unmeasured(document: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(document)
    category, _, name = PATH.partition(".")
    workload = out.get(category)
    if not isinstance(workload, Mapping) or workload.get(LOAD.partition(".")[2]) != DETECTOR:
        return out
    out[category] = {**workload, name: None}
    if isinstance(status := out.get("metric_status"), Mapping):
        out["metric_status"] = {**status, PATH: {"status": "unavailable", "reason": REASON}}
    return out


def unmeasured_left_out(table: pd.DataFrame) -> pd.DataFrame:
    """The tidy table of version 7 without the memory of detectors."""
    if not {PATH, LOAD} <= set(table.columns):
        return table
    return table.assign(**{PATH: table[PATH].mask(table[LOAD] == DETECTOR)})
