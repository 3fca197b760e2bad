# SPDX-License-Identifier: Apache-2.0
"""Random telemetry for property tests: any snapshot a drone could send, and hours of them in sequence."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from scenes import CATALOGUE, CORE, change, every, well

from pqc_mav_policy.alarms import RESPONSES
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import begin, observe
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Threat, TunnelState

PARAMETERS = every()
LADDER = Ladder(CATALOGUE)
maybe = st.one_of


def number(low: float, high: float) -> st.SearchStrategy[float | None]:
    return maybe(st.none(), st.floats(low, high, allow_nan=False))


@st.composite
def snapshots(draw: Any) -> DecisionInput:
    """Anything: missing streams, emergencies, any suite in use, few suites available."""
    phase = draw(st.sampled_from(Phase))
    available = draw(maybe(st.just(CORE), st.lists(st.sampled_from(CORE), min_size=1, max_size=6, unique=True)))
    changes: dict[str, Any] = {
        "battery": {
            "voltage_v": draw(number(12.0, 17.0)),
            "rate_mv_per_min": draw(number(-900.0, 100.0)),
            "state_of_charge": draw(number(0.0, 1.0)),
            "cells": draw(st.sampled_from((0, 3, 4, 6))),
            "age_s": draw(number(0.0, 5.0)),
            "valid": draw(st.booleans()),
        },
        "thermal": {
            "temperature_c": draw(number(20.0, 95.0)),
            "rate_c_per_min": draw(number(-5.0, 9.0)),
            "throttled": draw(st.booleans()),
            "valid": draw(st.booleans()),
        },
        "link": {
            "gap_p95_s": draw(number(0.0, 3.0)),
            "loss": draw(number(0.0, 1.0)),
            "blackouts_near_switch": draw(st.integers(0, 6)),
            "valid": draw(st.booleans()),
        },
        "vehicle": {"armed": draw(maybe(st.none(), st.booleans())), "phase": phase, "valid": draw(st.booleans())},
        "system": {"cpu_percent": draw(number(0.0, 100.0)), "valid": draw(st.booleans())},
        "session": {
            "state": draw(st.sampled_from(TunnelState)),
            "suite": draw(st.sampled_from((*CORE, ""))),
            "key_age_s": draw(number(0.0, 900.0)),
            "pending_suite": draw(maybe(st.none(), st.sampled_from(CORE))),
        },
        "threat": draw(st.sampled_from(Threat)),
        "threat_response": draw(st.sampled_from(("", "something_new", *sorted(RESPONSES)))),
        "available": tuple(available),
        "blacklisted": tuple(draw(st.lists(st.sampled_from(CORE), max_size=3))),
    }
    return change(well(), **changes)


@st.composite
def situations(draw: Any) -> Situation:
    """A snapshot with a session that lives, in the memory of a few snapshots before it."""
    memory = begin(0.0)
    now = 0.0
    inputs = well()
    for _ in range(draw(st.integers(1, 4))):
        inputs = draw(snapshots())
        suite = draw(st.sampled_from(CORE))
        epoch = draw(st.integers(0, 3))
        inputs = change(inputs, session={"suite": suite, "state": TunnelState.UP, "epoch": epoch, "last_switch_s": now})
        now += draw(st.floats(1.0, 400.0))
        memory = observe(inputs, memory, PARAMETERS, now)
    return Situation(inputs, memory, PARAMETERS, LADDER, now)
