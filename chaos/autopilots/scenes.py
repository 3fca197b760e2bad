# SPDX-License-Identifier: Apache-2.0
"""The scenes of the autopilot laboratory: each is data, and a function that flies it once."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from overload import LINK

from autopilots.files import logs
from autopilots.flight import HEARD_S, RADIO, Flight, Wiring
from autopilots.flights import REKEYS, flown, killed, low_battery
from autopilots.ground import mavlink, waypoint
from autopilots.lasting import FAILS_S, LOSS, STICKS_HZ, WATCHED_MIN, cuts, failover, outages, sticks, turns
from autopilots.pilot import Pilot
from autopilots.vehicles import BAUD
from autopilots.watching import PACKS, TAP, battery, packs, rates, restarts, signed, telemetry

Figures = dict[str, float]
_TRANSFER_S = 240.0
_STREAMS_S = 20.0
_ITEMS = 100


@dataclass(frozen=True)
class Scene:
    """One scene.

    Attributes:
        columns: figure -> its heading.
        tunnel_only: it says nothing without the tunnel.
        good: whether one run is as it should be; a run that is not counts as failed.
        both, drone: what is added to the tunnel's configuration.
    """

    name: str
    title: str
    fly: Callable[[Flight], Figures]
    columns: Mapping[str, str]
    tunnel_only: bool = False
    good: Callable[[Figures], bool] = lambda _: True
    both: Mapping[str, Any] = field(default_factory=dict)
    drone: Mapping[str, Any] = field(default_factory=dict)
    wiring: Wiring = Wiring.ENGINES


def parameters(flight: Flight) -> Figures:
    """Download all parameters."""
    flight.boot()
    return flight.ground.parameters(_TRANSFER_S)


def serial(flight: Flight) -> Figures:
    """The same at a serial line, and what is lost of the streams there."""
    figures = parameters(flight)
    Pilot(flight.ground).streams()
    lost = flight.ground.lost
    flight.ground.listen(_STREAMS_S)
    return {**figures, "lost": flight.ground.lost - lost}


def grounds(flight: Flight) -> Figures:
    """Three applications at the gcs download all parameters at the same time, then each asks for something."""
    flight.boot()
    each = (flight.ground, *flight.others)
    for ground in flight.others:
        ground.wait(lambda ground=ground: ground.system, HEARD_S, "a heartbeat at the other applications")
    with ThreadPoolExecutor(len(each)) as pool:
        found = list(pool.map(lambda ground: ground.parameters(_TRANSFER_S), each))
        asked = [mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION]
        answers = list(pool.map(lambda ground: ground.command(*asked), each))
    return {
        "seconds": max(one["seconds"] for one in found),
        "count": min(one["count"] for one in found),
        "missing": max(one["missing"] for one in found),
        "answered": float(sum(answer == mavlink.MAV_RESULT_ACCEPTED for answer in answers)),
    }


def mission(flight: Flight) -> Figures:
    """Write a mission of 100 items, and read it back."""
    ground = flight.boot()
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
_MISSION = {"up_s": "up s", "down_s": "down s", "same": "the same"}
_KILLS = {"kills": "kills a run", "trips": "failsafes", "silence_s": "longest silence s"}
_SIGNED = {"signed": "signed", "refused": "refused", "lost": "lost or outdated", "answered": "commands answered"}
_WATCHED = {
    "restarts": "restarts a run", "rules_attack": "ATTACK, rules", "xgboost_attack": "ATTACK, xgboost",
    "rules_suspicious": "SUSPICIOUS, rules", "xgboost_suspicious": "SUSPICIOUS, xgboost",
}  # fmt: skip
_RATE = f"{LINK['rate_bit_s'] // 1000} kbit/s"
_AIR = f"SiK radios (simulated, {RADIO.loss:.0%} loss)"
_KBIT = {"shape_kbit": LINK["rate_bit_s"] // 1000}
_STICKS = {
    "p50_ms": "age p50 ms", "p95_ms": "age p95 ms", "backwards": "older after newer", "trips": "failsafes",
}  # fmt: skip
_CUTS = {"cuts": "cuts", "back_s": "longest until heard again s", "trips": "failsafes"}
_ATTACKS = {key: name for key, name in _WATCHED.items() if key.endswith("_attack")}
_OUTAGES = {
    "fails": "failures", "both": "both ways for > 4 s", "trips": "failsafes", "unforeseen": "of them at other times",
    **_ATTACKS,
}  # fmt: skip
_TURNS = {"seconds": "seconds", "fails": "failures", "silence_s": "longest silence s", "trips": "failsafes"}
_FILES = {"log_s": "LOG_DATA s", "ftp_s": "FTP s", "same": "both the same"}
_SENSING = {"plain_tap": TAP, "plain_tap_requests": True}


def _no_trip(figures: Figures) -> bool:
    return figures["trips"] == 0


def _whole(figures: Figures) -> bool:
    return figures["lost"] == 0 and figures.get("rekeys", REKEYS) == REKEYS


def _intact(figures: Figures) -> bool:
    return figures["refused"] == 0 and figures["answered"] == 1


def _no_attack(figures: Figures) -> bool:
    return figures["rules_attack"] == figures["xgboost_attack"] == 0


_HARD: dict[str, Any] = {"tunnel_only": True, "good": _no_trip, "wiring": Wiring.DAEMONS}
SCENES = {
    each.name: each
    for each in (
        Scene("parameters", "All parameters", parameters, _PARAMETERS),
        Scene("thin-parameters", f"All parameters over {_RATE}", thin(parameters), _PARAMETERS),
        Scene("radio-parameters", f"All parameters over {_AIR}", parameters, _PARAMETERS, wiring=Wiring.RADIO),
        Scene("mission", f"A mission of {_ITEMS} items", mission, _MISSION, good=_same),
        Scene("thin-mission", f"A mission of {_ITEMS} items over {_RATE}", thin(mission), _MISSION, good=_same),
        Scene(
            "radio-mission", f"A mission of {_ITEMS} items over {_AIR}", mission, _MISSION, good=_same,
            wiring=Wiring.RADIO,
        ),
        Scene("logs", "A log of 60 kB", logs, _FILES, good=_same),
        Scene("thin-logs", f"A log of 60 kB over {_RATE}", thin(logs), _FILES, good=_same),
        Scene(
            "serial", f"All parameters at a serial line of {BAUD} baud", serial,
            {**_PARAMETERS, "lost": "lost"}, True, lambda f: f["lost"] == 0, wiring=Wiring.SERIAL,
        ),
        Scene(
            "grounds", "All parameters by three ground applications at once", grounds,
            {**_PARAMETERS, "answered": "commands answered"}, True, lambda f: f["answered"] == 3,
            wiring=Wiring.GROUNDS,
        ),
        Scene(
            "flown", f"A flown mission, with {REKEYS} rekeys in the tunnel", flown,
            {"seconds": "seconds", "messages": "messages", "lost": "lost", "rekeys": "rekeys"}, good=_whole,
        ),
        Scene(
            "battery", "A valid battery after the first heartbeat, unasked", battery,
            {"seconds": "seconds", "volts": "V", "charge": "charge"}, True, lambda f: f["seconds"] <= 10.0,
            drone=_SENSING,
        ),
        Scene(
            "packs", f"Packs of {PACKS[0]} to {PACKS[-1]} cells", packs,
            {f"cells_{each}": f"of {each}" for each in PACKS}, True,
            lambda f: all(f[f"cells_{each}"] == each for each in PACKS), drone=_SENSING,
        ),
        Scene(
            "cuts", f"{WATCHED_MIN:g} minutes of flight with link cuts, watched by detectors", cuts,
            {**_CUTS, **_ATTACKS}, True, lambda f: _no_attack(f) and _no_trip(f),
        ),
        Scene(
            "outages", f"{WATCHED_MIN:g} minutes by LTE with outages and SiK (simulated) with fades, watched",
            outages, _OUTAGES, True, lambda f: _no_attack(f) and f["unforeseen"] == 0, wiring=Wiring.PATHS,
        ),
        Scene(
            "sticks", f"RC override at {STICKS_HZ:g} Hz through {LOSS:.0%} loss", sticks, _STICKS, good=_no_trip,
        ),
        Scene(
            "failover", "kill -9 of the station in the air, another stands by", failover,
            {"seconds": "seconds", "trips": "failsafes"}, True, _no_trip, wiring=Wiring.STATIONS,
        ),
        Scene(
            "turns", f"A mission; LTE and SiK (simulated) fail in turns, {FAILS_S:g} s each", turns, _TURNS,
            True, _no_trip, wiring=Wiring.PATHS,
        ),
        Scene(
            "turns-lte", "The same by LTE alone: now the failsafe must trip", turns, _TURNS, True,
            lambda f: f["trips"] == 1, drone={"paths": ["lte"]}, wiring=Wiring.PATHS,
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
            "rates", "Messages a second", rates,
            {"alone": "unasked", "asked": "asked", "flying": "in the air"},
        ),
        Scene(
            "telemetry", "Telemetry as the detectors' recordings send it", telemetry,
            {"seconds": "seconds", "down": "datagrams down", "up": "up"},
        ),
    )
}  # fmt: skip
