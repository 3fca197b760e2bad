# SPDX-License-Identifier: Apache-2.0
"""Keeps the newest message of every topic and makes the snapshot a decision sees. No ROS: messages are read by field.

Times are seconds of one monotonic clock, given as arguments. NaN means unknown in messages and becomes None here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pqc_mav_policy.parameters import STREAMS
from pqc_mav_policy.telemetry.blackouts import BlackoutCounter
from pqc_mav_policy.telemetry.inputs import (
    Battery,
    DecisionInput,
    Link,
    Outcome,
    Phase,
    Session,
    System,
    Thermal,
    Threat,
    TunnelState,
    Vehicle,
)

T = TypeVar("T")
PEER = "peer"
# A status already on its way when the proxy answered a rekey must not undo the new keys.
SAME_KEYS_S = 1.0  # the beginning of the same keys, reckoned from their age, is never that much later
OVERTAKEN_S = 3.0
ROUND_TRIP_S = 3.0  # a round trip older than this says nothing about the link now


def known(value: float) -> float | None:
    """The number, or None for NaN and infinities."""
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class _Heard:
    message: Any
    at_s: float  # when the reading was taken


class Telemetry:
    """One drone's newest messages. `near_switch_s` is how long after a switch an outage counts as near it."""

    def __init__(self, near_switch_s: float, threat_timeout_s: float) -> None:
        self._near_switch_s = near_switch_s
        self._threat_timeout_s = threat_timeout_s
        self._heard: dict[str, _Heard] = {}
        self._blackouts = BlackoutCounter(near_switch_s)
        self._session: tuple[str, int] = ("", 0)
        self._switched_s: float | None = None
        self._key_since_s: float | None = None
        self._superseded: tuple[tuple[str, int], float] | None = None

    def on(self, stream: str, message: Any, now: float, age_s: float = 0.0) -> None:
        """A message of `battery`, `thermal`, `vehicle`, `system` or `threat`, whose reading is that old."""
        self._heard[stream] = _Heard(message, now - max(0.0, age_s))

    def on_link(self, message: Any, now: float) -> None:
        """A LinkQuality. The peer's view counts, what the ground receives of the drone's stream; of the own one only
        the round trip."""
        if message.side != PEER:
            self._heard["round_trip"] = _Heard(message, now)
            return
        age_s = known(message.age_s)
        if age_s is None:
            return
        self._heard["link"] = _Heard(message, now - age_s)
        self._blackouts.report(now - age_s, int(message.blackouts))

    def on_status(self, message: Any, now: float, age_s: float = 0.0) -> None:
        """A TunnelStatus that was taken `age_s` ago; notices new keys and suites."""
        self._heard["status"] = _Heard(message, now - max(0.0, age_s))
        session = (message.suite, int(message.epoch))
        key_age_s = float(message.key_age_s) + max(0.0, age_s)
        if message.suite and not self._overtaken(session, now):
            self._note(session, now - key_age_s)

    def on_rekeyed(self, suite: str, epoch: int, now: float) -> None:
        """The proxy's answer that new keys are in use; it may come before the proxy's status."""
        self._superseded = (self._session, now)
        self._note((suite, epoch), now)

    def snapshot(
        self,
        now: float,
        available: Sequence[str],
        pending: str | None = None,
        outcomes: Sequence[Outcome] = (),
        configured: str = "",
    ) -> DecisionInput:
        """Everything known at `now`."""
        threat = self._threat(now)
        status = self._heard.get("status")
        return DecisionInput(
            missing=self._missing(),
            battery=self._part("battery", now, _battery, Battery()),
            thermal=self._part("thermal", now, _thermal, Thermal()),
            link=self._part("link", now, lambda message, age_s: self._link(message, age_s, now), Link()),
            vehicle=self._part("vehicle", now, _vehicle, Vehicle()),
            system=self._part("system", now, _system, System()),
            session=self._session_part(now, pending),
            threat=Threat(threat.level) if threat else Threat.NONE,
            threat_kind=threat.kind if threat else "",
            # Reports of recordings made before there were responses have none.
            threat_response=getattr(threat, "response", ""),
            outcomes=tuple(outcomes),
            blacklisted=tuple(status.message.blacklisted_suites) if status else (),
            available=tuple(available),
            configured_suite=configured,
        )

    def _overtaken(self, session: tuple[str, int], now: float) -> bool:
        if self._superseded is None:
            return False
        before, at_s = self._superseded
        return session == before and session != self._session and now - at_s < OVERTAKEN_S

    def _note(self, session: tuple[str, int], since_s: float) -> None:
        known = self._key_since_s
        # A new session after a loss of the link may have the same suite and, as the first one, epoch 0.
        if session == self._session and (known is None or since_s - known <= SAME_KEYS_S):
            return
        self._session = session
        self._switched_s = self._key_since_s = since_s

    def _missing(self) -> tuple[str, ...]:
        missing = []
        for stream in STREAMS:
            heard = self._heard.get(stream)
            if heard is None:
                missing.append(f"{stream}: nothing has been heard yet")
            elif not getattr(heard.message, "valid", True):
                missing.append(f"{stream}: {heard.message.reason.rstrip('.') or 'not valid, no reason given'}")
        return tuple(missing)

    def _part(self, stream: str, now: float, made: Callable[[Any, float], T], unknown: T) -> T:
        """What `made` reads out of the stream's newest message and its age [s]."""
        heard = self._heard.get(stream)
        return unknown if heard is None else made(heard.message, now - heard.at_s)

    def _link(self, message: Any, age_s: float, now: float) -> Link:
        since = self._switched_s if self._switched_s is not None else -math.inf
        near = self._blackouts.since(since, now) if now - since < self._near_switch_s else 0
        return Link(
            packets_per_s=known(message.packets_per_s),
            gap_p95_s=_seconds(message.gap_p95_ms),
            longest_silence_s=_seconds(message.longest_silence_ms),
            jitter_s=_seconds(message.jitter_ms),
            loss=known(message.loss),
            blackouts=int(message.blackouts),
            blackouts_near_switch=near,
            age_s=age_s,
            valid=True,
            queue_s=self._queue_s(now),
        )

    def _round_trip(self, now: float) -> Any:
        """This end's own view of the link, None where it is too old."""
        heard = self._heard.get("round_trip")
        return None if heard is None or now - heard.at_s > ROUND_TRIP_S else heard.message

    def _queue_s(self, now: float) -> float | None:
        message = self._round_trip(now)
        if message is None:
            return None
        newest, least = known(message.rtt_ms), known(message.rtt_min_ms)
        return None if newest is None or least is None else max(0.0, newest - least) / 1000.0

    def _clock_offset_s(self, now: float) -> float | None:
        message = self._round_trip(now)
        return None if message is None else _seconds(getattr(message, "clock_offset_ms", math.nan))

    def _session_part(self, now: float, pending: str | None) -> Session:
        status = self._heard.get("status")
        if status is None or not status.message.suite:
            state = TunnelState(status.message.state) if status else TunnelState.DOWN
            return Session(state=state, pending_suite=pending, last_switch_s=self._switched_s)
        suite, epoch = self._session
        pin_for_s = max(0.0, float(getattr(status.message, "pin_for_s", 0.0)) - (now - status.at_s))
        return Session(
            state=TunnelState(status.message.state),
            suite=suite,
            epoch=epoch,
            key_age_s=None if self._key_since_s is None else max(0.0, now - self._key_since_s),
            last_switch_s=self._switched_s,
            pending_suite=pending,
            clock_offset_s=self._clock_offset_s(now),
            ratchets=int(getattr(status.message, "ratchets", 0)),
            ratchet_for_s=max(0.0, float(getattr(status.message, "ratchet_for_s", 0.0)) - (now - status.at_s)),
            pinned_suite=str(status.message.pinned_suite) if pin_for_s > 0 else "",
            pin_for_s=pin_for_s,
        )

    def _threat(self, now: float) -> Any:
        heard = self._heard.get("threat")
        if heard is None or now - heard.at_s > self._threat_timeout_s or heard.message.level not in set(Threat):
            return None
        return heard.message


def _seconds(milliseconds: float) -> float | None:
    value = known(milliseconds)
    return None if value is None else value / 1000.0


def _battery(message: Any, age_s: float) -> Battery:
    return Battery(
        voltage_v=known(message.voltage_v),
        rate_mv_per_min=known(message.voltage_rate_mv_per_min),
        state_of_charge=known(message.state_of_charge),
        age_s=age_s,
        valid=bool(message.valid),
        cells=int(message.cells),
    )


def _thermal(message: Any, age_s: float) -> Thermal:
    return Thermal(
        temperature_c=known(message.temperature_c),
        rate_c_per_min=known(message.rate_c_per_min),
        throttled=bool(message.throttled),
        age_s=age_s,
        valid=bool(message.valid),
    )


def _vehicle(message: Any, age_s: float) -> Vehicle:
    phase = message.phase if message.phase in set(Phase) else Phase.UNKNOWN
    armed = bool(message.armed) if message.valid else None
    return Vehicle(armed=armed, phase=Phase(phase), age_s=age_s, valid=bool(message.valid))


def _system(message: Any, age_s: float) -> System:
    return System(cpu_percent=known(message.cpu_percent), age_s=age_s, valid=bool(message.valid))
