# SPDX-License-Identifier: Apache-2.0
"""What the learned detectors have in common: probabilities of the classes into an opinion with evidence. Pure."""

import math
from collections.abc import Callable, Mapping

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import BLACKOUT, CLASSES, ON_PATH, REPLAY
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.episodes import SPEAK, SUSPECT
from pqc_mav_detect.evidence import as_many_as_doubles, described
from pqc_mav_detect.features import Features
from pqc_mav_detect.history import REPEATS, Array, History
from pqc_mav_detect.rules.surplus import Surplus
from pqc_mav_detect.rules.thresholds import shipped
from pqc_mav_detect.window import Window

NORMAL = "normal"
OUTPUTS = (NORMAL, *CLASSES)  # the order of a model's outputs
SMOOTHED = 2  # windows: one alone may be an accident
LEAST_LIMIT = 0.8
SHOWN = 0.25  # limits of the rules: from this sum on a class may be named
CALM = 0.8  # probability of normal traffic; the rest has negative log odds
SUMMED_UP = 0.5  # probability of an attacker on the path where the sums say so and the model does not
_TINY = 1e-6
_MOST = 2.0


def log_odds(probability: float) -> float:
    """Of a probability, which may be 0 or 1."""
    kept = min(max(probability, _TINY), 1 - _TINY)
    return math.log(kept / (1 - kept))


class Learned:
    """A detector around a model. `limits`: the probability at which a class is named, learned from normal traffic."""

    def __init__(
        self,
        source: str,
        length: int,
        probabilities: Callable[[History], Array],
        limits: Mapping[str, float],
    ) -> None:
        self.source = source
        self._history = History(length)
        self._features = Features()
        self._probabilities = probabilities
        self._sums = {name: Surplus(each, lasts_s=CHANNELS[name].lasts_s) for name, each in shipped().items()}
        self._odds = {kind: log_odds(max(LEAST_LIMIT, limits.get(kind, 0.0))) for kind in CLASSES}
        self._recent: list[Array] = []
        self._since_s: float | None = None

    def update(self, window: Window) -> Opinion:
        """The model's opinion, smoothed over two windows."""
        self._history.push(window)
        self._features.push(window)
        shown = self._shown(window)
        self._recent = [*self._recent, self._probabilities(self._history)][-SMOOTHED:]
        mean = sum(self._recent[1:], self._recent[0]) / len(self._recent)
        lost = shown.get(ON_PATH, 0.0)
        if mean[0] > CALM and not window.silent and lost < SPEAK:  # no other can press
            self._since_s = None
            return Opinion()
        found = {kind: float(mean[index]) for index, kind in enumerate(OUTPUTS) if index}
        pressure = {
            kind: min(_MOST, window.weight(kind) * log_odds(value) / self._odds[kind]) for kind, value in found.items()
        }
        if pressure[REPLAY] >= SPEAK and all(as_many_as_doubles(self._features, part) for part, _ in REPEATS):
            pressure[REPLAY] = SUSPECT
        for kind in pressure:  # a pattern is not enough: something of the class has to have been counted
            if shown.get(kind, 0.0) < SHOWN:
                pressure[kind] = 0.0
        if lost >= SPEAK:  # rows of losses are weighed by their likelihood, which leaves a model nothing to add
            pressure[ON_PATH] = max(pressure[ON_PATH], min(_MOST, lost))
            found[ON_PATH] = max(found[ON_PATH], SUMMED_UP)
        if window.silent:  # what counts as a silence is decided before
            pressure[BLACKOUT], found[BLACKOUT] = max(pressure[BLACKOUT], SPEAK), 1.0
        pressing = {kind: value for kind, value in pressure.items() if value >= SUSPECT * SPEAK}
        if not pressing:
            self._since_s = None
            return Opinion()
        if self._since_s is None:
            self._since_s = window.time_s
        return Opinion(
            pressing, {kind: found[kind] for kind in pressing}, self._evidence(pressing, window), self._since_s
        )

    def _shown(self, window: Window) -> dict[str, float]:
        """Of each class the largest sum of its channels, in limits, as the rules have them."""
        found: dict[str, float] = {}
        for name, surplus in self._sums.items():
            kind = CHANNELS[name].kind
            pressure = window.weight(kind) * surplus.add(window.values[name], window.span_s, window.time_s)
            if pressure:
                found[kind] = max(found.get(kind, 0.0), pressure)
        return found

    def reset(self) -> None:
        """Forget everything."""
        for surplus in self._sums.values():
            surplus.reset()
        self._history.clear()
        self._features.clear()
        self._recent.clear()
        self._since_s = None

    def _evidence(self, pressing: Mapping[str, float], window: Window) -> tuple[tuple[str, str], ...]:
        seen = []
        for kind in sorted(pressing, key=lambda each: -pressing[each]):
            found = [
                described(self._features, name, window)
                for name, channel in CHANNELS.items()
                if channel.kind == kind and channel.words and self._features.mean(name, 5.0) > channel.allowance
            ]
            silences = [f"nothing heard from {drone} for {silent:.1f} s" for drone, silent in window.silent.items()]
            found = silences if kind == BLACKOUT and silences else found
            seen += [(kind, words) for words in found or ["the pattern of all figures together"]]
        return tuple(seen)
