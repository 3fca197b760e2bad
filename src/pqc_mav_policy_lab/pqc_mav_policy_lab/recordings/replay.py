# SPDX-License-Identifier: Apache-2.0
"""Feeds a recording to a strategy: the same recording, strategy and parameters give the same lines, byte for byte.

Replayed are the snapshots the policy saw, as its decisions carry them. Their session is the one that was flown: a
strategy that would have decided otherwise sees what happened, not what would have happened. The comparison
(missions/recorded.py) flies a recorded mission with its own session.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_policy.decision import Decision
from pqc_mav_policy.telemetry.inputs import DecisionInput
from pqc_mav_policy.telemetry.snapshot import SnapshotError, of_decision
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.reader import RecordedMessage, RecordingReader

DECISION_TYPE = "pqc_mav_interfaces/msg/PolicyDecision"


@dataclass(frozen=True)
class Snapshot:
    """What the policy saw at one moment, and what was decided on it then."""

    now: float
    inputs: DecisionInput
    strategy: str
    mode: str
    action: str
    guard: str
    reason: str
    to_suite: str


@dataclass(frozen=True)
class Recording:
    """Snapshots of one policy in the order they were taken; `problem` is what was wrong with the file, "" = nothing."""

    path: Path
    topic: str
    snapshots: tuple[Snapshot, ...]
    problem: str


def read(path: Path, namespace: str) -> Recording:
    """The snapshots of the policy in a vehicle's namespace, none when the recording has no decisions of it.

    Raises RecordingError for an unreadable file, several policies in that namespace or decisions of another version.
    """
    reader = RecordingReader(path)
    prefix = f"/{namespace.strip('/')}/".replace("//", "/")
    found: dict[str, list[tuple[int, Snapshot]]] = {}
    for message in reader.messages():
        name = message.topic.name
        if message.topic.type_name == DECISION_TYPE and name.startswith(prefix):
            found.setdefault(name, []).append((message.log_ns, _snapshot(reader, message)))
    if len(found) > 1:
        raise RecordingError(
            f"{path} contains the decisions of several policies in {prefix}: {', '.join(sorted(found))}."
        )
    name, entries = next(iter(found.items()), (prefix, []))
    # Other recorders do not guarantee the order of arrival.
    entries.sort(key=lambda entry: entry[0])
    return Recording(path, name, tuple(snapshot for _, snapshot in entries), reader.problem)


def _snapshot(reader: RecordingReader, message: RecordedMessage) -> Snapshot:
    decoded: Any = reader.decode(message)
    try:
        inputs, now = of_decision(decoded)
    except SnapshotError as error:
        raise RecordingError(
            f"{reader.path}: a decision on {message.topic.name} was recorded by another version of the policy ({error})"
        ) from None
    return Snapshot(
        now, inputs, decoded.strategy, decoded.mode, decoded.action, decoded.guard, decoded.reason, decoded.to_suite
    )


def replay(strategy: Any, snapshots: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, Decision]]:
    """What the strategy (strategy.Strategy) decides on each snapshot."""
    if not snapshots:
        return
    state = strategy.initial_state(snapshots[0].now)
    for snapshot in snapshots:
        decision, state = strategy.decide(snapshot.inputs, state, snapshot.now)
        yield snapshot, decision


def as_line(decision: Decision, elapsed_s: float) -> str:
    """One decision as one line of JSON; `elapsed_s` since the recording's first."""
    content = {
        "t_s": round(elapsed_s, 3),
        "action": str(decision.action),
        "guard": decision.guard,
        "priority": decision.priority,
        "from": decision.from_suite,
        "to": decision.to_suite,
        "reason": decision.reason,
    }
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def differs(snapshot: Snapshot, decision: Decision) -> bool:
    """Whether the recorded policy decided otherwise; modes manual and hold, and a pin, say nothing about a strategy."""
    if snapshot.mode != "auto" or snapshot.inputs.session.pinned_suite:
        return False
    return (snapshot.action, snapshot.guard, snapshot.to_suite) != (
        str(decision.action),
        decision.guard,
        decision.to_suite,
    )
