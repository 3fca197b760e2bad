# SPDX-License-Identifier: Apache-2.0
"""Everything a decision sees, as one immutable snapshot. No ROS, no clock.

Units follow the names' endings. None means unknown; a stream whose `valid` is false must not be used, whatever its
numbers are. There are no times of day: points in time (`_s`) are seconds of the same monotonic clock as the `now` given
to a strategy.
"""

from dataclasses import dataclass, field
from enum import IntEnum

DOCUMENTED_CELLS = 4  # of the pack that the documents' voltages are for


class Phase(IntEnum):
    """Mission phases, the constants of VehicleState.msg."""

    UNKNOWN = 0
    DISARMED = 1
    TAKEOFF = 2
    CRUISE = 3
    HOVER = 4
    LANDING = 5


class Threat(IntEnum):
    """Threat levels, the constants of ThreatReport.msg."""

    NONE = 0
    SUSPICIOUS = 1
    ATTACK = 2


class TunnelState(IntEnum):
    """States of the tunnel, the constants of TunnelStatus.msg."""

    DOWN = 0
    HANDSHAKING = 1
    UP = 2
    DEGRADED = 3
    REKEYING = 4


@dataclass(frozen=True)
class Battery:
    """Flight battery: pack voltage, its slope without load (negative while falling), state of charge 0-1.

    `cells` in series; 0 = unknown, and then the voltage says nothing.
    """

    voltage_v: float | None = None
    rate_mv_per_min: float | None = None
    state_of_charge: float | None = None
    age_s: float | None = None
    valid: bool = False
    cells: int = 0

    def scaled(self, of_four_cells: float) -> float | None:
        """A limit that the documents give for their pack of four cells, for this pack; None while its cells are
        unknown."""
        return of_four_cells * self.cells / DOCUMENTED_CELLS if self.cells else None


@dataclass(frozen=True)
class Thermal:
    """The companion computer's processor: temperature, its slope, whether the kernel slows it down now."""

    temperature_c: float | None = None
    rate_c_per_min: float | None = None
    throttled: bool = False
    age_s: float | None = None
    valid: bool = False


@dataclass(frozen=True)
class Link:
    """The drone's stream as the ground station receives it, over its last 5 s; `loss` is a fraction (0-1).

    `queue_s` is how much longer a round trip took than the least one of the session, as this end measured it.
    `blackouts` counts silences above 2 s in that window (docs/protocol.md section 6), `blackouts_near_switch` those
    since shortly before the last change of keys or suite.
    """

    packets_per_s: float | None = None
    gap_p95_s: float | None = None
    longest_silence_s: float | None = None
    jitter_s: float | None = None
    loss: float | None = None
    blackouts: int = 0
    blackouts_near_switch: int = 0
    age_s: float | None = None
    valid: bool = False
    queue_s: float | None = None


@dataclass(frozen=True)
class Vehicle:
    """Flight state from the autopilot's heartbeat; `armed` is None while unknown."""

    armed: bool | None = None
    phase: Phase = Phase.UNKNOWN
    age_s: float | None = None
    valid: bool = False


@dataclass(frozen=True)
class System:
    """Load of the companion computer: all cores together, 0-100."""

    cpu_percent: float | None = None
    age_s: float | None = None
    valid: bool = False


@dataclass(frozen=True)
class Session:
    """The tunnel: suite in use ("" without a session), epoch, age of its keys, when suite or keys last changed.

    `pending_suite` is the suite of a request the proxy has not answered yet, None when there is none.
    `clock_offset_s` is the ground's monotonic clock minus this end's, by the engine's probes of the last 3 s: with it
    the drone's and the ground's records have one time. `cooldown_until_s` is when the cooldown after the last switch or
    failed request ends; None before the first. `ratchets` counts those since the last full handshake, `ratchet_for_s`
    is for how long more of them may renew the keys; 0 = not now. `pinned_suite` is one that an operator asked the proxy
    for and that is to stay for `pin_for_s` yet; "" = none.
    """

    state: TunnelState = TunnelState.DOWN
    suite: str = ""
    epoch: int = 0
    key_age_s: float | None = None
    last_switch_s: float | None = None
    pending_suite: str | None = None
    clock_offset_s: float | None = None
    cooldown_until_s: float | None = None
    ratchets: int = 0
    ratchet_for_s: float = 0.0
    pinned_suite: str = ""
    pin_for_s: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether a session carries data."""
        return bool(self.suite) and self.state in (TunnelState.UP, TunnelState.DEGRADED, TunnelState.REKEYING)


@dataclass(frozen=True)
class Outcome:
    """The proxy's answer to one rekey request; `suite` is the one asked for, `finished_s` when the answer came.

    `error` is HandshakeReport's identifier of the failure where it is known, e.g. "timeout"; `took_s` how long the
    handshake took, where that is known; `kind` is "rekey" or "ratchet", and no ratchet has a `took_s`.
    """

    suite: str
    ok: bool
    finished_s: float
    from_suite: str = ""
    message: str = ""
    error: str = ""
    took_s: float | None = None
    kind: str = "rekey"


@dataclass(frozen=True)
class DecisionInput:
    """One snapshot, taken once a second.

    `missing` says which streams were never received or are invalid, and why: one clause each that begins with the
    stream's name. `outcomes` are the proxy's answers since the previous snapshot, each delivered once. `blacklisted`
    are suites the engine avoids for now; `available` those with both algorithms and keys here, the only ones that may
    be chosen. `configured_suite` is the proxy's own `suite`, "" while it is not known.
    """

    missing: tuple[str, ...] = ()
    battery: Battery = field(default_factory=Battery)
    thermal: Thermal = field(default_factory=Thermal)
    link: Link = field(default_factory=Link)
    vehicle: Vehicle = field(default_factory=Vehicle)
    system: System = field(default_factory=System)
    session: Session = field(default_factory=Session)
    threat: Threat = Threat.NONE
    threat_kind: str = ""
    threat_response: str = ""  # what the detector asks for, see alarms.py
    outcomes: tuple[Outcome, ...] = ()
    blacklisted: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    configured_suite: str = ""
