# SPDX-License-Identifier: Apache-2.0
"""Battery chemistries: the constants of the charge model, read from a documented YAML file and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from pqc_mav_sensing.errors import SensingError

SHIPPED = Path(__file__).resolve().parent / "chemistries.yaml"
MAX_BYTES = 1 << 18
_RESTING_POINTS = 11
_RANGES: Mapping[str, tuple[float, float]] = {
    "peukert_exponent": (1.0, 1.5),
    "rated_c_rate": (0.01, 5.0),
    "highest_c_rate": (0.1, 200.0),
    "reference_temperature_c": (-20.0, 60.0),
    "capacity_loss_per_kelvin": (0.0, 0.05),
    "least_capacity_fraction": (0.1, 1.0),
    "resistance_mohm_ah": (0.0, 1000.0),
    "cell_low_v": (0.5, 5.0),
    "cell_high_v": (0.5, 5.0),
}


@dataclass(frozen=True)
class Chemistry:
    """Constants of one chemistry; meanings, units and sources are in `chemistries.yaml`."""

    name: str
    peukert_exponent: float
    rated_c_rate: float
    highest_c_rate: float
    reference_temperature_c: float
    capacity_loss_per_kelvin: float
    least_capacity_fraction: float
    resistance_mohm_ah: float
    cell_low_v: float
    cell_high_v: float
    resting_v: tuple[float, ...]

    def charge_at(self, resting_cell_v: float) -> float:
        """State of charge (0-1) of a cell that rests at this voltage, by linear interpolation."""
        table = self.resting_v
        if resting_cell_v <= table[0]:
            return 0.0
        for index, (low, high) in enumerate(pairwise(table)):
            if resting_cell_v <= high:
                return (index + (resting_cell_v - low) / (high - low)) / (len(table) - 1)
        return 1.0

    def capacity_fraction(self, temperature_c: float) -> float:
        """Part of the rated capacity that a cell of this temperature gives (0-1)."""
        cold_k = max(0.0, self.reference_temperature_c - temperature_c)
        return max(self.least_capacity_fraction, 1.0 - self.capacity_loss_per_kelvin * cold_k)


def load(path: Path = SHIPPED) -> dict[str, Chemistry]:
    """All chemistries of a file. Raises SensingError naming the file and the fault."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SensingError(f"{path} is larger than {MAX_BYTES} bytes; no file of chemistries is.")
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SensingError(f"Cannot read the chemistries in {path}: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SensingError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(data, dict) or not data:
        raise SensingError(f"{path} holds no chemistry; {SHIPPED.name} of pqc_mav_sensing shows the form.")
    return {str(name): _chemistry(path, str(name), keys) for name, keys in data.items()}


def find(name: str, path: Path = SHIPPED) -> Chemistry:
    """One chemistry of a file. Raises SensingError."""
    known = load(path)
    if name not in known:
        raise SensingError(f"There is no chemistry '{name}' in {path}; it has: {', '.join(known)}.")
    return known[name]


def _chemistry(path: Path, name: str, keys: Any) -> Chemistry:
    if not isinstance(keys, dict):
        raise SensingError(f"{path}: chemistry '{name}' must be a block of keys.")
    wanted = {*_RANGES, "resting_v"}
    if set(keys) != wanted:
        missing, unknown = sorted(wanted - set(keys)), sorted(map(str, set(keys) - wanted))
        faults = [f"lacks {', '.join(missing)}"] if missing else []
        faults += [f"has unknown keys: {', '.join(unknown)}"] if unknown else []
        raise SensingError(f"{path}: chemistry '{name}' {' and '.join(faults)}.")
    values: dict[str, float] = {}
    for key, (low, high) in _RANGES.items():
        values[key] = _number(path, name, key, keys[key], low, high)
    table = keys["resting_v"]
    if not isinstance(table, list) or len(table) != _RESTING_POINTS:
        raise SensingError(f"{path}: 'resting_v' of '{name}' must be a list of {_RESTING_POINTS} numbers.")
    resting = tuple(_number(path, name, "resting_v", volt, 0.5, 5.0) for volt in table)
    if any(after <= before for before, after in pairwise(resting)):
        raise SensingError(f"{path}: 'resting_v' of '{name}' must rise from 0 to 100 % of charge.")
    if not values["cell_low_v"] < resting[0] < resting[-1] < values["cell_high_v"]:
        raise SensingError(f"{path}: 'resting_v' of '{name}' must lie between 'cell_low_v' and 'cell_high_v'.")
    return Chemistry(name=name, resting_v=resting, **values)


def _number(path: Path, name: str, key: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise SensingError(f"{path}: '{key}' of '{name}' is {value!r}; it must be a number from {low:g} to {high:g}.")
    return float(value)
