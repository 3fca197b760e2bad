# SPDX-License-Identifier: Apache-2.0
"""What the learned strategy distinguishes: a snapshot in a few bins ([endurance-paper] 6.2), and the actions it knows.

The published state vector is load, state of charge, latency, loss and rekey frequency; phase of flight, level in use,
age of the keys and threat are added, without which neither the weights nor the worth of a rekey are known.
"""

from bisect import bisect_right
from collections.abc import Sequence
from enum import IntEnum

from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import Phase, Threat


class Choice(IntEnum):
    """What can be learned: nothing, fresh keys, or the lightest fitting suite of a level (fresh keys with it)."""

    HOLD = 0
    REKEY = 1
    LEVEL_1 = 2
    LEVEL_3 = 3
    LEVEL_5 = 4


LEVEL_OF = {Choice.LEVEL_1: 1, Choice.LEVEL_3: 3, Choice.LEVEL_5: 5}

# Upper edges of the bins; a value on an edge belongs to the bin above it.
CPU_PERCENT = (30.0, 70.0)
CHARGE = (0.15, 0.4)
GAP_S = (0.05, 0.5)
LOSS = (0.01, 0.05)
REKEYS = (3, 5)
KEY_AGE_S = (30.0, 60.0, 120.0)
_PHASE_GROUP = {
    Phase.DISARMED: 0,
    Phase.TAKEOFF: 1,
    Phase.LANDING: 1,
    Phase.CRUISE: 2,
    Phase.UNKNOWN: 2,
    Phase.HOVER: 3,
}
_LEVEL_BIN = {1: 0, 3: 1, 5: 2}

#: Name and number of bins of each part of a state, in order.
PARTS: tuple[tuple[str, int], ...] = (
    ("phase", 4),
    ("level", 3),
    ("key_age", len(KEY_AGE_S) + 1),
    ("threat", 2),
    ("gap", len(GAP_S) + 1),
    ("loss", len(LOSS) + 1),
    ("charge", len(CHARGE) + 1),
    ("cpu", len(CPU_PERCENT) + 1),
    ("rekeys", len(REKEYS) + 1),
)
SIZES = tuple(size for _, size in PARTS)
State = tuple[int, ...]


def _bin(value: float | None, edges: Sequence[float], unknown: int) -> int:
    return unknown if value is None else bisect_right(edges, value)


def encode(it: Situation) -> State:
    """The bins of a situation, one number per entry of PARTS. Unknown figures count as middling, not as best."""
    inputs = it.inputs
    battery = inputs.battery.state_of_charge if inputs.battery.valid else None
    gap = inputs.link.gap_p95_s if inputs.link.valid else None
    loss = inputs.link.loss if inputs.link.valid else None
    cpu = inputs.system.cpu_percent if inputs.system.valid else None
    phase = inputs.vehicle.phase if inputs.vehicle.valid else Phase.UNKNOWN
    return (
        _PHASE_GROUP[phase if it.airborne or phase is Phase.DISARMED else Phase.DISARMED],
        _LEVEL_BIN[it.ladder.catalogue[it.current].level],
        _bin(it.key_age_s, KEY_AGE_S, 0),
        int(inputs.threat is not Threat.NONE),
        _bin(gap, GAP_S, 1),
        _bin(loss, LOSS, 1),
        _bin(battery, CHARGE, 1),
        _bin(cpu, CPU_PERCENT, 1),
        _bin(float(len(it.memory.rekeys)), REKEYS, 0),
    )


def in_words(state: State) -> str:
    """A state for people, e.g. "cruise, level 3, keys 60-120 s old"."""
    named = dict(zip((name for name, _ in PARTS), state, strict=True))
    phase = ("on the ground", "manoeuvring", "cruising", "hovering")[named["phase"]]
    edges = ("0", *(f"{edge:g}" for edge in KEY_AGE_S))
    low = edges[named["key_age"]]
    age = f"{low} s and older" if named["key_age"] == len(KEY_AGE_S) else f"{low}-{edges[named['key_age'] + 1]} s old"
    words = [phase, f"level {(1, 3, 5)[named['level']]}", f"keys {age}"]
    if named["threat"]:
        words.append("under threat")
    for name, texts in (
        ("gap", ("", "slow link", "broken link")),
        ("loss", ("", "some loss", "much loss")),
        ("charge", ("nearly empty", "half empty", "")),
        ("cpu", ("", "", "busy computer")),
        ("rekeys", ("", "few rekeys left", "no rekeys left")),
    ):
        if texts[named[name]]:
            words.append(texts[named[name]])
    return ", ".join(words)
