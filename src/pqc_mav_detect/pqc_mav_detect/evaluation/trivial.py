# SPDX-License-Identifier: Apache-2.0
"""The trivial rules that published figures have to be compared with: counts of 0.6 s. Pure."""

from collections import deque

from pqc_mav_detect.window import Window

SPAN = 6  # windows of 0.1 s
FEW = 20  # packets
HEAVY = 125.0  # bytes for each of them


class Trivial:
    """`few`: fewer than 20 MAVLink packets in 0.6 s; otherwise: more than 125 bytes on the wire for each of them."""

    def __init__(self, few: bool) -> None:
        self._few = few
        self._newest: deque[tuple[float, float]] = deque(maxlen=SPAN)

    def update(self, window: Window) -> bool:
        """Whether it speaks."""
        values = window.values
        heard = values["received_bytes"] + values["foreign_bytes"]
        return self.take(values["opened"] * window.span_s, heard * window.span_s)

    def reset(self) -> None:
        """Forget everything."""
        self._newest.clear()

    def take(self, packets: float, heard_bytes: float) -> bool:
        """As `update`, of a capture's own figures."""
        self._newest.append((packets, heard_bytes))
        if len(self._newest) < SPAN:
            return False
        count = sum(each for each, _ in self._newest)
        return count < FEW if self._few else sum(each for _, each in self._newest) > HEAVY * max(count, 1.0)
