# SPDX-License-Identifier: Apache-2.0
"""Made-up traffic, window by window: counters as an end would read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pqc_mav_detect.channels import CHANNELS, SUMMED
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import Detector, Verdict
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.rules.surplus import Threshold
from pqc_mav_detect.window import PERIOD_S, LinkView, Reading, Refused, Window, Windows

LEAST = {name: Threshold(CHANNELS[name].allowance, CHANNELS[name].limit) for name in SUMMED}
DRONE = "d1"


class Scene:
    """Counters that grow by rates [1/s]; fractions of a count are carried on."""

    def __init__(self, role: str = "gcs") -> None:
        self.windows = Windows(role)
        self.now_s = 100.0
        self._exact: dict[str, float] = {}
        self._reading = Reading(self.now_s, {}, {DRONE: 0}, {})
        self.link = LinkView(0.0)
        self.peer = LinkView(0.0)
        self.peer_at_s: float | None = None  # of the other end's newest report; None: always new
        self.down: frozenset[str] = frozenset()
        self.refused: Refused | None = None
        self.watchful = False

    def run(
        self, seconds: float, opened: float = 320.0, kernel: Mapping[str, float] | None = None, **rates: float
    ) -> list[Window]:
        """Windows of so many seconds at these rates."""
        found = []
        for _ in range(round(seconds / PERIOD_S)):
            self.now_s += PERIOD_S
            grown = {"delivered": opened, "control": 0.0, "enc_rx_datagrams": opened + sum(rates.values()), **rates}
            reading = Reading(
                self.now_s,
                self._counted("", grown),
                self._counted("opened.", {DRONE: opened}),
                self._counted("kernel.", kernel) if kernel else {},
                {DRONE: replace(self.link, time_s=self.now_s)},
                {DRONE: replace(self.peer, time_s=self.now_s if self.peer_at_s is None else self.peer_at_s)},
                self.down,
                self.refused,
                self.watchful,
            )
            window = self.windows.update(reading)
            if window is not None:
                found.append(window)
        return found

    def _counted(self, prefix: str, rates: Mapping[str, float]) -> dict[str, int]:
        for name, rate in rates.items():
            self._exact[prefix + name] = self._exact.get(prefix + name, 0.0) + rate * PERIOD_S
        return {
            name[len(prefix) :]: int(value + 1e-6)
            for name, value in self._exact.items()
            if name.startswith(prefix) and "." not in name[len(prefix) :]
        }


def judged(detector: Detector, windows: list[Window], episodes: Episodes | None = None) -> list[Verdict]:
    """The verdict after each window."""
    episodes = episodes or Episodes()
    return [episodes.update(detector.update(window), window.time_s) for window in windows]


def alarms(verdicts: list[Verdict]) -> list[tuple[Level, str]]:
    """Each level and class that was said, in order, without repetition."""
    found: list[tuple[Level, str]] = []
    for verdict in verdicts:
        if not found or found[-1] != (verdict.level, verdict.kind):
            found.append((verdict.level, verdict.kind))
    return found
