# SPDX-License-Identifier: Apache-2.0
"""The newest windows and their figures: each channel's value, and its mean and maximum over 0.5 s and 5 s. Pure."""

from collections import deque

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.window import PERIOD_S, Window

SPANS_S = (0.5, 5.0)
KINDS = ("now", *(f"{kind}_{span:g}s" for span in SPANS_S for kind in ("mean", "max")))
# The columns of a feature vector, in order.
NAMES = tuple(f"{channel}.{kind}" for channel in CHANNELS for kind in KINDS)


class Features:
    """Keeps the windows of the last 5 s."""

    def __init__(self) -> None:
        self._windows: deque[Window] = deque(maxlen=round(max(SPANS_S) / PERIOD_S))

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

    def vector(self) -> list[float]:
        """Every figure, in the order of NAMES."""
        found: list[float] = []
        for channel in CHANNELS:
            found.append(self._windows[-1].values[channel] if self._windows else 0.0)
            for span in SPANS_S:
                found += [self.mean(channel, span), self.most(channel, span)]
        return found

    def _newest(self, channel: str, span_s: float) -> list[float]:
        count = round(span_s / PERIOD_S)
        windows = list(self._windows)[-count:]
        return [window.values[channel] for window in windows]
