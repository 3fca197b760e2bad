# SPDX-License-Identifier: Apache-2.0
"""Captures made by others: packets, bytes and MAVLink packets per 0.1 s, judged against their own calm beginning. Pure.

Nothing is known of such a capture but these columns, and each may be missing. What lies beyond the usual is measured in
usual deviations, and adds up as in the rules. Packets that are not MAVLink add up a second time as they are: a slow
flood hides within the deviation of a window, but not within the highest mean of 5 s.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pqc_mav_detect import classes
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.episodes import SUSPECT
from pqc_mav_detect.rules.surplus import MOST, Surplus, Threshold

COLUMNS = ("packets", "bytes", "mavlink_packets")
CALM_S = 10.0
LEAST_CALM = 20  # windows
THRESHOLD = Threshold(1.0, 0.8)  # deviations, deviations times seconds
LEAST_BYTES = 60.0  # what one packet changes at least
ABOVE = 2.0  # the limit, times what the calm beginning itself reached
ABOVE_MEAN = 2.0
MEAN_S = 5.0
SLOWLY = ", slowly"
MOST_SLOWLY = 1.5  # limits: what adds up slowly also goes slowly
LEAST = Threshold(1.0, 5.0)  # packets a second, packets


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


def _allowed(rows: Sequence[Mapping[str, float]], calm: Sequence[Slot], name: str) -> Threshold:
    """For what adds up slowly, of one measure: beyond the highest mean of 5 s while all was calm."""
    span_s = (calm[-1].time_s - calm[0].time_s) / (len(calm) - 1)
    count = max(1, min(len(rows), round(MEAN_S / span_s)))
    values = [row.get(name, 0.0) for row in rows]
    most = max(sum(values[at : at + count]) for at in range(len(values) - count + 1)) / (count * span_s)
    return Threshold(max(LEAST.allowance, ABOVE_MEAN * most), LEAST.limit)


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
        least = dict.fromkeys(names, THRESHOLD)
        if "missing" in names and "other packets" in names:
            least["other packets" + SLOWLY] = _allowed(rows, calm, "other packets")
        most_of = {name: MOST_SLOWLY if name.endswith(SLOWLY) else MOST for name in least}
        self._sums = {name: Surplus(threshold, most_of[name]) for name, threshold in least.items()}
        reached = dict.fromkeys(least, 0.0)
        for before, slot in itertools.pairwise(calm):
            for name in self._add(slot, slot.time_s - before.time_s):
                reached[name] = max(reached[name], self._sums[name].value)
        self._sums = {
            name: Surplus(Threshold(least[name].allowance, max(least[name].limit, ABOVE * most)), most_of[name])
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
        once = tuple(dict.fromkeys((kind, words) for _, kind, words in seen))  # two sums may speak of the same packets
        return Opinion(pressure, dict(pressure), once, since)

    def _add(self, slot: Slot, span_s: float) -> dict[str, float]:
        found = measures(slot, self._bytes_each)
        for name, value in found.items():
            of = self._usual[name]
            self._sums[name].add((value - of.mean) / of.deviation, span_s, slot.time_s)
            if name + SLOWLY in self._sums:
                self._sums[name + SLOWLY].add(value / span_s, span_s, slot.time_s)
        beyond = {name: value - self._usual[name].mean for name, value in found.items()}
        return {name: beyond[name.removesuffix(SLOWLY)] for name in self._sums if name.removesuffix(SLOWLY) in beyond}

    @staticmethod
    def _kind(name: str, slot: Slot) -> str:
        if name != "missing":
            return classes.VOLUMETRIC
        return classes.ON_PATH if slot.mavlink_packets else classes.BLACKOUT

    @staticmethod
    def _words(name: str, beyond_per_s: float) -> str:
        if name == "missing":
            return f"{beyond_per_s:,.0f} MAVLink packets/s fewer than usual"
        what = name.removeprefix("other ").removesuffix(SLOWLY)
        return f"{beyond_per_s:,.0f} {what}/s more than usual that are not MAVLink"
