# SPDX-License-Identifier: Apache-2.0
"""The classes of attacks, and what the scheduler should do about each. docs/detection.md has the same table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How sure a detector is: the constants of ThreatReport.msg."""

    NONE = 0
    SUSPICIOUS = 1
    ATTACK = 2


FLOOD = "flood"
VOLUMETRIC = "volumetric"
REPLAY = "replay"
FORGERY = "forgery"
HANDSHAKE_FLOOD = "handshake_flood"
ON_PATH = "on_path"
BLACKOUT = "blackout"


@dataclass(frozen=True)
class AttackClass:
    """One class. `response` is a word for programs; what acts on it keeps the bounds of docs/policy.md."""

    name: str
    title: str
    response: str
    what: str
    most: Level = Level.ATTACK  # a bad radio looks like the last two: they never count as certain


_ALL = (
    AttackClass(
        FORGERY,
        "forged packets of a session",
        "renew_keys",
        "renew the keys once: somebody knows the session's header",
    ),
    AttackClass(
        REPLAY,
        "replayed packets",
        "renew_keys",
        "renew the keys once: what was recorded is worth nothing afterwards",
    ),
    AttackClass(
        HANDSHAKE_FLOOD,
        "handshakes of strangers",
        "defer_renewals",
        "no renewal that is not due: each would share the gate with the flood",
    ),
    AttackClass(
        FLOOD,
        "a flood at the data port",
        "light_handshakes",
        "a renewal that comes takes a suite with a small handshake",
    ),
    AttackClass(
        VOLUMETRIC,
        "traffic at other ports",
        "light_handshakes",
        "a renewal that comes takes a suite with few bytes; the profile with the low rate",
    ),
    AttackClass(
        BLACKOUT,
        "silence: a jammed or lost link",
        "hold",
        "nothing: a handshake cannot get through either",
        Level.SUSPICIOUS,
    ),
    AttackClass(
        ON_PATH,
        "delay or loss on the path",
        "hold",
        "nothing: the policy's own rule for a bad link decides",
        Level.SUSPICIOUS,
    ),
)
# In the order in which a cause goes before its symptoms.
CLASSES: Mapping[str, AttackClass] = {each.name: each for each in _ALL}
