# SPDX-License-Identifier: Apache-2.0
"""What a mission does to the drone from outside, moment by moment: flight, weather, radio, attacker. Simulated."""

from dataclasses import dataclass

from pqc_mav_policy.telemetry.inputs import Phase, Threat

# Load of the drone's computer while it flies and talks, and with either detector running ([rpi5-report] section 19).
CPU_BASELINE = 14.6
CPU_XGBOOST = 40.5
CPU_TST = 88.8


@dataclass(frozen=True)
class Conditions:
    """One second of a mission. `loss` is a fraction (0-1); `silent` = nothing at all gets through."""

    phase: Phase
    ambient_c: float = 20.0
    cpu_percent: float = CPU_XGBOOST
    bandwidth_kbit_s: float = 8000.0  # [endurance-paper]: the links tested carried 8 Mb/s
    loss: float = 0.0
    rtt_s: float = 0.012  # [endurance-paper] Trend 3: 12 ms under the baseline
    silent: bool = False
    threat: Threat = Threat.NONE
    threat_kind: str = ""
    threat_response: str = ""  # what the detector asks for
    attacked: bool | None = None  # whether an attacker is at work; None = as the detector says

    @property
    def danger(self) -> Threat:
        """What security is weighted by: what the attacker does, where that is known."""
        if self.attacked is None:
            return self.threat
        return Threat.ATTACK if self.attacked else Threat.NONE
