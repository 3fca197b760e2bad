# SPDX-License-Identifier: Apache-2.0
"""The scenes of the autopilot laboratory: each is data, and a function that flies it once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overload import LINK

from autopilots.flight import Flight
from autopilots.flights import REKEYS, flown, killed, low_battery
from autopilots.ground import waypoint
from autopilots.watching import TAP, battery, rates, restarts, signed

Figures = dict[str, float]
_TRANSFER_S = 240.0
_ITEMS = 100


@dataclass(frozen=True)
class Scene:
    """One scene.

    Attributes:
        columns: figure -> its heading.
        tunnel_only: it says nothing without the tunnel.
        good: whether one run is as it should be; a run that is not counts as failed.
        both, drone: what is added to the tunnel's configuration.
        daemons: both ends are pqcmav-tunneld.
    """

    name: str
    title: str
    fly: Callable[[Flight], Figures]
    columns: Mapping[str, str]
    tunnel_only: bool = False
    good: Callable[[Figures], bool] = lambda _: True
    both: Mapping[str, Any] = field(default_factory=dict)
    drone: Mapping[str, Any] = field(default_factory=dict)
    daemons: bool = False


def parameters(flight: Flight) -> Figures:
    """Download all parameters."""
    flight.boot()
    return flight.ground.parameters(_TRANSFER_S)


def mission(flight: Flight) -> Figures:
    """Write a mission of 100 items, and read it back."""
    flight.boot()
    ground = flight.ground
    places = [(5.0 * (number // 10), 5.0 * (number % 10), 20.0) for number in range(_ITEMS)]
    items = [waypoint(ground.system, number, *place) for number, place in enumerate(places)]
    up_s = ground.upload(items, _TRANSFER_S)
    down_s, back = ground.download(_TRANSFER_S)
    # ArduPilot keeps its home in place of the first item.
    same = len(back) == _ITEMS and all(
        (mine.command, mine.x, mine.y, round(mine.z, 2)) == (its.command, its.x, its.y, round(its.z, 2))
        for mine, its in list(zip(items, back, strict=True))[1:]
    )
    return {"up_s": up_s, "down_s": down_s, "same": float(same)}


def _same(figures: Figures) -> bool:
    return figures["same"] == 1


def thin(fly: Callable[[Flight], Figures]) -> Callable[[Flight], Figures]:
    """The same over the laboratory's thin link."""

    def flown(flight: Flight) -> Figures:
        flight.network.joint.impair(LINK)
        return fly(flight)

    return flown


_PARAMETERS = {"seconds": "seconds", "count": "parameters", "missing": "missing at first"}
_MISSION = {"up_s": "upload s", "down_s": "download s", "same": "the same"}
_KILLS = {"kills": "kills a run", "trips": "failsafes", "silence_s": "longest silence s"}
_SIGNED = {"signed": "signed", "refused": "refused", "lost": "lost or outdated", "answered": "commands answered"}
_WATCHED = {
    "restarts": "restarts a run", "rules_attack": "ATTACK, rules", "xgboost_attack": "ATTACK, xgboost",
    "rules_suspicious": "SUSPICIOUS, rules", "xgboost_suspicious": "SUSPICIOUS, xgboost",
}  # fmt: skip
_RATE = f"{LINK['rate_bit_s'] // 1000} kbit/s"
_KBIT = {"shape_kbit": LINK["rate_bit_s"] // 1000}
_SENSING = {"plain_tap": TAP, "plain_tap_requests": True}


def _no_trip(figures: Figures) -> bool:
    return figures["trips"] == 0


def _whole(figures: Figures) -> bool:
    return figures["lost"] == 0 and figures.get("rekeys", REKEYS) == REKEYS


def _intact(figures: Figures) -> bool:
    return figures["refused"] == 0 and figures["answered"] == 1


def _no_attack(figures: Figures) -> bool:
    return figures["rules_attack"] == figures["xgboost_attack"] == 0


# What the laboratory does not fly yet.
MISSING = (
    "logs", "station failover", "RC override at 25 Hz through loss", "a serial line", "three ground applications",
    "20 minutes with link cuts under policy and detector", "packs of 3 to 6 cells",
)  # fmt: skip
_HARD: dict[str, Any] = {"tunnel_only": True, "good": _no_trip, "daemons": True}
SCENES = {
    each.name: each
    for each in (
        Scene("parameters", "All parameters", parameters, _PARAMETERS),
        Scene("mission", f"A mission of {_ITEMS} items, written and read back", mission, _MISSION, good=_same),
        Scene("thin-parameters", f"All parameters over {_RATE}", thin(parameters), _PARAMETERS),
        Scene("thin-mission", f"A mission of {_ITEMS} items over {_RATE}", thin(mission), _MISSION, good=_same),
        Scene(
            "flown", f"A flown mission, with {REKEYS} rekeys in the tunnel", flown,
            {"seconds": "seconds", "messages": "messages", "lost": "lost", "rekeys": "rekeys"}, good=_whole,
        ),
        Scene(
            "battery", "A valid battery after the first heartbeat, unasked", battery,
            {"seconds": "seconds", "volts": "V", "charge": "charge"}, True, lambda f: f["seconds"] <= 10.0,
            drone=_SENSING,
        ),
        Scene("restarts", "Restarts of the gcs, watched by detectors", restarts, _WATCHED, True, _no_attack),
        Scene("kill-gcs", "kill -9 of the gcs in the air", killed("gcs"), _KILLS, **_HARD),
        Scene("kill-drone", "kill -9 of the drone's end in the air", killed("drone"), _KILLS, **_HARD),
        Scene(
            "gone-gcs", "The gcs is away for 8 s: now the failsafe must trip",
            killed("gcs", kills=1, away_s=8.0), _KILLS, **{**_HARD, "good": lambda f: f["trips"] == f["kills"]},
        ),
        Scene("signing", "Signed MAVLink", signed, _SIGNED, good=_intact),
        Scene("thin-signing", f"Signed MAVLink over {_RATE}, shaped", thin(signed), _SIGNED, True, _intact, both=_KBIT),
        Scene(
            "low-battery", "A low battery in the air, to the failsafe", low_battery,
            {"seconds": "seconds", "lost": "lost"},
        ),
        Scene(
            "rates", "Messages a second: unasked, asked, in the air", rates,
            {"alone": "unasked", "asked": "asked", "flying": "in the air"},
        ),
    )
}  # fmt: skip
