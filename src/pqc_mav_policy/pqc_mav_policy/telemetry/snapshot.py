# SPDX-License-Identifier: Apache-2.0
"""A snapshot as keys with values and back, exactly: it is published with every decision, and recordings replay it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar

from pqc_mav_common.key_values import nested, to_key_values
from pqc_mav_common.parameters import ParameterError
from pqc_mav_policy import parameter_table
from pqc_mav_policy.decision import Condition
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import (
    DOCUMENTED_CELLS,
    Battery,
    DecisionInput,
    Link,
    Outcome,
    Phase,
    Session,
    System,
    Thermal,
    Threat,
    TunnelState,
    Vehicle,
)

T = TypeVar("T")
_PARTS: Mapping[str, type] = {
    "battery": Battery,
    "thermal": Thermal,
    "link": Link,
    "vehicle": Vehicle,
    "system": System,
    "session": Session,
}


class SnapshotError(ValueError):
    """Something is not a snapshot: one sentence for a person."""


#: Where the strategy's own conditions and the node's parameters stand beside the inputs. They are no inputs: a replay
#: makes the conditions anew, with parameters of its own.
_CONDITIONS, _PARAMETERS = "conditions", "parameters"


def dump(
    inputs: DecisionInput,
    now: float,
    conditions: Sequence[Condition] = (),
    parameters: Mapping[str, Any] | None = None,
) -> list[Any]:
    """As KeyValue: the snapshot, the time `now` it was judged at, the strategy's own conditions, and the parameters in
    force that differ from their defaults. Raises ValueError for an infinity."""
    beside: dict[str, Any] = {_CONDITIONS: [asdict(each) for each in conditions]} if conditions else {}
    if parameters is not None:
        beside[_PARAMETERS] = [{"name": name, "value": value} for name, value in parameters.items()]
    return to_key_values({"now_s": now, **asdict(inputs), **beside})


def own_conditions(message: Any) -> list[Condition]:
    """The strategy's own conditions in a PolicyDecision, or in its fields; none of a strategy that has none, or of an
    early recording. Raises SnapshotError."""
    try:
        return [_part(Condition, entry) for entry in _beside(message, _CONDITIONS) or ()]
    except (TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"Not the conditions of a decision: {error}.") from None


def own_parameters(message: Any) -> dict[str, Any] | None:
    """The parameters that differed from their defaults when a PolicyDecision, or its fields, was made; None of an
    earlier version, which does not say. Raises SnapshotError."""
    try:
        told = _beside(message, _PARAMETERS)
        return None if told is None else {str(entry["name"]): entry["value"] for entry in told}
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"Not the parameters of a decision: {error}.") from None


def limits(message: Any) -> PolicyParameters | None:
    """The thresholds by which a PolicyDecision, or its fields, was made; None of an earlier version. Raises
    SnapshotError."""
    given = own_parameters(message)
    if given is None:
        return None
    known = parameter_table.names(PolicyParameters)
    try:
        return parameter_table.build(PolicyParameters, {name: given[name] for name in known if name in given})
    except ParameterError as error:
        raise SnapshotError(str(error)) from None


def _beside(message: Any, name: str) -> Any:
    told = message.get("inputs") if isinstance(message, Mapping) else getattr(message, "inputs", None)
    return nested(told or ()).get(name)


def of_decision(message: Any) -> tuple[DecisionInput, float]:
    """The snapshot of a PolicyDecision, or of its fields. Raises SnapshotError.

    Recordings before 0.2.0 have it in `inputs_json`, as a text.
    """
    names = ("inputs_json", "inputs")
    mapped = isinstance(message, Mapping)
    early, today = (message.get(name) if mapped else getattr(message, name, None) for name in names)
    return load((today or ()) if early is None else early)


def load(told: Iterable[Any] | str) -> tuple[DecisionInput, float]:
    """The snapshot and its time from `dump`'s result, or out of an early recording's JSON. Raises SnapshotError."""
    try:
        content = _of_today(json.loads(told) if isinstance(told, str) else nested(told))
        now = float(content.pop("now_s"))
        for beside in (_CONDITIONS, _PARAMETERS):
            content.pop(beside, None)
        parts: dict[str, Any] = {name: _part(kind, content.pop(name)) for name, kind in _PARTS.items()}
        content["threat"] = Threat(content["threat"])
        content["outcomes"] = tuple(_part(Outcome, entry) for entry in content["outcomes"])
        for name in ("missing", "blacklisted", "available"):
            content[name] = tuple(content[name])
        return _part(DecisionInput, {**parts, **content}), now
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"Not a snapshot of the policy's inputs: {error}.") from None


def _of_today(content: Any) -> Any:
    """A snapshot of an earlier version, as today's would be: no response, queue, clock, ratchets or pin, four
    cells."""
    content.setdefault("threat_response", "")
    content["link"].setdefault("queue_s", None)
    earlier: dict[str, Any] = {"clock_offset_s": None, "cooldown_until_s": None, "ratchets": 0, "ratchet_for_s": 0.0}
    earlier |= {"pinned_suite": "", "pin_for_s": 0.0}
    content["session"] = {**earlier, **content["session"]}
    content["outcomes"] = [{"kind": "rekey", **outcome} for outcome in content["outcomes"]]
    if "telemetry_age_s" in content:
        del content["telemetry_age_s"]
        content["battery"]["cells"] = DOCUMENTED_CELLS
        content["outcomes"] = [{**outcome, "took_s": None} for outcome in content["outcomes"]]
    return content


def _part(kind: type[T], content: Mapping[str, Any]) -> T:
    """One dataclass; every field has to be there, so that a snapshot of another version is refused, not guessed."""
    expected = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if set(content) != expected:
        raise ValueError(f"{kind.__name__} has fields {sorted(content)}, expected {sorted(expected)}")
    values = dict(content)
    if kind is Vehicle:
        values["phase"] = Phase(values["phase"])
    if kind is Session:
        values["state"] = TunnelState(values["state"])
    return kind(**values)
