# SPDX-License-Identifier: Apache-2.0
"""What a scenario's flight looked like over time: plain rows, times in seconds of flight. Pure."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

NAN = math.nan


@dataclass(frozen=True)
class BatteryRow:
    """From BatteryHealth; NaN = not valid."""

    t: float
    volts: float
    charge: float
    rate_mv_per_min: float


@dataclass(frozen=True)
class ThermalRow:
    """From ThermalState; NaN = not valid."""

    t: float
    celsius: float
    rate_c_per_min: float
    throttled: bool
    source: str


@dataclass(frozen=True)
class VehicleRow:
    """From VehicleState."""

    t: float
    altitude_m: float
    armed: bool
    phase: int


@dataclass(frozen=True)
class LinkRow:
    """What the ground receives of the drone's stream, as it reported it in-band."""

    t: float
    loss: float
    gap_p95_ms: float
    packets_per_s: float
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
    """Suite and state of the tunnel at the drone."""

    t: float
    suite: str
    state: int


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

    def as_json(self) -> dict[str, Any]:
        """Every row; NaN becomes None."""
        rows: dict[str, Any] = asdict(self)
        return {name: [_clean(row) for row in values] for name, values in rows.items()}


def _clean(row: Any) -> Any:
    if isinstance(row, dict):
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
    return list(row) if isinstance(row, Sequence) and not isinstance(row, str) else row


class RefusedMeter:
    """How many datagrams a second the drone's proxy refuses."""

    def __init__(self) -> None:
        self._last: tuple[float, int] | None = None

    def update(self, now_s: float, refused: int) -> float:
        """The rate since the last reading of the counter; 0 at the first, and after the proxy started anew."""
        last, self._last = self._last, (now_s, refused)
        return 0.0 if last is None or now_s <= last[0] else max(0, refused - last[1]) / (now_s - last[0])
