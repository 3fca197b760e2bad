# SPDX-License-Identifier: Apache-2.0
"""When the frames of one direction come out of a bad link, if at all. No socket, no clock: time is an argument.

Every frame takes the same number of draws from the seeded generator, whatever the settings, so that a run with the same
frames repeats and changing one setting leaves the draws for the others alone.
"""

import math
import random
from dataclasses import dataclass

from pqc_mav_sim.impairment.settings import Impairment


@dataclass(frozen=True)
class Fate:
    """What becomes of one frame: the times (s) at which copies come out, or why there are none (loss, queue, down)."""

    times: tuple[float, ...]
    lost: str = ""


class ImpairedDirection:
    """The state of one direction: its generator, its queue, and whether it is in a burst of losses."""

    def __init__(self, seed: str, impairment: Impairment | None = None) -> None:
        self.impairment = impairment or Impairment()
        self._random = random.Random(seed)
        self._in_burst = False
        self._fading = random.Random(f"{seed} fading")  # by time, not by frame: it has draws of its own
        self._phase_ends = -math.inf
        self._busy_until = 0.0
        self._last_out = 0.0

    def offer(self, size: float, now: float, kind: str = "") -> Fate:
        """Decide about a frame of `size` bytes that enters at `now` (s, never going backwards). `kind`: of datagram."""
        draw = self._random.random
        for_loss, for_burst, for_jitter, for_twice, for_order = draw(), draw(), draw(), draw(), draw()
        rules = self.impairment
        if rules.down:
            return Fate((), "down")
        lost = self._fades(now) if rules.dead_ms else self._is_lost(for_loss, for_burst)
        if lost and rules.only in ("", kind):
            return Fate((), "loss")
        ready = now
        if rules.rate_bit_s > 0:
            size = max(size + rules.overhead_bytes, 0)
            waiting = max(self._busy_until - now, 0.0) * rules.rate_bit_s / 8
            if waiting + size > rules.queue_bytes:
                return Fate((), "queue")
            self._busy_until = ready = max(self._busy_until, now) + size * 8 / rules.rate_bit_s
        out = ready + self._delay_s(for_jitter)
        if for_order < rules.reorder:
            out += rules.reorder_ms / 1000
        elif rules.keep_order:
            out = self._last_out = max(out, self._last_out)
        return Fate((out, out) if for_twice < rules.duplicate else (out,))

    def _is_lost(self, for_loss: float, for_burst: float) -> bool:
        rules = self.impairment
        if rules.burst <= 1 or rules.loss == 0:
            self._in_burst = False
            return for_loss < rules.loss
        leave = 1 / rules.burst
        enter = rules.loss * leave / (1 - rules.loss)
        self._in_burst = for_burst >= leave if self._in_burst else for_burst < enter
        return self._in_burst

    def _fades(self, now: float) -> bool:
        rules = self.impairment
        if rules.loss == 0:
            return False
        dead_s, good_s = rules.dead_ms / 1000, rules.dead_ms / 1000 * (1 - rules.loss) / rules.loss
        if self._phase_ends == -math.inf:  # as at any other time, and not where a phase begins
            self._in_burst = self._fading.random() < rules.loss
            left_s = self._fading.uniform(0, dead_s) if self._in_burst else self._fading.expovariate(1 / good_s)
            self._phase_ends = now + left_s
        while self._phase_ends <= now:
            self._in_burst = not self._in_burst
            self._phase_ends += dead_s if self._in_burst else self._fading.expovariate(1 / good_s)
        return self._in_burst

    def _delay_s(self, for_jitter: float) -> float:
        rules = self.impairment
        return max(0.0, rules.delay_ms + rules.jitter_ms * (2 * for_jitter - 1)) / 1000
