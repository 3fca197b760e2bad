# SPDX-License-Identifier: Apache-2.0
"""The campaign's manifest: what was asked for, when, on what, and the figures of the whole."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import pandas as pd

from pqc_mav_bench.options import CampaignOptions
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.source import source
from pqc_mav_bench.tidy import COMPACT, PASSED

MANIFEST_VERSION = "1.0"


def begun(name: str, options: CampaignOptions, suites: Sequence[str], versions: Mapping[str, str]) -> dict[str, Any]:
    """The manifest of a campaign that begins."""
    return {
        "manifest_version": MANIFEST_VERSION,
        "schema_version": SCHEMA_VERSION,
        "campaign_id": name,
        "started_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "options": options.model_dump(mode="json"),
        "suites": list(suites),
        "versions": dict(versions),
        "source": source(),
        "resumed": 0,
        "complete": False,
        "elapsed_s": 0.0,
    }


def compacted(manifest: Mapping[str, Any], same: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of the campaign's compact form; the version its runs were recorded under is kept."""
    recorded = manifest.get("recorded_schema_version", manifest.get("schema_version"))
    return {**manifest, "schema_version": SCHEMA_VERSION, "recorded_schema_version": recorded, COMPACT: dict(same)}


def _figure(value: Any, digits: int = 4) -> float | None:
    number = float(value)
    return round(number, digits) if math.isfinite(number) else None


def summary(table: pd.DataFrame) -> dict[str, Any]:
    """What a campaign cost and whether it was clean, over the runs that passed; None where nothing was measured."""
    good = table[table["status"] == PASSED]

    def mean(column: str) -> float | None:
        return _figure(good[column].mean()) if len(good) else None

    wall, data = good["lifecycle.total_s"].sum(), good["lifecycle.traffic_s"].sum()
    return {
        "runs": len(table),
        "passed": len(good),
        "data_s": _figure(data, 2),
        "wall_s": _figure(wall, 2),
        "wall_per_data": _figure(wall / data) if data else None,
        "handshake_median_ms": _figure(good["handshake.handshake_ms"].median()) if len(good) else None,
        **{
            f"{who}_cpu_percent": {end: mean(f"system_{end}.{who}_cpu_percent") for end in ("drone", "gcs")}
            for who in ("tunnel", "bench", "workload")
        },
        "lost_packets": int(good["workload.lost_packets"].sum()),
        "sent_packets": int(good["workload.sent_packets"].sum()),
        "runs_with_errors": int((table["validation.errors"] > 0).sum()),
        "runs_with_warnings": int((table["validation.warnings"] > 0).sum()),
    }
