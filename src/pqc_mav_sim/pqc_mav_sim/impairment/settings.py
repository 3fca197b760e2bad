# SPDX-License-Identifier: Apache-2.0
"""What a link does to the frames of one direction, as plain numbers with ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

KINDS = ("", "data", "control", "handshake")


class ImpairmentError(ValueError):
    """A setting that does not exist or is out of range; the text names it."""


_RANGES: dict[str, tuple[float, float]] = {
    "delay_ms": (0, 60_000),
    "jitter_ms": (0, 60_000),
    "loss": (0, 1),
    "burst": (1, 10_000),
    "dead_ms": (0, 60_000),
    "duplicate": (0, 1),
    "reorder": (0, 1),
    "reorder_ms": (0, 60_000),
    "rate_bit_s": (0, 1e12),
    "queue_bytes": (64, 1e9),
    "overhead_bytes": (-14, 1_000),
}


@dataclass(frozen=True)
class Impairment:
    """One direction of a link. The default passes every frame at once.

    Attributes:
        delay_ms: time each frame takes.
        jitter_ms: by so much the delay is longer or shorter at most, all alike.
        keep_order: a frame waits for the one before it, as on most real links; otherwise jitter reorders, as in netem.
        loss: share of frames lost, 0..1.
        burst: mean number of frames lost in a row (two-state Markov chain, Gilbert 1960); 1 = independent losses.
        only: losses hit frames with that kind of datagram alone: `data`, `control`, `handshake`; empty = all.
        dead_ms: the link dies for so long at a time, which takes the share `loss` of the time, however many frames
            there are (fading); 0 = losses go by frames.
        duplicate: share of frames that arrive twice.
        reorder: share of frames held back by `reorder_ms`, so that later ones overtake them.
        reorder_ms: how long those are held back.
        rate_bit_s: bits per second, 0 = unlimited.
        queue_bytes: what may wait for the rate; a frame that does not fit is lost.
        overhead_bytes: what a frame takes of rate and queue beside its own bytes; -14 leaves its Ethernet header out.
        down: the link is cut: every frame is lost.
    """

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    keep_order: bool = True
    loss: float = 0.0
    burst: float = 1.0
    only: str = ""
    dead_ms: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    reorder_ms: float = 20.0
    rate_bit_s: float = 0.0
    queue_bytes: float = 16_384
    overhead_bytes: float = 0.0
    down: bool = False

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ImpairmentError(f"{name} = {value:g} is out of range: give {least:g} to {most:g}")
        if self.dead_ms and (self.burst > 1 or self.loss >= 1):
            raise ImpairmentError("dead_ms needs burst = 1 and loss below 1 (down cuts the link)")
        if self.only not in KINDS:
            raise ImpairmentError(f"only '{self.only}' is no kind of datagram: give {', '.join(KINDS[1:])}")
        if self.burst > 1 and self.loss >= self.burst / (self.burst + 1):
            raise ImpairmentError(f"loss = {self.loss:g} cannot be reached with bursts of {self.burst:g} frames")

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Impairment:
        """Build one from a mapping; raise ImpairmentError for an unknown name or a bad value."""
        known = {each.name for each in fields(Impairment)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ImpairmentError(f"unknown setting {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
        return Impairment(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings, ready for JSON."""
        return asdict(self)
