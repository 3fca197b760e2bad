# SPDX-License-Identifier: Apache-2.0
"""What later schema versions added: campaigns recorded before have no value for it, and say why.

Files are not rewritten: their hashes are over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Addition:
    """What a version lacks that the next one has."""

    version: str
    reason: str
    #: `category.field`: of those with a column, a table of this version may have none.
    added: frozenset[str]

    def explained(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A metrics document of this version with a status for what it has no value for."""
        out = dict(document)
        if isinstance(status := out.get("metric_status"), Mapping):
            why = {"status": "not_applicable", "reason": self.reason}
            out["metric_status"] = {**dict.fromkeys(self.added, why), **status}
        return out


#: In the order of the versions. Some fields of the first came with the last releases of that version already.
ADDITIONS = (
    Addition(
        "3.0",
        "recorded before this was measured: a run had one full handshake",
        frozenset(
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
        ),
    ),
    Addition(
        "4.0",
        "recorded before this was measured",
        frozenset(
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
        ),
    ),
    Addition(
        "5.0",
        "recorded before this was measured",
        frozenset(
            f"data_plane.{side}{name}"
            for side in ("", "gcs_")
            for name in (
                "plain_dropped_no_peer",
                "plain_dropped_kernel",
                "window_skipped",
                "window_late",
                "window_deepest",
                "window_missing",
                "window_classes",
            )
        ),
    ),
    Addition("6.0", "recorded before this was counted", frozenset({"crypto_primitives.gcs_pooled_handshakes"})),
    Addition(
        "7.0",
        "recorded before this was measured",
        frozenset({"system_drone.load_rss_mib", "system_gcs.load_rss_mib"}),
    ),
)

#: All of them.
ADDED = frozenset(path for each in ADDITIONS for path in each.added)
