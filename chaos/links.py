# SPDX-License-Identifier: Apache-2.0
"""The radio links over which handshakes and rekeys are timed, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# what waits before the radio: 24 kB are 3 s of 64 kbit/s
_QUEUE_BYTES = 24_000


@dataclass(frozen=True)
class Link:
    """The same each way: round trip (ms), loss (share), mean number of frames lost in a row, rate (kbit/s)."""

    rtt_ms: int = 100
    loss: float = 0.3
    burst: int = 1
    rate_kbit_s: int = 10_000

    def impairment(self) -> dict[str, Any]:
        """The settings of `pqc_mav_sim.impairment`."""
        return {
            "delay_ms": self.rtt_ms / 2, "loss": self.loss, "burst": self.burst,
            "rate_bit_s": self.rate_kbit_s * 1000, "queue_bytes": _QUEUE_BYTES,
        }  # fmt: skip

    def __str__(self) -> str:
        rate = f"{self.rate_kbit_s // 1000} Mbit/s" if self.rate_kbit_s >= 1000 else f"{self.rate_kbit_s} kbit/s"
        loss = f"{self.loss:.0%} loss" + (f" in bursts of {self.burst}" if self.burst > 1 else "")
        return f"{loss}, RTT {self.rtt_ms} ms, {rate}"
