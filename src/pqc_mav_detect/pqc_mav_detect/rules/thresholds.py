# SPDX-License-Identifier: Apache-2.0
"""The table of thresholds: how much of each channel is allowed, and how much beyond that makes an alarm.

`pqcmav detect train --what rules` learns it from windows of normal traffic alone (docs/detection.md says how they were
recorded). No attack is needed: a threshold is a distance from what was normal.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path

from pqc_mav_detect.channels import CHANNELS, SUMMED
from pqc_mav_detect.dataset import Row, stood_still
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.features import Features
from pqc_mav_detect.rules.surplus import Surplus, Threshold

FILE = "thresholds.csv"
COLUMNS = ("channel", "unit", "allowance", "limit", "normal_mean_5s_max", "normal_surplus_max")
ABOVE_MEAN = 1.5  # the allowance, times the highest mean over 5 s of normal traffic
ABOVE_SURPLUS = 2.0  # the limit, times the greatest surplus of normal traffic
MEAN_S = 5.0


@dataclass(frozen=True)
class Normal:
    """What normal traffic reached in one channel."""

    mean: float
    surplus: float


def learn(runs: Iterable[Sequence[Row]]) -> dict[str, tuple[Threshold, Normal]]:
    """Thresholds from runs of normal windows, each in order of time. Raises ValueError without any."""
    kept = [part for rows in runs for part in _moving(rows)]
    if not kept:
        raise ValueError("there are no windows of normal traffic to learn from")
    found = {}
    for name in SUMMED:
        least = CHANNELS[name]
        mean = max(_highest_mean(rows, name) for rows in kept)
        allowance = max(least.allowance, ABOVE_MEAN * mean)
        surplus = max(_greatest_surplus(rows, name, allowance) for rows in kept)
        limit = max(least.limit, ABOVE_SURPLUS * surplus)
        found[name] = (Threshold(float(f"{allowance:.3g}"), float(f"{limit:.3g}")), Normal(mean, surplus))
    return found


def _moving(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The parts of a run between two times in which the machine stood still."""
    for stood, part in groupby(zip(rows, stood_still(rows), strict=True), key=lambda each: each[1]):
        if not stood:
            yield [row for row, _ in part]


def _highest_mean(rows: Sequence[Row], channel: str) -> float:
    features, most = Features(), 0.0
    for row in rows:
        features.push(row.window)
        most = max(most, features.mean(channel, MEAN_S))
    return most


def _greatest_surplus(rows: Sequence[Row], channel: str, allowance: float) -> float:
    surplus, most = Surplus(Threshold(allowance, float("inf"))), 0.0
    for row in rows:
        surplus.add(row.window.values[channel], row.window.span_s, row.window.time_s)
        most = max(most, surplus.value)
    return most


def text(learned: Mapping[str, tuple[Threshold, Normal]]) -> str:
    """The table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, (threshold, normal) in learned.items():
        figures = (threshold.allowance, threshold.limit, normal.mean, normal.surplus)
        writer.writerow([name, CHANNELS[name].unit, *(f"{value:.4g}" for value in figures)])
    return out.getvalue()


def parse(table: str) -> dict[str, Threshold]:
    """The thresholds of a CSV. Raises ValueError for one that lacks a channel or a positive limit."""
    found = {}
    for row in csv.DictReader(io.StringIO(table)):
        found[row["channel"]] = Threshold(float(row["allowance"]), float(row["limit"]))
    for name in SUMMED:
        if name not in found or not found[name].limit > 0 or not found[name].allowance >= 0:
            raise ValueError(f"the table of thresholds has no usable row for '{name}'")
    return found


def read(path: Path) -> Mapping[str, Threshold]:
    """Another table than the committed one. Raises ModelError."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except KeyError as error:
        raise ModelError(f"the thresholds of '{path}' cannot be read: there is no column {error}") from None
    except (OSError, TypeError, ValueError, csv.Error) as error:
        raise ModelError(f"the thresholds of '{path}' cannot be read: {error}") from None


@cache
def shipped() -> Mapping[str, Threshold]:
    """The committed table."""
    return parse(resources.files("pqc_mav_detect.rules").joinpath(FILE).read_text(encoding="utf-8"))
