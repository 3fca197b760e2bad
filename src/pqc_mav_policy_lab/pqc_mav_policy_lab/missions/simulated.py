# SPDX-License-Identifier: Apache-2.0
"""Simulated missions: what happens to the drone second by second, the same for every strategy that flies them.

Variant 0 of a mission is fixed; other variants draw times and magnitudes from their number, so that a strategy can be
trained on many and judged on ones it has not seen. No clock, no global randomness.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pqc_mav_policy.telemetry.inputs import Link, Phase, Threat
from pqc_mav_policy_lab.flight_model.conditions import CPU_TST, CPU_XGBOOST, Conditions
from pqc_mav_policy_lab.flight_model.link import LinkModel
from pqc_mav_policy_lab.flight_model.model import FlightModel, Readings

SIMULATED = "simulated"
GROUND_S = 60
TAKEOFF_S = 15
LANDING_S = 20
AFTER_S = 100
FLIGHT_S = 600
LONG_FLIGHT_S = 1500


class MissionError(Exception):
    """A mission cannot be flown: one sentence for a person."""


@dataclass(frozen=True)
class Mission:
    """A mission as data: conditions of every second, and the state the drone starts in."""

    name: str
    description: str
    conditions: tuple[Conditions, ...]
    soc: float = 1.0
    variant: int = 0
    source: str = SIMULATED
    raw_voltage: bool = False  # see flight_model/model.py

    def world(self) -> MissionWorld:
        """A fresh drone at the start of this mission."""
        return MissionWorld(self)


class MissionWorld:
    """A drone on a simulated mission."""

    def __init__(self, mission: Mission) -> None:
        self._mission = mission
        first = mission.conditions[0]
        self._model = FlightModel(
            soc=mission.soc,
            ambient_c=first.ambient_c,
            cpu_percent=first.cpu_percent,
            raw_voltage=mission.raw_voltage,
        )
        self._link = LinkModel()

    @property
    def seconds(self) -> int:
        """How long the mission lasts."""
        return len(self._mission.conditions)

    @property
    def throttled(self) -> bool:
        """Whether the processor is throttled."""
        return self._model.throttled

    def conditions(self, index: int) -> Conditions:
        """What happens from outside in this second."""
        return self._mission.conditions[index]

    def sense(
        self, index: int, computing_s: float, transferring_s: float, near_since: float | None
    ) -> tuple[Readings, Link]:
        """What sensing and link show after this second, in which a handshake computed and transferred so long."""
        conditions = self.conditions(index)
        readings = self._model.step(conditions, computing_s)
        return readings, self._link.step(conditions, transferring_s, float(index), near_since)


def _phases(flight_s: int) -> list[Phase]:
    legs = (Phase.CRUISE, Phase.HOVER)
    airborne = [legs[index // 60 % 2] for index in range(flight_s - TAKEOFF_S - LANDING_S)]
    return [
        *[Phase.DISARMED] * GROUND_S,
        *[Phase.TAKEOFF] * TAKEOFF_S,
        *airborne,
        *[Phase.LANDING] * LANDING_S,
        *[Phase.DISARMED] * AFTER_S,
    ]


def calm(rng: random.Random, flight_s: int = FLIGHT_S) -> list[Conditions]:
    """A flight without trouble: light detector, good radio with the losses of the published baseline (0.2 %)."""
    return [
        Conditions(phase, loss=max(0.0, rng.gauss(0.002, 0.001)), rtt_s=max(0.004, rng.gauss(0.012, 0.002)))
        for phase in _phases(flight_s)
    ]


def _spread(rng: random.Random, variant: int, value: float, share: float) -> float:
    """`value` in variant 0, elsewhere up to `share` of it away."""
    return value if variant == 0 else value * rng.uniform(1.0 - share, 1.0 + share)


def _nominal(rng: random.Random, variant: int) -> Mission:
    return Mission("nominal", "ten minutes without trouble", tuple(calm(rng)))


def _hot(rng: random.Random, variant: int) -> Mission:
    """Warm day; the heavy detector is switched on for a while, and the processor passes its limit."""
    seconds = calm(rng)
    begin, last = round(_spread(rng, variant, 200, 0.5)), round(_spread(rng, variant, 150, 0.4))
    ambient = _spread(rng, variant, 29.0, 0.05)
    for index, entry in enumerate(seconds):
        cpu = CPU_TST if begin <= index < begin + last else CPU_XGBOOST
        seconds[index] = replace(entry, ambient_c=ambient, cpu_percent=cpu)
    return Mission("hot", "29 C, the heavy detector runs for two and a half minutes", tuple(seconds))


def _low_battery(rng: random.Random, variant: int) -> Mission:
    soc = _spread(rng, variant, 0.43, 0.08)
    return Mission(
        "low-battery", "takes off with less than half a charge and lands nearly empty", tuple(calm(rng)), soc
    )


def _bad_link(rng: random.Random, variant: int) -> Mission:
    """A narrow channel at the edge of its range: losses, silences, two fades to almost nothing."""
    seconds = calm(rng)
    begin = round(_spread(rng, variant, 150, 0.4))
    end = begin + round(_spread(rng, variant, 300, 0.3))
    narrow = _spread(rng, variant, 600.0, 0.5)
    silence_until = 0
    for index in range(begin, min(end, len(seconds) - AFTER_S)):
        loss = min(0.9, max(0.0, rng.gauss(0.12, 0.06)))
        if index >= silence_until and rng.random() < 0.02:
            silence_until = index + rng.randint(2, 8)
        fading = (index - begin) % 150 in range(100, 125)
        seconds[index] = replace(
            seconds[index],
            loss=0.993 if fading else loss,
            bandwidth_kbit_s=narrow,
            rtt_s=0.08,
            silent=index < silence_until,
        )
    return Mission("bad-link", "five minutes at the edge of the radio's range", tuple(seconds))


def _attack(rng: random.Random, variant: int) -> Mission:
    """A flood on the link: the detector suspects, then is sure; the heavy detector costs load, the flood bandwidth."""
    seconds = calm(rng)
    begin = round(_spread(rng, variant, 220, 0.4))
    last = round(_spread(rng, variant, 120, 0.4))
    loss = _spread(rng, variant, 0.03, 0.6)
    for index in range(begin, min(begin + last, len(seconds) - AFTER_S)):
        sure = index >= begin + 5
        seconds[index] = replace(
            seconds[index],
            cpu_percent=CPU_TST if sure else CPU_XGBOOST,
            loss=max(0.0, rng.gauss(loss, 0.01)),
            bandwidth_kbit_s=1500.0,
            rtt_s=0.06,
            threat=Threat.ATTACK if sure else Threat.SUSPICIOUS,
            threat_kind="flood",
        )
    return Mission("attack", "two minutes of a flood on the link", tuple(seconds))


def _long(rng: random.Random, variant: int) -> Mission:
    flight_s = round(_spread(rng, variant, LONG_FLIGHT_S, 0.05))
    return Mission("long", "25 minutes, nearly all the battery gives", tuple(calm(rng, flight_s)))


_MAKERS: Mapping[str, Callable[[random.Random, int], Mission]] = {
    "nominal": _nominal,
    "hot": _hot,
    "low-battery": _low_battery,
    "bad-link": _bad_link,
    "attack": _attack,
    "long": _long,
}
NAMES = tuple(_MAKERS)


def mission(name: str, variant: int = 0, *, raw_voltage: bool = False) -> Mission:
    """A simulated mission. Raises MissionError for an unknown name."""
    if name not in _MAKERS:
        raise MissionError(f"'{name}' is not a mission; the missions are {', '.join(NAMES)}.")
    made = _MAKERS[name](random.Random(f"{name}/{variant}"), variant)
    return replace(made, variant=variant, raw_voltage=raw_voltage)
