# SPDX-License-Identifier: Apache-2.0
"""Captures made by others: packets, bytes and MAVLink packets per 0.1 s, judged against their own calm beginning. Pure.

Nothing is known of such a capture but these columns, and each may be missing. What lies beyond the usual is measured in
usual deviations, and adds up as in the rules.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pqc_mav_detect import classes
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.episodes import SUSPECT
from pqc_mav_detect.rules.surplus import Surplus, Threshold

COLUMNS = ("packets", "bytes", "mavlink_packets")
CALM_S = 10.0
LEAST_CALM = 20  # windows
THRESHOLD = Threshold(1.0, 0.8)  # deviations, deviations times seconds
LEAST_BYTES = 60.0  # what one packet changes at least
ABOVE = 2.0  # the limit, times what the calm beginning itself reached


@dataclass(frozen=True)
class Slot:
    """One window of a capture; None = the column is missing."""

    time_s: float
    packets: float | None = None
    bytes: float | None = None
    mavlink_packets: float | None = None
    label: str = ""


@dataclass(frozen=True)
class Usual:
    """Mean and deviation of one measure while all was calm."""

    mean: float
    deviation: float


def measures(slot: Slot, bytes_each: float) -> dict[str, float]:
    """What a window is judged by. `bytes_each`: of a MAVLink packet."""
    found: dict[str, float] = {}
    if slot.mavlink_packets is not None:
        found["missing"] = -slot.mavlink_packets
        if slot.packets is not None:
            found["other packets"] = max(0.0, slot.packets - slot.mavlink_packets)
        if slot.bytes is not None:
            found["other bytes"] = slot.bytes - bytes_each * slot.mavlink_packets
        return found
    if slot.packets is not None:
        found["other packets"] = slot.packets
    if slot.bytes is not None:
        found["other bytes"] = slot.bytes
    return found


def usual(rows: Sequence[Mapping[str, float]], name: str) -> Usual:
    """Of one measure over calm windows; the deviation is no less than counting alone makes it."""
    values = [row[name] for row in rows if name in row]
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    least = LEAST_BYTES if name == "other bytes" else math.sqrt(max(1.0, abs(mean)))
    return Usual(mean, max(spread, least))


class CaptureRules:
    """The rules for such captures, learned from calm windows. Raises ValueError where there are too few."""

    source = "rules"

    def __init__(self, calm: Sequence[Slot]) -> None:
        if len(calm) < LEAST_CALM:
            raise ValueError(f"there are {len(calm)} calm windows to compare with; {LEAST_CALM} are the least")
        mavlink = sum(slot.mavlink_packets or 0.0 for slot in calm)
        self._bytes_each = sum(slot.bytes or 0.0 for slot in calm) / mavlink if mavlink else 0.0
        rows = [measures(slot, self._bytes_each) for slot in calm]
        names = dict.fromkeys(name for row in rows for name in row)
        if not names:
            raise ValueError(f"none of the columns {', '.join(COLUMNS)} is there")
        self._usual = {name: usual(rows, name) for name in names}
        self._sums = {name: Surplus(THRESHOLD) for name in names}
        reached = dict.fromkeys(names, 0.0)
        for before, slot in itertools.pairwise(calm):
            for name in self._add(slot, slot.time_s - before.time_s):
                reached[name] = max(reached[name], self._sums[name].value)
        self._sums = {
            name: Surplus(Threshold(THRESHOLD.allowance, max(THRESHOLD.limit, ABOVE * most)))
            for name, most in reached.items()
        }

    def update(self, slot: Slot, span_s: float) -> Opinion:
        """Take the next window."""
        found = self._add(slot, span_s)
        pressure: dict[str, float] = {}
        seen: list[tuple[float, str, str]] = []
        for name, value in found.items():
            surplus = self._sums[name]
            if surplus.pressure < SUSPECT:
                continue
            kind = self._kind(name, slot)
            pressure[kind] = max(pressure.get(kind, 0.0), surplus.pressure)
            seen.append((surplus.pressure, kind, self._words(name, value / span_s)))
        seen.sort(key=lambda each: -each[0])
        since = min((self._sums[name].since_s for name in found if self._sums[name].pressure >= SUSPECT), default=None)
        return Opinion(pressure, dict(pressure), tuple((kind, words) for _, kind, words in seen), since)

    def _add(self, slot: Slot, span_s: float) -> dict[str, float]:
        found = measures(slot, self._bytes_each)
        for name, value in found.items():
            of = self._usual[name]
            self._sums[name].add((value - of.mean) / of.deviation, span_s, slot.time_s)
        return {name: value - self._usual[name].mean for name, value in found.items()}

    @staticmethod
    def _kind(name: str, slot: Slot) -> str:
        if name != "missing":
            return classes.VOLUMETRIC
        return classes.ON_PATH if slot.mavlink_packets else classes.BLACKOUT

    @staticmethod
    def _words(name: str, beyond_per_s: float) -> str:
        if name == "missing":
            return f"{beyond_per_s:,.0f} MAVLink packets/s fewer than usual"
        return f"{beyond_per_s:,.0f} {name.removeprefix('other ')}/s more than usual that are not MAVLink"
