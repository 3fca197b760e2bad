# SPDX-License-Identifier: Apache-2.0
"""The parameters this vehicle has, out of parameters.txt: name, type, default, least and greatest value.

Names, types and ranges follow PX4's parameter reference for a quadrotor
(https://docs.px4.io/main/en/advanced_config/parameter_reference.html). Those in `flight_config.FlightConfig` change
how the vehicle flies, the BAT1_* and MAV_* ones describe it; the others are there because ground stations read them.
"""

from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import files


class ParamType(IntEnum):
    """MAV_PARAM_TYPE of the two types PX4 stores."""

    INT32 = 6
    REAL32 = 9


@dataclass(frozen=True)
class ParamSpec:
    """One parameter; `minimum` and `maximum` bound what a PARAM_SET may write."""

    name: str
    type: ParamType
    default: float
    minimum: float
    maximum: float
    read_only: bool = False


def _parse(line: str) -> ParamSpec:
    name, kind, default, minimum, maximum, *flags = line.split()
    kind_of = ParamType.INT32 if kind == "i" else ParamType.REAL32
    return ParamSpec(name, kind_of, float(default), float(minimum), float(maximum), "ro" in flags)


_LINES = (files(__package__) / "parameters.txt").read_text(encoding="utf-8").splitlines()
PARAM_SPECS: tuple[ParamSpec, ...] = tuple(_parse(line) for line in _LINES if not line.startswith("#"))
