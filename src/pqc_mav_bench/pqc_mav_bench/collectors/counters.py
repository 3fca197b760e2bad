# SPDX-License-Identifier: Apache-2.0
"""The proxies' counters over a run: differences of two readings of TunnelStats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTERS = (
    "plain_rx_packets", "plain_rx_bytes", "plain_tx_packets", "plain_tx_bytes",
    "plain_dropped_no_session", "plain_dropped_too_big", "plain_dropped_send",
    "enc_tx_packets", "enc_tx_bytes", "enc_rx_packets", "enc_rx_bytes", "delivered", "control",
    "drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail",
)  # fmt: skip
DROPS = tuple(name for name in COUNTERS if name.startswith("drop_"))
SAMPLE_EVERY = 32  # the engine times each 32nd call
FEWEST_SAMPLES = 4


def _window_mean(first: tuple[float, int], last: tuple[float, int]) -> float | None:
    """Mean of the calls between two readings of (running mean, calls); None when too few of them were timed.

    The engine times the first and then each SAMPLE_EVERY-th call, so the number of timed calls is known.
    """
    timed = [-(-calls // SAMPLE_EVERY) for _, calls in (first, last)]
    if timed[1] - timed[0] < FEWEST_SAMPLES:
        return None
    mean = (last[0] * timed[1] - first[0] * timed[0]) / (timed[1] - timed[0])
    return mean if mean > 0 else None


def difference(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of DataPlane for one side. Raises ValueError when the counters began anew in between."""
    out: dict[str, Any] = {name: int(last[name]) - int(first[name]) for name in COUNTERS}
    if min(out.values()) < 0:
        raise ValueError("the proxy was started anew during the run")

    def sealed(reading: Mapping[str, Any]) -> int:
        left_out = reading["plain_dropped_no_session"] + reading["plain_dropped_too_big"]
        return int(reading["plain_rx_packets"] - left_out)

    def opened(reading: Mapping[str, Any]) -> int:
        return int(reading["enc_rx_packets"] - reading["drop_malformed"] - reading["drop_unknown"])

    out["seal_mean_ns"] = _window_mean((first["seal_mean_ns"], sealed(first)), (last["seal_mean_ns"], sealed(last)))
    out["open_mean_ns"] = _window_mean((first["open_mean_ns"], opened(first)), (last["open_mean_ns"], opened(last)))
    return out


def balanced(counters: Mapping[str, Any]) -> bool:
    """Whether received = delivered + control + the six drops."""
    parts = int(counters["delivered"]) + int(counters["control"]) + sum(int(counters[name]) for name in DROPS)
    return int(counters["enc_rx_packets"]) == parts
