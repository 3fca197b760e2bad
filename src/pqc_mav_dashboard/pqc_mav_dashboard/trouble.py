# SPDX-License-Identifier: Apache-2.0
"""How much a drone needs someone, and why: what puts the worst first."""

from collections.abc import Mapping, Sequence

from pqc_mav_common.diagnostics import LOW_CHARGE
from pqc_mav_dashboard.picture import End, Sense, fresh
from pqc_mav_proxy.names import keys_are_old, plain_is_down, radio_is_down

FINE = 0
LOSS, HIGH_LOSS = 0.02, 0.10  # what the policy counts as trouble begins at the second
# ThreatReport.level
SUSPICIOUS, ATTACK = 1, 2
LOST_S = 10.0  # of silence: longer than any handover between cells or stations

Trouble = tuple[int, str]


def trouble(ends: Sequence[End], senses: Mapping[str, Sense], clock_s: float) -> Trouble:
    """(rank, words): 0 and "" for a drone that is well, 9 for the worst."""
    found = [*(each for end in _that_matter(ends) for each in _of_end(end, clock_s)), *_of_senses(senses, clock_s)]
    return max(found, key=lambda each: each[0], default=(FINE, ""))


def _that_matter(ends: Sequence[End]) -> list[End]:
    """Of several ground stations those may be without the drone that it has not chosen."""
    served = any(end.role == "gcs" and end.status.get("suite") for end in ends)
    return [end for end in ends if end.role != "gcs" or end.status.get("suite") or not served]


def is_lost(end: End, state: str) -> bool:
    """A session stays for minutes after the other end fell silent: long before its end somebody must look."""
    waits = end.status.get("station_role") == "standby"
    return state == "DEGRADED" and not waits and float(end.status.get("silence_s") or 0) >= LOST_S


def told_by_drone(end: End) -> tuple[int, str]:
    """What the detector on a drone says through the tunnel: level and kind. (A drone hears of others' alarms.)"""
    if end.role != "gcs":
        return 0, ""
    return int(end.status.get("peer_alarm") or 0), str(end.status.get("peer_alarm_kind") or "of no kind")


def _of_end(end: End, clock_s: float) -> list[Trouble]:
    silent_s = end.silent_s(clock_s)
    if silent_s is not None:
        return [(9, f"{end.name} has said nothing for {silent_s:.0f} s")]
    state, error = str(end.status.get("state")), str(end.status.get("last_error") or "")
    if end.status.get("station_role") == "standby" and state in ("UP", "REKEYING"):
        return []
    found: list[Trouble] = []
    if state == "DOWN":
        found.append((8, error or "no session"))
    elif state == "HANDSHAKING":
        found.append((6, error or "no session yet"))
    elif state == "DEGRADED":
        silent = f"the other end is silent for {float(end.status.get('silence_s') or 0):.0f} s"
        found.append((9 if is_lost(end, state) else 5, silent))
    elif state == "REKEYING":
        found.append((1, "renews its keys"))
    level, kind = told_by_drone(end)
    if level:
        found.append(
            (
                7 if level >= ATTACK else 3,
                f"the drone tells of {'an attack' if level >= ATTACK else 'a suspicion'}: {kind}",
            )
        )
    if keys_are_old(error):
        found.append((6, error))
    if plain_is_down(error) or radio_is_down(error):
        found.append((4, error))
    for side, words in (("local", "to here"), ("peer", "to the other end")):
        loss = (end.quality.get(side) or {}).get("loss")
        if loss is not None and loss > LOSS:
            found.append((4 if loss > HIGH_LOSS else 2, f"{loss:.0%} lost on the way {words}"))
    return found


def _of_senses(senses: Mapping[str, Sense], clock_s: float) -> list[Trouble]:
    found: list[Trouble] = []
    threat, battery, thermal = (fresh(senses, kind, clock_s) for kind in ("threat", "battery", "thermal"))
    level = threat.get("level") or 0
    if level >= ATTACK:
        found.append((7, f"attack: {threat.get('kind') or threat.get('reason')}"))
    elif level == SUSPICIOUS:
        found.append((3, f"suspicious: {threat.get('kind') or threat.get('reason')}"))
    charge = battery.get("state_of_charge") if battery.get("valid") else None
    if charge is not None and charge < LOW_CHARGE:
        found.append((7, f"battery at {charge:.0%}"))
    if thermal.get("throttled"):
        found.append((3, "the processor is too hot and is slowed down"))
    return found
