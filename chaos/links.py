# SPDX-License-Identifier: Apache-2.0
"""The radio links over which handshakes and rekeys are timed, as data."""

from dataclasses import dataclass
from typing import Any

from pqc_mav_bench.link_presets import PRESETS
from pqc_mav_sim.impairment.described import described


@dataclass(frozen=True)
class Link:
    """The same each way.

    Attributes:
        rtt_ms: round trip.
        loss: share of the frames, or of the time.
        dead_ms: losses come as dead times of this length; 0 = frame by frame.
        rate_kbit_s: what the radio carries.
        queue_bytes: what waits before it; 24 kB are 3 s of 64 kbit/s.
    """

    rtt_ms: int = 100
    loss: float = 0.3
    dead_ms: int = 0
    rate_kbit_s: int = 10_000
    queue_bytes: int = 24_000

    def impairment(self) -> dict[str, Any]:
        """The settings of `pqc_mav_sim.impairment`."""
        return {
            "delay_ms": self.rtt_ms / 2, "loss": self.loss, "dead_ms": self.dead_ms,
            "rate_bit_s": self.rate_kbit_s * 1000, "queue_bytes": self.queue_bytes,
        }  # fmt: skip

    def __str__(self) -> str:
        rate = f"{self.rate_kbit_s // 1000} Mbit/s" if self.rate_kbit_s >= 1000 else f"{self.rate_kbit_s} kbit/s"
        loss = f"{self.loss:.0%} loss" + (f" in dead times of {self.dead_ms} ms" if self.dead_ms else "")
        return f"{loss}, RTT {self.rtt_ms} ms, {rate}, queue {self.queue_bytes / 1000:g} kB"


@dataclass(frozen=True)
class NamedLink:
    """A link that campaigns know by its name."""

    name: str

    def impairment(self) -> dict[str, Any]:
        """The settings of `pqc_mav_sim.impairment`."""
        return described(PRESETS[self.name].words)

    def __str__(self) -> str:
        return PRESETS[self.name].described
