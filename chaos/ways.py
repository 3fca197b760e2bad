# SPDX-License-Identifier: Apache-2.0
"""What `record` lets happen, as data: attacks with their intensities, attacks no training has seen, disturbances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pqc_mav_detect import classes

ATTACK_S = 8.0
BOTH = frozenset({"gcs", "drone"})
RATES = ("2", "20", "200", "2000")
# Intensities no training has seen; the last two change all the time (attacker_host.py).
UNSEEN_RATES = ("6", "60", "random", "bursts")
DOWN, UP = "a_to_b", "b_to_a"


@dataclass(frozen=True)
class Grade:
    """What one intensity of an attack on the link is."""

    name: str
    impair: Mapping[str, Any]
    seconds: float = ATTACK_S
    directions: tuple[str, ...] = (DOWN, UP)


@dataclass(frozen=True)
class Attack:
    """One way to attack: a mode of the stranger, at rates, or grades of an impairment. `ends`: who is reached."""

    name: str
    kind: str
    mode: str = ""
    listen: bool = False
    ends: frozenset[str] = frozenset({"gcs"})
    grades: tuple[Grade, ...] = ()
    rates: tuple[str, ...] = ()  # where only these make sense


def _grades(name: str, values: tuple[float, ...], scale: float = 1.0, **more: Any) -> tuple[Grade, ...]:
    return tuple(Grade(f"{value:g}", {name: value * scale, **more}) for value in values)


ATTACKS = (
    Attack("random_flood", classes.FLOOD, "random_flood"),
    Attack("replay", classes.REPLAY, "replay", True, BOTH),
    Attack("forge", classes.FORGERY, "forge", True, BOTH),
    Attack("handshake_flood", classes.HANDSHAKE_FLOOD, "handshake_flood"),
    Attack("false_hellos", classes.HANDSHAKE_FLOOD, "false_hellos"),
    Attack("replay_hellos", classes.HANDSHAKE_FLOOD, "replay_hellos", True, BOTH),
    Attack("elsewhere", classes.VOLUMETRIC, "elsewhere"),
    Attack("pings", classes.VOLUMETRIC, "pings"),
    Attack("connections", classes.VOLUMETRIC, "connections"),
    Attack("delay", classes.ON_PATH, ends=BOTH, grades=_grades("delay_ms", (60.0, 100.0, 150.0, 300.0))),
    Attack("loss", classes.ON_PATH, ends=BOTH, grades=_grades("loss", (8.0, 15.0, 30.0, 60.0), 0.01)),
    Attack(
        "drop_data", classes.ON_PATH, ends=BOTH, grades=_grades("loss", (10.0, 20.0, 40.0, 80.0), 0.01, only="data")
    ),
    Attack(
        "blackout",
        classes.BLACKOUT,
        ends=BOTH,
        grades=tuple(Grade(f"{seconds:g}s", {"down": True}, seconds) for seconds in (2.0, 4.0, 6.0, 8.0)),
    ),
)
UNSEEN = (
    Attack("tiny_flood", classes.FLOOD, "tiny_flood"),
    Attack("stale_sessions", classes.FLOOD, "stale_sessions", True),
    Attack("replay_in_order", classes.REPLAY, "replay_in_order", True, BOTH),
    Attack("flip_bits", classes.FORGERY, "flip_bits", True, BOTH),
    Attack("spoiled_hellos", classes.HANDSHAKE_FLOOD, "spoiled_hellos", True),
    Attack("syns", classes.VOLUMETRIC, "syns"),
    Attack("one_port", classes.VOLUMETRIC, "one_port"),
    Attack("jitter", classes.ON_PATH, ends=BOTH, grades=_grades("jitter_ms", (120.0, 250.0))),
    Attack("burst_loss", classes.ON_PATH, ends=BOTH, grades=_grades("loss", (12.0, 25.0), 0.01, burst=5.0)),
    Attack("drop_control", classes.ON_PATH, ends=BOTH, grades=_grades("loss", (100.0,), 0.01, only="control")),
    Attack("one_way", classes.BLACKOUT, ends=frozenset({"gcs"}), grades=(Grade("down", {"down": True}, 6.0, (DOWN,)),)),
    Attack(
        "no_way_back", classes.BLACKOUT, ends=frozenset({"drone"}), grades=(Grade("up", {"down": True}, 6.0, (UP,)),)
    ),
)
# What happens to a link without any attacker: no label, and an alarm is a false one.
DISTURBANCES = (
    Attack("weak_link", "", ends=BOTH, grades=(Grade("5%", {"loss": 0.05, "burst": 2.0}),)),
    Attack("duplicates", "", ends=BOTH, grades=(Grade("2%", {"duplicate": 0.02}),)),
    Attack("reordering", "", ends=BOTH, grades=(Grade("5%", {"delay_ms": 10.0, "reorder": 0.05}),)),
    Attack("latency", "", ends=BOTH, grades=(Grade("25ms", {"delay_ms": 25.0}),)),
    Attack("gap", "", ends=BOTH, grades=(Grade("0.5s", {"down": True}, 0.5),)),
    Attack("roaming", "", "move", ends=BOTH),
    Attack("rekeys", "", "rekey", ends=BOTH),
    Attack("cpu_load", "", "load", ends=BOTH),
    Attack("restart", "", "restart", ends=BOTH),
    Attack("download", "", "download", rates=("100",)),  # 800 kB/s over TCP to a program of the gcs' host
    Attack("video", "", "video", rates=("250",)),  # 300 kB/s over UDP to another one
    Attack("monitoring", "", "pings", rates=("1",)),
)
# It keeps all that runs beside it from the processors, so nothing may.
STARVED = (Attack("starved", "", "load", ends=BOTH, rates=("32",)),)
SETS = {"all": ATTACKS, "unseen": UNSEEN, "benign": DISTURBANCES, "starved": STARVED}
KNOWN = {attack.name: attack for attack in (*ATTACKS, *UNSEEN, *DISTURBANCES, *STARVED)}
