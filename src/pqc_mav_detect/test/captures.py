# SPDX-License-Identifier: Apache-2.0
"""Made-up captures in the form of others: packets, bytes and MAVLink packets per 0.1 s."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from pqc_mav_detect.capture import Slot


def capture(
    seconds: float, change: Callable[[Slot], Slot] = lambda slot: slot, seed: int = 1, hz: float = 32.0
) -> list[Slot]:
    """About `hz` MAVLink packets in 0.1 s and a few others; `change` makes each window what it is to be."""
    generator = random.Random(seed)
    found = []
    for turn in range(round(seconds * 10)):
        mavlink = max(0.0, round(generator.gauss(hz, 2.0)))
        other = float(generator.random() < 0.2)
        slot = Slot(turn * 0.1, mavlink + other, mavlink * 55.0 + other * 90.0 + generator.gauss(0.0, 30.0), mavlink)
        found.append(change(slot))
    return found


def more(packets: float, bytes_each: float) -> Callable[[Slot], Slot]:
    """A change: that many packets more, that are not MAVLink."""

    def change(slot: Slot) -> Slot:
        assert slot.packets is not None and slot.bytes is not None
        return replace(slot, packets=slot.packets + packets, bytes=slot.bytes + packets * bytes_each, label="attack")

    return change


def attacked(
    change: Callable[[Slot], Slot], begin_s: float = 30.0, end_s: float = 40.0, seconds: float = 60.0
) -> list[Slot]:
    """A capture with an attack in the middle."""
    return capture(seconds, lambda slot: change(slot) if begin_s <= slot.time_s < end_s else slot)
