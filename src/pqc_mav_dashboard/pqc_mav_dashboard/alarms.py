# SPDX-License-Identifier: Apache-2.0
"""What an operator must not miss: an engine that says nothing, a tunnel that was lost, an attack, a low battery."""

from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_common.diagnostics import LOW_CHARGE
from pqc_mav_dashboard.picture import End, Picture, Sense, fresh
from pqc_mav_dashboard.trouble import ATTACK, is_lost, told_by_drone
from pqc_mav_dashboard.views import state_of

MOST = 50  # are told in words; of the others a page knows which are new
Alarm = tuple[str, str, str]  # drone, kind, words
KINDS = ("silent", "lost", "attack", "battery")  # the worst first


class Alarms:
    """Of the whole fleet, also while a page shows one drone. A tunnel counts as lost only after it has been up."""

    def __init__(self) -> None:
        self._had: set[str] = set()
        self._now: dict[str, list[Alarm]] = {}

    def look(self, picture: Picture, *, whole: bool) -> None:
        """Takes a picture of all drones, or of some."""
        drones = picture.drones()
        if whole:
            self._now = {drone: found for drone, found in self._now.items() if drone in drones}
            self._had &= drones.keys()
        for drone, ends in drones.items():
            self._now[drone] = self._of(drone, ends, picture.senses.get(drone, {}), picture.clock_s)

    def told(self) -> dict[str, Any]:
        """As viewers get it."""
        found = sorted((each for all_of in self._now.values() for each in all_of), key=_order)
        return {"first": found[:MOST], "others": [each[:2] for each in found[MOST:]]}

    def _of(self, drone: str, ends: Sequence[End], senses: Mapping[str, Sense], clock_s: float) -> list[Alarm]:
        found: list[Alarm] = []
        state = state_of(ends[0], clock_s)
        if (ends[0].status.get("suite") and state != "SILENT") or any(end.was_up for end in ends):
            self._had.add(drone)
        silent_s = max((end.silent_s(clock_s) or 0.0 for end in ends), default=0.0)
        if silent_s:
            found.append((drone, "silent", "SILENT: an engine says nothing"))
        elif state in ("DOWN", "HANDSHAKING") and drone in self._had:
            found.append((drone, "lost", f"{state}: the tunnel was lost"))
        elif is_lost(ends[0], state):
            found.append((drone, "lost", f"the other end is silent for {ends[0].status['silence_s']:.0f} s"))
        threat, battery = (fresh(senses, kind, clock_s) for kind in ("threat", "battery"))
        told = next((kind for level, kind in map(told_by_drone, ends) if level >= ATTACK), "")
        if (threat.get("level") or 0) >= ATTACK:
            found.append((drone, "attack", f"ATTACK: {threat.get('kind') or threat.get('reason')}"))
        elif told:
            found.append((drone, "attack", f"ATTACK, says the drone: {told}"))
        charge = battery.get("state_of_charge") if battery.get("valid") else None
        if charge is not None and charge < LOW_CHARGE:
            found.append((drone, "battery", f"LOW BATTERY: {charge:.0%}"))
        return found


def _order(alarm: Alarm) -> tuple[int, str]:
    return KINDS.index(alarm[1]), alarm[0]
