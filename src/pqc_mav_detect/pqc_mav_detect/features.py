# SPDX-License-Identifier: Apache-2.0
"""The newest windows, and the mean and maximum of a channel over some of them. Pure."""

from collections import deque

from pqc_mav_detect.window import PERIOD_S, Window

KEPT_S = 5.0


class Features:
    """Keeps the windows of the last 5 s."""

    def __init__(self) -> None:
        self._windows: deque[Window] = deque(maxlen=round(KEPT_S / PERIOD_S))

    def push(self, window: Window) -> None:
        """The next one."""
        self._windows.append(window)

    def clear(self) -> None:
        """The counters began anew."""
        self._windows.clear()

    def mean(self, channel: str, span_s: float) -> float:
        """Over the newest windows; 0 before the first."""
        return sum(values) / len(values) if (values := self._newest(channel, span_s)) else 0.0

    def most(self, channel: str, span_s: float) -> float:
        """The maximum over the newest windows; 0 before the first."""
        return max(self._newest(channel, span_s), default=0.0)

    def _newest(self, channel: str, span_s: float) -> list[float]:
        count = round(span_s / PERIOD_S)
        windows = list(self._windows)[-count:]
        return [window.values[channel] for window in windows]
