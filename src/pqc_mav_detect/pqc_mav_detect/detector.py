# SPDX-License-Identifier: Apache-2.0
"""What every detector is: it takes windows and says what it thinks of the newest. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pqc_mav_detect.classes import CLASSES, Level
from pqc_mav_detect.window import Window


class ModelError(RuntimeError):
    """A detector that cannot be had: a file or an extra is missing. The text is one line."""


@dataclass(frozen=True)
class Opinion:
    """What a detector thinks of one window. `pressure`: class -> 1 where it speaks, half of that where it suspects.

    `strength`: class -> how much of it there is now, by which one class is chosen where several are pressing.
    """

    pressure: Mapping[str, float] = field(default_factory=dict)
    strength: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[tuple[str, str], ...] = ()  # (class, what was seen in words), the strongest first
    since_s: float | None = None  # when what it speaks of began


class Detector(Protocol):
    """A detector. `source` is its name in ThreatReport."""

    source: str

    def update(self, window: Window) -> Opinion:
        """Take the next window."""

    def reset(self) -> None:
        """Forget everything: the counters began anew."""


@dataclass(frozen=True)
class Verdict:
    """What is published: level, class and why."""

    level: Level = Level.NONE
    kind: str = ""
    probability: float = 0.0
    confidence: float = 0.0
    evidence: tuple[str, ...] = ()
    first_seen_s: float | None = None

    @property
    def response(self) -> str:
        """What the scheduler should do."""
        return CLASSES[self.kind].response if self.kind else ""

    @property
    def reason(self) -> str:
        """One sentence."""
        if self.level is Level.NONE:
            return "Nothing unusual."
        title, seen = CLASSES[self.kind].title, "; ".join(self.evidence)
        sure = "" if self.level is Level.ATTACK else ", not certain"
        return f"{title[0].upper()}{title[1:]}{sure}: {seen}."
