# SPDX-License-Identifier: Apache-2.0
"""Rates per second out of counters that only grow."""

from __future__ import annotations

from collections.abc import Mapping

# TunnelStats field -> the counter it is the rate of.
RATES: Mapping[str, str] = {
    "tx_packets_per_s": "enc_tx_packets",
    "rx_packets_per_s": "enc_rx_packets",
    "tx_bytes_per_s": "enc_tx_bytes",
    "rx_bytes_per_s": "enc_rx_bytes",
}


class RateMeter:
    """Remembers the last reading of each drone's counters. Time is an argument (seconds of a monotonic clock)."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, dict[str, int]]] = {}

    def update(self, drone_id: str, counters: Mapping[str, int], now_s: float) -> dict[str, float]:
        """Rates since the last call for this drone; zeros on the first call and after the counters started anew."""
        values = {counter: int(counters[counter]) for counter in RATES.values()}
        last = self._last.get(drone_id)
        self._last[drone_id] = (now_s, values)
        if last is None or now_s <= last[0]:
            return dict.fromkeys(RATES, 0.0)
        span = now_s - last[0]
        return {rate: max(0, values[counter] - last[1][counter]) / span for rate, counter in RATES.items()}
