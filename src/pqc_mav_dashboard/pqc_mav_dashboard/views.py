# SPDX-License-Identifier: Apache-2.0
"""What viewers get: a row of the fleet, and all of one drone. Pure: a picture in, JSON values out."""

from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_dashboard.picture import KINDS, End, Picture, Sense, fresh
from pqc_mav_dashboard.trouble import trouble
from pqc_mav_proxy.names import DROPS, keys_are_old

# The cells of a row, in this order.
COLUMNS = (
    *("drone", "rank", "trouble", "state", "suite", "epoch", "key_made_s", "tx_bit_s", "rx_bit_s"),
    *("loss", "peer_loss", "gap_p95_ms", "rtt_ms", "drops", "battery", "phase", "threat", "station"),
)
PHASES = ("unknown", "disarmed", "take-off", "cruise", "hover", "landing")
LEVELS = ("none", "suspicious", "attack")
LEFT_OUT = ("inputs", "inputs_json")  # long, and shown as conditions
WORDS = {"thermal": "temperature", "load": "computer", "vehicle": "flight"}
KEY_STEP_S = 2.0  # the moment at which keys were made may look that much earlier or later from second to second
Row = list[Any]


def name_in(names: Sequence[str], number: Any) -> str | None:
    """A constant of a message by its name; None where it is not known."""
    return names[number] if isinstance(number, int) and 0 <= number < len(names) else None


def drops(stats: Mapping[str, Any] | None) -> int | None:
    """Received packets that were dropped, whatever for."""
    if stats is None:
        return None
    return sum(int(stats.get(name) or 0) for name in DROPS)


def key_made_s(end: End, picture: Picture) -> float | None:
    """When the keys in use were made, as system time."""
    if not end.status.get("suite") or end.status.get("key_age_s") is None:
        return None
    return picture.time_s - (picture.clock_s - end.heard_s) - end.seen_s - float(end.status["key_age_s"])


def state_of(end: End, clock_s: float) -> str:
    """The state in a word, as `pqcmav status` shows it."""
    return "SILENT" if end.silent_s(clock_s) is not None else str(end.status.get("state"))


class Rows:
    """The fleet's rows; keeps what must not change from second to second for nothing."""

    def __init__(self) -> None:
        self._made: dict[str, float] = {}

    def of(self, picture: Picture) -> dict[str, Row]:
        """One row for each drone."""
        drones = picture.drones()
        self._made = {drone: made for drone, made in self._made.items() if drone in drones}
        return {drone: self._row(drone, ends, picture) for drone, ends in drones.items()}

    def _row(self, drone: str, ends: Sequence[End], picture: Picture) -> Row:
        senses = picture.senses.get(drone, {})
        rank, words = trouble(ends, senses, picture.clock_s)
        end = ends[0]
        alive = end.silent_s(picture.clock_s) is None
        stats = end.stats if alive else None
        link = end.quality if alive else {}
        local, peer = link.get("local") or {}, link.get("peer") or {}
        battery, vehicle, threat = (fresh(senses, kind, picture.clock_s) for kind in ("battery", "vehicle", "threat"))
        return [
            drone,
            rank,
            words,
            state_of(end, picture.clock_s),
            end.status.get("suite") or None,
            end.status.get("epoch") if end.status.get("suite") else None,
            self._steady(drone, key_made_s(end, picture)),
            _bits(stats, "tx_bytes_per_s"),
            _bits(stats, "rx_bytes_per_s"),
            local.get("loss"),
            peer.get("loss"),
            local.get("gap_p95_ms"),
            _rounded(link.get("rtt_ms"), 2),
            drops(stats),
            _rounded(battery.get("state_of_charge"), 3) if battery.get("valid") else None,
            name_in(PHASES, vehicle.get("phase")),
            name_in(LEVELS, threat.get("level")),
            _station(end),
        ]

    def _steady(self, drone: str, made_s: float | None) -> float | None:
        if made_s is None:
            self._made.pop(drone, None)
            return None
        before = self._made.get(drone)
        if before is None or abs(before - made_s) > KEY_STEP_S:
            self._made[drone] = before = round(made_s, 1)
        return before


def _station(end: End) -> str | None:
    """Where the drone has its session, by the station's name."""
    if not end.status.get("suite"):
        return None
    return end.status.get("station") or (end.name.removeprefix("gcs-") if end.role == "gcs" else None)


def drone_view(drone: str, picture: Picture) -> dict[str, Any]:
    """All of one drone that changes from second to second."""
    ends = picture.drones().get(drone, [])
    senses = picture.senses.get(drone, {})
    rank, words = trouble(ends, senses, picture.clock_s) if ends else (9, "No source knows this drone.")
    return {
        "drone": drone,
        "rank": rank,
        "trouble": words,
        "ends": [_end(end, picture) for end in ends],
        "senses": {kind: _sense(senses.get(kind), kind, picture) for kind in KINDS},
    }


def _end(end: End, picture: Picture) -> dict[str, Any]:
    silent_s = end.silent_s(picture.clock_s)
    return {
        "name": end.name,
        "role": end.role,
        "state": state_of(end, picture.clock_s),
        "silent_s": silent_s,
        "key_made_s": key_made_s(end, picture),
        "key_old": keys_are_old(str(end.status.get("last_error") or "")),
        "status": end.status,
        "drops": drops(end.stats),
        # Old figures of an engine that says nothing tell nothing.
        "stats": end.stats if silent_s is None else None,
        "link": end.quality if silent_s is None else {},
    }


def _sense(sense: Sense | None, kind: str, picture: Picture) -> dict[str, Any]:
    if sense is None:
        return {"absent": picture.absent or f"Nothing has been published about this drone's {WORDS.get(kind, kind)}."}
    fields = {name: value for name, value in sense.fields.items() if name not in LEFT_OUT}
    return {"age_s": max(0.0, picture.clock_s - sense.at_s), "fields": fields}


def _bits(stats: Mapping[str, Any] | None, name: str) -> int | None:
    value = None if stats is None else stats.get(name)
    return None if value is None else round(value * 8)


def _rounded(value: Any, digits: int) -> float | None:
    return None if value is None else round(float(value), digits)
