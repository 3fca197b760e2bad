# SPDX-License-Identifier: Apache-2.0
"""What the transformer is given: the last 400 windows, each figure on a scale on which all are of one size. Pure."""

import numpy as np

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.history import PART_AT, SEEN, SEEN_AT, SHARES, WHOLE_AT, Array

WINDOW = 400  # windows: 40 s
_GAINS = {"1/s": 1.0, "B/s": 1.0, "fraction": 50.0, "ms": 0.2, "s": 2.0}
_WHOLE_LEAST = 10.0
_SCALE = np.array([_GAINS[CHANNELS[name].unit] for name in SEEN], np.float32)
COLUMNS = (*SEEN, *(f"{part}.share" for part, _ in SHARES), "there")


def scaled(rows: Array) -> Array:
    """Rows of every channel as rows of COLUMNS; `there` tells a window from the time before the first one."""
    shares = rows[:, PART_AT] / (rows[:, WHOLE_AT] + _WHOLE_LEAST)
    ones = np.ones((len(rows), 1), np.float32)
    return np.concatenate((np.log1p(np.maximum(rows[:, SEEN_AT], 0) * _SCALE) / 3, np.log1p(shares * 50) / 3, ones), 1)


def framed(rows: Array) -> Array:
    """Scaled rows, with nothing before them, as what the model takes: [1, WINDOW, columns]."""
    found = np.zeros((1, WINDOW, len(COLUMNS)), np.float32)
    if len(rows):
        found[0, -len(rows) :] = rows
    return found
