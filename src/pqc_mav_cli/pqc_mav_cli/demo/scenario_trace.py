# SPDX-License-Identifier: Apache-2.0
"""What a scenario's flight looked like over time: plain rows, times in seconds of flight. Pure."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar


@dataclass(frozen=True)
class BatteryRow:
    """From BatteryHealth; NaN = not valid."""

    t: float
    voltage_v: float
    state_of_charge: float


@dataclass(frozen=True)
class ThermalRow:
    """From ThermalState; NaN = not valid."""

    t: float
    temperature_c: float
    throttled: bool
    source: str


@dataclass(frozen=True)
class VehicleRow:
    """From VehicleState."""

    t: float
    relative_altitude_m: float
    armed: bool
    phase: int


@dataclass(frozen=True)
class LinkRow:
    """What the ground receives of the drone's stream, as it reported it in-band."""

    t: float
    loss: float
    gap_p95_ms: float
    age_s: float


@dataclass(frozen=True)
class ThreatRow:
    """From ThreatReport."""

    t: float
    level: int
    kind: str
    response: str
    reason: str


@dataclass(frozen=True)
class RefusedRow:
    """What the drone's proxy refused over the last second, from TunnelStats."""

    t: float
    per_s: float


@dataclass(frozen=True)
class StatusRow:
    """Suite of the tunnel at the drone."""

    t: float
    suite: str


@dataclass(frozen=True)
class DecisionRow:
    """From PolicyDecision."""

    t: float
    action: str
    guard: str
    reason: str
    from_suite: str
    to_suite: str
    to_rank: int
    requested: bool


@dataclass(frozen=True)
class RekeyRow:
    """A rekey's handshake as the drone's proxy reported it."""

    t: float
    ok: bool
    suite: str
    epoch: int
    handshake_ms: float
    reason: str


Row = TypeVar("Row", BatteryRow, ThermalRow, VehicleRow, LinkRow, ThreatRow, StatusRow, DecisionRow, RekeyRow)


def row_of(kind: type[Row], t: float, message: Any) -> Row:
    """What a message says: a row's columns are called as its fields."""
    return kind(t, *(getattr(message, each.name) for each in fields(kind)[1:]))


def row_json(row: Any) -> dict[str, Any]:
    """A row for scripts; NaN becomes None."""
    return {name: None if isinstance(each, float) and math.isnan(each) else each for name, each in asdict(row).items()}


@dataclass
class ScenarioTrace:
    """All rows of one flight."""

    battery: list[BatteryRow] = field(default_factory=list)
    thermal: list[ThermalRow] = field(default_factory=list)
    vehicle: list[VehicleRow] = field(default_factory=list)
    link: list[LinkRow] = field(default_factory=list)
    threat: list[ThreatRow] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    status: list[StatusRow] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)
    rekeys: list[RekeyRow] = field(default_factory=list)
    events: list[tuple[float, str]] = field(default_factory=list)

    @property
    def requests(self) -> list[DecisionRow]:
        """Decisions for which the proxy was asked for a rekey."""
        return [decision for decision in self.decisions if decision.requested]

    @property
    def alarms(self) -> list[ThreatRow]:
        """The detector's report whenever level or class changed."""
        found: list[ThreatRow] = []
        before = (0, "")
        for row in self.threat:
            if (row.level, row.kind) != before:
                found.append(row)
            before = (row.level, row.kind)
        return found


class RefusedMeter:
    """How many datagrams a second the drone's proxy refuses."""

    def __init__(self) -> None:
        self._last: tuple[float, int] | None = None

    def update(self, now_s: float, refused: int) -> float:
        """The rate since the last reading of the counter; 0 at the first, and after the proxy started anew."""
        last, self._last = self._last, (now_s, refused)
        return 0.0 if last is None or now_s <= last[0] else max(0, refused - last[1]) / (now_s - last[0])
