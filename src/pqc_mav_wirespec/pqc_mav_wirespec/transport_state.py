# SPDX-License-Identifier: Apache-2.0
"""What a transport remembers of its addresses, its acknowledgements and M1 (docs/protocol.md section 5)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

NEVER = float("inf")


class Took(enum.Enum):
    """What a verified datagram was good for."""

    TAKEN = "hs_taken"
    REPEATED = "hs_repeated"
    MALFORMED = "hs_malformed"


@dataclass
class PathState:
    """What rule 3 knows of an address."""

    credit: int = 0
    answered: int = 0  # the how many-th answer it was; 0: none


@dataclass
class Acking:
    """When the message that comes in is acknowledged (rule 4)."""

    due: float = NEVER
    repeats: int = 0
    since: int = 0
    complete: bool = False


@dataclass
class Hello:
    """M1 until M2 begins to arrive (rule 2). `due` are the times of copies that were planned, with their padding."""

    frame: bytes
    due: list[tuple[float, int]] = field(default_factory=list)
    timeout_at: float = NEVER
    timeouts: int = 0
