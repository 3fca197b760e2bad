# SPDX-License-Identifier: Apache-2.0
"""The newest windows as rows of an array, and what the trees and the transformer are given of them. Pure."""

import numpy as np
import numpy.typing as npt

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.window import Window

Array = npt.NDArray[np.float32]

# How much a vehicle sends, and what programs of the host are sent, is their own affair: a model that saw it would learn
# vehicles and hosts instead of attacks. `unasked` is a difference of counters read one after the other: a stall between
# the two looks like a burst of 0.1 s, which a sum forgives and a maximum does not.
OWN = ("opened", "received_bytes", "peer_opened", "foreign_packets", "foreign_bytes", "unasked", "skipped", "skips",
       "doubled", "waited")  # fmt: skip
SEEN = tuple(name for name in CHANNELS if name not in OWN)
REPEATS = (("replayed", "opened"), ("peer_replayed", "peer_opened"))  # a network that doubles packets: a small share
SHARES = (*REPEATS, ("doubled", "opened"), ("skipped", "opened"), ("skips", "opened"))
SHORT, LONG = 5, 50  # windows
KINDS = ("now", "mean_0.5s", "max_0.5s", "mean_5s", "max_5s")
# The columns of `History.features`, in order.
NAMES = (*(f"{name}.{kind}" for kind in KINDS for name in SEEN), *(f"{part}.share_5s" for part, _ in SHARES))

# Where the channels of a row are.
_ALL = tuple(CHANNELS)
SEEN_AT = np.array([_ALL.index(name) for name in SEEN])
PART_AT = np.array([_ALL.index(part) for part, _ in SHARES])
WHOLE_AT = np.array([_ALL.index(whole) for _, whole in SHARES])


class History:
    """Keeps `length` windows."""

    def __init__(self, length: int = LONG) -> None:
        self._length = length
        self._rows: Array = np.zeros((8 * length, len(_ALL)), np.float32)
        self._end = 0
        self._count = 0

    def push(self, window: Window) -> None:
        """The next one."""
        if self._end == len(self._rows):
            keep = self._length - 1
            self._rows[:keep] = self._rows[self._end - keep :]
            self._end = keep
        self._rows[self._end] = [window.values[name] for name in _ALL]
        self._end += 1
        self._count = min(self._count + 1, self._length)

    def clear(self) -> None:
        """Begin anew."""
        self._end = self._count = 0

    def newest(self, count: int) -> Array:
        """Up to so many rows, every channel, the newest last."""
        return self._rows[self._end - min(count, self._count) : self._end]

    def features(self) -> Array:
        """One row for the trees; there has to be a window."""
        rows = self.newest(LONG)
        short = rows[-SHORT:][:, SEEN_AT]
        means = np.add.reduce(rows, 0) / np.float32(len(rows))
        shares = means[PART_AT] / (means[WHOLE_AT] + 1)
        return np.concatenate(
            (
                *(short[-1], np.add.reduce(short, 0) / np.float32(len(short)), short.max(0)),
                *(means[SEEN_AT], rows.max(0)[SEEN_AT], shares),
            )
        )
