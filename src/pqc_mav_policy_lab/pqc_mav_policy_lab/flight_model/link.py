# SPDX-License-Identifier: Apache-2.0
"""A simulated radio link as the ground's receiver sees it: rate, gaps, loss, silences over 5 s. No clock."""

from collections import deque

from pqc_mav_policy.telemetry.inputs import Link
from pqc_mav_policy_lab.flight_model.conditions import Conditions

WINDOW_S = 5  # [pqcmav-paper] IV-B
TELEMETRY_PER_S = 320.0  # [pqcmav-paper] I
# 320 messages/s of about 60 bytes with 22 + 16 bytes of tunnel and 28 of UDP/IP.
TELEMETRY_KBIT_S = TELEMETRY_PER_S * (60 + 22 + 16 + 28) * 8 / 1e3
BLACKOUT_S = 1  # a silence longer than this is a blackout (inputs.Link)
# 95 % of the gaps of packets that come at random are shorter than three times their mean.
P95_OVER_MEAN = 3.0


class LinkModel:
    """Remembers the last seconds. `step` once a second."""

    def __init__(self) -> None:
        self._received: deque[float] = deque(maxlen=WINDOW_S)
        self._lost: deque[float] = deque(maxlen=WINDOW_S)
        self._blackouts: deque[float] = deque()
        self._silences: deque[int] = deque(maxlen=WINDOW_S)
        self.silent_s = 0

    def step(self, conditions: Conditions, transferring_s: float, now: float, near_since: float | None) -> Link:
        """One second, of which a handshake's messages used the link for `transferring_s`.

        `near_since` is since when blackouts count as near a switch; None = no switch yet.
        """
        # A transfer and the telemetry share the link like any two flows: each may have half of it.
        room = conditions.bandwidth_kbit_s * (1.0 - 0.5 * transferring_s)
        carried = min(1.0, room / TELEMETRY_KBIT_S) * (1.0 - conditions.loss)
        received = 0.0 if conditions.silent else TELEMETRY_PER_S * carried
        self.silent_s = self.silent_s + 1 if received < 1.0 else 0
        if self.silent_s == BLACKOUT_S + 1:
            self._blackouts.append(now)
        self._received.append(received)
        self._lost.append(1.0 - received / TELEMETRY_PER_S)
        self._silences.append(self.silent_s)
        rate = sum(self._received) / len(self._received)
        gap = float(WINDOW_S) if rate <= 0.0 else min(float(WINDOW_S), P95_OVER_MEAN / rate)
        recent = sum(1 for at in self._blackouts if now - at < WINDOW_S)
        near = 0 if near_since is None else sum(1 for at in self._blackouts if at >= near_since)
        return Link(
            packets_per_s=rate,
            gap_p95_s=gap,
            longest_silence_s=float(max(self._silences)) or gap,
            jitter_s=gap / P95_OVER_MEAN,
            loss=sum(self._lost) / len(self._lost),
            blackouts=recent,
            blackouts_near_switch=near,
            age_s=0.0,
            valid=True,
        )
