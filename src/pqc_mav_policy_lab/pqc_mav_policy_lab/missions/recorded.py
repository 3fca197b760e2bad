# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as a mission: battery, temperature, link and attacks as they were, but with its own session.

The link is sensed as recorded, so a strategy's own handshakes do not show in it; they take their time all the same.
A recording does not tell the radio's capacity; that of the simulated missions is assumed.
"""

from __future__ import annotations

from pqc_mav_policy.telemetry.inputs import DecisionInput, Link
from pqc_mav_policy_lab.computer_power import MEAN_CPU_PERCENT, computer_power_w
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.model import Readings
from pqc_mav_policy_lab.missions.simulated import MissionError
from pqc_mav_policy_lab.recordings.replay import Recording

RECORDED = "recorded"
LEAST_S = 10


class RecordedMission:
    """The mission of a recording, one snapshot a second."""

    source = RECORDED

    def __init__(self, recording: Recording, name: str = "") -> None:
        """Raises MissionError for a recording too short to fly."""
        self.name = name or recording.path.name.removesuffix(".partial").removesuffix(".mcap")
        self.description = f"recorded flight {recording.path.name}"
        self._snapshots = _by_second(recording)
        if len(self._snapshots) < LEAST_S:
            raise MissionError(
                f"{recording.path} contains {len(self._snapshots)} s of decisions, which is too little to fly."
            )
        self.suite = next((entry.session.suite for entry in self._snapshots if entry.session.suite), "")
        self.available = tuple(sorted({name for entry in self._snapshots for name in entry.available}))

    def world(self) -> RecordedWorld:
        """The flight from its beginning."""
        return RecordedWorld(self._snapshots)


class RecordedWorld:
    """A drone that meets the same conditions as the recorded one."""

    def __init__(self, snapshots: list[DecisionInput]) -> None:
        self._snapshots = snapshots
        self._index = 0

    @property
    def seconds(self) -> int:
        """How long the recording lasts."""
        return len(self._snapshots)

    @property
    def throttled(self) -> bool:
        """Whether the processor was throttled."""
        thermal = self._snapshots[self._index].thermal
        return thermal.valid and thermal.throttled

    def conditions(self, index: int) -> Conditions:
        """What the snapshot says about the outside."""
        seen = self._snapshots[index]
        link = seen.link
        return Conditions(
            phase=seen.vehicle.phase,
            cpu_percent=_cpu(seen),
            loss=min(1.0, link.loss) if link.valid and link.loss is not None else 0.0,
            silent=link.packets_per_s == 0.0 if link.valid else not seen.session.alive,
            threat=seen.threat,
            threat_kind=seen.threat_kind,
            threat_response=seen.threat_response,
        )

    def sense(
        self, index: int, computing_s: float, transferring_s: float, near_since: float | None
    ) -> tuple[Readings, Link]:
        """As recorded. Blackouts near a switch are those near the recorded flight's switches."""
        self._index = index
        seen = self._snapshots[index]
        readings = Readings(
            battery=seen.battery,
            thermal=seen.thermal,
            vehicle=seen.vehicle,
            system=seen.system,
            power_w=computer_power_w(_cpu(seen) + 25.0 * computing_s),
            missing=seen.missing,
        )
        return readings, seen.link


def _cpu(seen: DecisionInput) -> float:
    known = seen.system.valid and seen.system.cpu_percent is not None
    return float(seen.system.cpu_percent or 0.0) if known else MEAN_CPU_PERCENT


def _by_second(recording: Recording) -> list[DecisionInput]:
    """One snapshot for every whole second; a gap in the recording repeats the last one seen."""
    found: list[DecisionInput] = []
    begin = recording.snapshots[0].now if recording.snapshots else 0.0
    for snapshot in recording.snapshots:
        second = int(snapshot.now - begin + 0.5)
        while len(found) < second:
            found.append(found[-1])
        if len(found) == second:
            found.append(snapshot.inputs)
    return found
