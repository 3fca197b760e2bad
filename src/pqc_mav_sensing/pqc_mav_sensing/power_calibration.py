# SPDX-License-Identifier: Apache-2.0
"""Does a power sensor agree with a meter? Pairs of currents in a file, and what follows from them.

Currents, not powers: the same one flows on both sides of a shunt, while the voltage differs by what drops there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_sensing.errors import SensorError

FILE = "calibration.json"
TOLERANCE = 0.02  # of the meter's current
SPREAD = 1.3  # highest over lowest current: at one load a wrong scale and a wrong zero look the same
ONE_SCALE = 0.01  # how far readings may be from one common scale
SEEN = (0.5, 2.0)  # readings over the meter's: beyond these no shunt is off by some percent, but something is wrong
MOST_PAIRS = 100
MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Pair:
    """What a meter and the sensor said at one load [A], and when (ISO 8601)."""

    meter_a: float
    sensor_a: float
    at: str


@dataclass(frozen=True)
class Verdict:
    """Whether the sensor's figures may be summed to joules, and why, or why not."""

    good: bool
    text: str


def judged(pairs: Sequence[Pair], shunt_ohm: float | None = None) -> Verdict:
    """The verdict on all pairs; `shunt_ohm` is the value that the sensor was told, None if the kernel knows it."""
    if not pairs:
        return Verdict(False, "was never compared with a meter")
    low, high = min(pair.meter_a for pair in pairs), max(pair.meter_a for pair in pairs)
    span = f"from {low:.3g} to {high:.3g} A" if high > low else f"at {low:.3g} A"
    if high < SPREAD * low:
        return Verdict(
            False, f"was compared with a meter {span} only: another load is needed, {SPREAD:g} times as much"
        )
    ratios = [pair.sensor_a / pair.meter_a for pair in pairs]
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    if abs(worst - 1) <= TOLERANCE:
        return Verdict(True, f"agrees with a meter within {100 * abs(worst - 1):.1f} % {span}")
    scale = math.fsum(p.sensor_a * p.meter_a for p in pairs) / math.fsum(p.meter_a**2 for p in pairs)
    if not SEEN[0] <= scale <= SEEN[1]:
        wrong = f"shows {100 * scale:.3g} % of the current {span}"
        return Verdict(False, f"{wrong}: check wiring, its direction, and the value printed on the shunt")
    off = f"reads {100 * abs(scale - 1):.1f} % too {'much' if scale > 1 else 'little'} {span}"
    if any(abs(ratio / scale - 1) > ONE_SCALE for ratio in ratios):
        return Verdict(
            False,
            f"is {100 * (worst - 1):+.1f} % off at the worst load {span}, and by another share at others: check wiring",
        )
    cure = (
        f"multiply its shunt_resistor by {scale:.4g}"
        if shunt_ohm is None
        else f"set shunt_ohm to {shunt_ohm * scale:.4g}"
    )
    return Verdict(False, f"{off}: {cure}, and compare again")


def load(folder: Path, settings: Mapping[str, Any]) -> list[Pair]:
    """The pairs of a sensor with these settings; those of others do not count. Raises SensorError for a bad file."""
    file = folder / FILE
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ValueError
        kept = json.loads(file.read_bytes())
        pairs = [Pair(float(each["meter_a"]), float(each["sensor_a"]), str(each["at"])) for each in kept["pairs"]]
        if any(not (0 < pair.meter_a < math.inf and math.isfinite(pair.sensor_a)) for pair in pairs):
            raise ValueError
        return pairs if kept["settings"] == dict(settings) else []
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SensorError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise SensorError(f"{file} is no calibration: remove it, and compare the sensor again") from None


def save(folder: Path, settings: Mapping[str, Any], pairs: Sequence[Pair]) -> Path:
    """Keep the newest pairs. Raises SensorError."""
    file = folder / FILE
    kept = {"settings": dict(settings), "pairs": [asdict(pair) for pair in pairs[-MOST_PAIRS:]]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write(file, json.dumps(kept, indent=1) + "\n")
    except OSError as error:
        raise SensorError(f"{file} cannot be written: {error.strerror}") from None
    return file
