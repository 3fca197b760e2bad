# SPDX-License-Identifier: Apache-2.0
"""The rules: one cumulative sum per channel, and a silence. Explainable: each alarm names what it counted. Pure."""

from collections.abc import Mapping

from pqc_mav_detect.channels import CHANNELS, SUMMED
from pqc_mav_detect.classes import BLACKOUT, REPLAY
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.episodes import SPEAK, SUSPECT
from pqc_mav_detect.evidence import TOLD_APART, as_many_as_doubles, described
from pqc_mav_detect.features import Features
from pqc_mav_detect.rules.surplus import Surplus, Threshold
from pqc_mav_detect.rules.thresholds import shipped
from pqc_mav_detect.window import Window

STRENGTH_S = 2.0
_JUST_SUSPECT = 0.9 * SPEAK


class Rules:
    """The detector that flies by default."""

    source = "rules"

    def __init__(self, thresholds: Mapping[str, Threshold] | None = None) -> None:
        table = thresholds if thresholds is not None else shipped()
        self._sums = {name: Surplus(table[name], lasts_s=CHANNELS[name].lasts_s) for name in SUMMED}
        self._features = Features()

    def update(self, window: Window) -> Opinion:
        """The sums after this window."""
        features = self._features
        features.push(window)
        pressure: dict[str, float] = {}
        strength: dict[str, float] = {}
        seen: list[tuple[float, str, str]] = []
        since: list[float] = []
        for name, surplus in self._sums.items():
            kind = CHANNELS[name].kind
            value = window.weight(kind) * surplus.add(window.values[name], window.span_s, window.time_s)
            if value < SUSPECT:
                continue
            if kind == REPLAY and as_many_as_doubles(features, name):
                if name not in TOLD_APART:
                    continue  # that end sees for itself which of them are doubles
                value = min(value, _JUST_SUSPECT)
            pressure[kind] = max(pressure.get(kind, 0.0), value)
            strength[kind] = max(strength.get(kind, 0.0), self._strength(name, surplus.threshold))
            seen.append((value, kind, described(features, name, window)))
            since.append(surplus.since_s)
        for drone, silence in window.silent.items():
            pressure[BLACKOUT] = SPEAK
            seen.append((SPEAK, BLACKOUT, f"nothing heard from {drone} for {silence:.1f} s"))
            since.append(window.time_s - silence)
        seen.sort(key=lambda each: -each[0])
        return Opinion(pressure, strength, tuple((kind, words) for _, kind, words in seen), min(since, default=None))

    def reset(self) -> None:
        """Forget everything."""
        self._features.clear()
        for surplus in self._sums.values():
            surplus.reset()

    def _strength(self, channel: str, threshold: Threshold) -> float:
        """How fast its sum grows, in limits per second."""
        return (self._features.mean(channel, STRENGTH_S) - threshold.allowance) / threshold.limit
