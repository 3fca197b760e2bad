# SPDX-License-Identifier: Apache-2.0
"""Opinions into verdicts with hysteresis: up at once, down after a while without, one class at a time. Pure."""

from pqc_mav_detect.classes import CLASSES, Level
from pqc_mav_detect.detector import Opinion, Verdict
from pqc_mav_detect.evidence import said_once

SUSPECT = 0.5  # pressure
SPEAK = 1.0
STAY = 1.5  # a class that is named already counts that much more
FAINT = 1e-3
CLEAR_S = 3.0  # what was seen last stands this long after it was seen


def level_of(kind: str, pressure: float) -> Level:
    """The level that this much pressure means for this class."""
    level = Level.ATTACK if pressure >= SPEAK else Level.SUSPICIOUS if pressure >= SUSPECT else Level.NONE
    # A class that is never certain has to be as clear as another one that is before it is suspected.
    most = CLASSES[kind].most
    return level if most is Level.ATTACK else most if level is Level.ATTACK else Level.NONE


class Episodes:
    """Remembers the verdict that stands."""

    def __init__(self) -> None:
        self.verdict = Verdict()
        self._seen_s = 0.0  # when the verdict that stands was last confirmed
        self._since_s: float | None = None

    def update(self, opinion: Opinion, now_s: float) -> Verdict:
        """The verdict after this opinion."""
        new = self._verdict(opinion)
        old = self.verdict
        if new.level >= old.level and new.level is not Level.NONE:
            if old.level is Level.NONE:
                self._since_s = opinion.since_s if opinion.since_s is not None else now_s
            self._seen_s = now_s
        elif now_s - self._seen_s < CLEAR_S:
            return old
        else:
            self._seen_s = now_s
        if new.level is Level.NONE:
            self._since_s = None
        self.verdict = Verdict(
            new.level, new.kind, new.probability, new.confidence, new.evidence, self._since_s if new.kind else None
        )
        return self.verdict

    def _stays(self, kind: str) -> float:
        """A class that is named already stays so unless another one is clearly stronger."""
        return STAY if kind == self.verdict.kind else 1.0

    def _verdict(self, opinion: Opinion) -> Verdict:
        levels = {kind: level_of(kind, value) for kind, value in opinion.pressure.items()}
        most = max(levels.values(), default=Level.NONE)
        if most is Level.NONE:
            return Verdict()
        order = list(CLASSES)
        strength = {name: max(opinion.strength.get(name, 0.0), FAINT) for name, level in levels.items() if level}
        chosen = (name for name in strength if levels[name] is most)
        kind = max(chosen, key=lambda name: (strength[name] * self._stays(name), -order.index(name)))
        words = tuple(text for of, text in opinion.evidence if of == kind)
        others = tuple(text for of, text in opinion.evidence if of != kind)
        probability = min(1.0, opinion.pressure[kind] / (2 * SPEAK))
        evidence = said_once((*words, *others))
        return Verdict(most, kind, probability, strength[kind] / sum(strength.values()), evidence)
