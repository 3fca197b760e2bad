# SPDX-License-Identifier: Apache-2.0
"""The scenarios of `pqcmav demo --scenario` as data: the flight, what is done to the vehicle, what must follow.

Times are seconds after the ground first heard the vehicle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happens: the board's power [W], the link's impairment, or a flood [datagrams/s, 0 = its end]."""

    at_s: float
    text: str
    board_w: float | None = None
    link: Mapping[str, Any] | None = None
    flood_hz: float | None = None


@dataclass(frozen=True)
class Scenario:
    """One flight. `guards`: at least one step down has to be decided by one of these rules of the policy; empty: the
    suite has to stay. `response`: what the detector has to ask for and the policy has to do, "" where nothing."""

    name: str
    title: str
    duration_s: float
    land_s: float
    guards: frozenset[str] = frozenset()
    events: tuple[Event, ...] = ()
    take_off_s: float = 6.0
    altitude_m: float = 8.0
    battery_percent: float = 90.0
    param: str = "COM_LOW_BAT_ACT=3"  # of the autopilot, its default
    relayed: bool = False  # whether the encrypted link leads through a relay, which may impair it or be overheard
    lightest: bool = False  # whether the lightest suite has to be reached
    policy: str = "scenario_policy.yaml"  # the policy's configuration file
    response: str = ""


# What the simulated board's processor draws: quiet, and with an on-board workload that its cooling cannot carry away.
IDLE_W, BURST_W, HEAVY_W = 3.5, 12.5, 8.6
BAD_LINK = {"loss": 0.22, "burst": 3.0, "delay_ms": 40.0, "jitter_ms": 15.0}
CLEAN_LINK = {"loss": 0.0, "burst": 1.0, "delay_ms": 0.0, "jitter_ms": 0.0, "down": False}
FLOOD_HZ = 400.0

_ALL = (
    Scenario(
        "nominal",
        "A flight without trouble",
        duration_s=75.0,
        land_s=44.0,
        guards=frozenset({"phase"}),
    ),
    Scenario(
        "hot",
        "The companion computer overheats",
        duration_s=95.0,
        land_s=62.0,
        guards=frozenset({"emergency"}),
        events=(
            Event(18.0, f"workload {BURST_W:g} W", board_w=BURST_W),
            Event(28.0, f"{HEAVY_W:g} W", board_w=HEAVY_W),
            Event(44.0, f"idle, {IDLE_W:g} W", board_w=IDLE_W),
        ),
        lightest=True,
    ),
    Scenario(
        "low-battery",
        "The flight battery runs down",
        duration_s=108.0,
        land_s=47.0,
        guards=frozenset({"emergency"}),
        battery_percent=8.4,
        # The autopilot would land on its own at 7 %: here it only warns, so that the battery drains further.
        param="COM_LOW_BAT_ACT=0",
    ),
    Scenario(
        "bad-link",
        "The air link degrades, breaks and comes back",
        duration_s=95.0,
        land_s=62.0,
        guards=frozenset({"link"}),
        events=(
            Event(18.0, "22 % loss, 40 ms", link=BAD_LINK),
            Event(36.0, "link cut", link={"down": True}),
            Event(42.0, "link back, still bad", link={"down": False}),
            Event(50.0, "link clean", link=CLEAN_LINK),
        ),
        relayed=True,
    ),
    Scenario(
        "attack",
        "Both encrypted ports are flooded",
        duration_s=90.0,
        land_s=56.0,
        events=(
            Event(
                18.0,
                f"attacker on the path: {FLOOD_HZ:g} forged or replayed datagrams/s to each end",
                flood_hz=FLOOD_HZ,
            ),
            Event(42.0, "attack ends", flood_hz=0.0),
        ),
        relayed=True,
        policy="scenario_attack_policy.yaml",
        response="renew_keys",
    ),
)

SCENARIOS: Mapping[str, Scenario] = {scenario.name: scenario for scenario in _ALL}


@dataclass
class Schedule:
    """Hands out events in order when their time has come."""

    events: tuple[Event, ...]
    done: list[Event] = field(default_factory=list)

    def due(self, now_s: float) -> list[Event]:
        """Events whose time has come and that were not handed out yet."""
        ready = [event for event in self.events[len(self.done) :] if event.at_s <= now_s]
        self.done += ready
        return ready
