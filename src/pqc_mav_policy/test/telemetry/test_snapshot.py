# SPDX-License-Identifier: Apache-2.0
"""Snapshots as keys with values: exact both ways, refused when they are something else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pqc_mav_interfaces.msg import PolicyDecision
from scenes import change, well

from pqc_mav_common.key_values import nested, to_key_values
from pqc_mav_policy.decision import Condition
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import (
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
from pqc_mav_policy.telemetry.snapshot import (
    SnapshotError,
    dump,
    limits,
    load,
    of_decision,
    own_conditions,
    own_parameters,
)

number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
time = st.floats(0, 1e9)
names = st.lists(st.text(max_size=8), max_size=3).map(tuple)
snapshots = st.builds(
    DecisionInput,
    missing=names,
    battery=st.builds(Battery, number, number, number, number, st.booleans(), st.integers(0, 24)),
    thermal=st.builds(Thermal, number, number, st.booleans(), number, st.booleans()),
    link=st.builds(
        Link, number, number, number, number, number, st.integers(0, 99), st.integers(0, 99), number, st.booleans()
    ),
    vehicle=st.builds(Vehicle, st.none() | st.booleans(), st.sampled_from(Phase), number, st.booleans()),
    system=st.builds(System, number, number, st.booleans()),
    session=st.builds(
        Session,
        st.sampled_from(TunnelState),
        st.text(max_size=8),
        st.integers(0, 255),
        number,
        number,
        st.none(),
        number,
        number,
    ),
    threat=st.sampled_from(Threat),
    threat_kind=st.text(max_size=8),
    threat_response=st.text(max_size=8),
    outcomes=st.lists(st.builds(Outcome, st.text(max_size=8), st.booleans(), time), max_size=2).map(tuple),
    blacklisted=names,
    configured_suite=st.sampled_from(("", "cs-x")),
    available=names,
)


def written(snapshot: DecisionInput, now: float = 1.0) -> dict[str, Any]:
    return nested(dump(snapshot, now))


def early(content: dict[str, Any]) -> str:
    """As recordings before 0.2.0 have it."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(snapshots, time)
def test_there_and_back_is_exact(snapshot: DecisionInput, now: float) -> None:
    pairs = dump(snapshot, now)
    assert load(pairs) == (snapshot, now)
    assert dump(*load(pairs)) == pairs
    assert load(early(nested(pairs))) == (snapshot, now)


def test_a_decision_shows_its_inputs_by_name() -> None:
    shown = {pair.key: pair.value for pair in dump(well(), 1.0)}
    assert (shown["now_s"], shown["battery.cells"], shown["threat"]) == ("1.0", "4", str(int(Threat.NONE)))


def test_a_decision_of_today_and_one_of_an_early_recording_are_read() -> None:
    today = PolicyDecision(inputs=dump(well(), 1.0))
    assert of_decision(today) == (well(), 1.0)
    assert of_decision({"inputs": [{"key": pair.key, "value": pair.value} for pair in today.inputs]}) == (well(), 1.0)
    assert of_decision({"inputs_json": early(written(well()))}) == (well(), 1.0)
    with pytest.raises(SnapshotError, match="Not a snapshot"):
        of_decision(PolicyDecision())


def test_a_snapshot_from_before_the_clock_was_recorded_is_read() -> None:
    content = written(well())
    for name in ("clock_offset_s", "cooldown_until_s"):
        del content["session"][name]
    assert load(early(content)) == (well(), 1.0)


def test_an_infinity_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        dump(change(well(), battery={"age_s": float("inf")}), 1.0)


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "{", '{"now_s": 1}', '{"now_s": "x"}'])
def test_what_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(SnapshotError, match="Not a snapshot"):
        load(text)


@pytest.mark.parametrize("drop", ["battery", "available", "outcomes", "missing"])
def test_a_snapshot_with_a_field_too_few_or_too_many_is_refused(drop: str) -> None:
    content = written(well())
    with pytest.raises(SnapshotError):
        load(to_key_values({name: value for name, value in content.items() if name != drop}))
    content["battery"]["humidity"] = 1
    with pytest.raises(SnapshotError, match="humidity"):
        load(to_key_values(content))


def test_unknown_phases_and_states_are_refused() -> None:
    for part, name in (("vehicle", "phase"), ("session", "state")):
        content = written(well())
        content[part][name] = 77
        with pytest.raises(SnapshotError):
            load(to_key_values(content))


def test_a_snapshot_from_before_responses_and_queues_is_read_as_without_them() -> None:
    content = written(well())
    del content["threat_response"], content["link"]["queue_s"]
    assert load(early(content)) == (well(), 1.0)


def test_a_strategys_own_conditions_travel_beside_the_inputs() -> None:
    own = [Condition(0, "climb", "calm has lasted", "17 s", ">= 30 s", False), Condition(0, "x", "y", "", "", None)]
    message = PolicyDecision(inputs=dump(well(), 5.0, own))
    assert own_conditions(message) == own
    assert of_decision(message) == (well(), 5.0), "they are no input of a replay"
    assert own_conditions(PolicyDecision(inputs=dump(well(), 5.0))) == []
    with pytest.raises(SnapshotError, match="conditions"):
        own_conditions({"inputs": to_key_values({"conditions": [{"what": "half of one"}]})})


def test_parameters_that_are_no_defaults_travel_beside_the_inputs() -> None:
    given = {"strategy": "cascade", "stale_s": 3.0, "required": ["link"], "expert.loss": 0.05, "target_suite": ""}
    message = PolicyDecision(inputs=dump(well(), 5.0, (), given))
    assert own_parameters(message) == given
    assert limits(message) == PolicyParameters(stale_s=3.0, required=("link",), target_suite="")
    assert of_decision(message) == (well(), 5.0), "they are no input of a replay"
    assert limits(PolicyDecision(inputs=dump(well(), 5.0, (), {}))) == PolicyParameters()
    assert limits(PolicyDecision(inputs=dump(well(), 5.0))) is None, "as of an earlier version"
    with pytest.raises(SnapshotError, match="'stale_s' of the policy is -1"):
        limits({"inputs": to_key_values({"parameters": [{"name": "stale_s", "value": -1.0}]})})
    with pytest.raises(SnapshotError, match="parameters"):
        own_parameters({"inputs": to_key_values({"parameters": [{"what": "half of one"}]})})
