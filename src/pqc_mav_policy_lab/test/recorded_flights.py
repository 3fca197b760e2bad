# SPDX-License-Identifier: Apache-2.0
"""Simulated flights for the tests, and recordings of their decisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenes import CATALOGUE, CORE, DEFAULT

from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy.telemetry.snapshot import dump
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.fly import Second, Simulation, fly
from pqc_mav_policy_lab.missions.simulated import mission
from pqc_mav_recorder.file import RecordingFile
from pqc_mav_recorder.schema import installed_topic

DECISIONS = installed_topic("/drone/pqc_policy/decision", "pqc_mav_interfaces/msg/PolicyDecision")
BEGIN_NS = 1_700_000_000_000_000_000


@lru_cache(maxsize=8)
def flown(name: str = "hot", strategy: str = "cascade") -> list[Second]:
    simulation = Simulation(mission(name).world(), DEFAULT, CORE, CATALOGUE, published_costs(CATALOGUE))
    return fly(simulation, make(strategy, CATALOGUE, Settings()))


def message(second: Second, strategy: str, mode: str = "auto") -> Any:
    from pqc_mav_interfaces.msg import PolicyDecision

    decision = second.decision
    return PolicyDecision(
        sequence=second.index,
        strategy=strategy,
        mode=mode,
        action=str(decision.action),
        guard=decision.guard,
        reason=decision.reason,
        from_suite=decision.from_suite,
        to_suite=decision.to_suite,
        inputs=dump(second.inputs, float(second.index)),
    )


def record(path: Path, flight: Sequence[Second], strategy: str = "cascade", name: str = DECISIONS.name) -> Path:
    """What a recorder leaves of the policy's decisions."""
    from rclpy.serialization import serialize_message

    recording = RecordingFile(path, {})
    for second in flight:
        at = BEGIN_NS + second.index * 1_000_000_000
        info = installed_topic(name, DECISIONS.type_name)
        recording.write(info, serialize_message(message(second, strategy)), at, at)
    return recording.finish()
