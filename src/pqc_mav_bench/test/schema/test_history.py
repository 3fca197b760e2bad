# SPDX-License-Identifier: Apache-2.0
"""Runs of the versions before load: what they lack, or said without measuring it, says why, and their hashes hold."""

from __future__ import annotations

import pytest
from support import OPTIONS, measured, recorded_before

from pqc_mav_bench.options import options_from
from pqc_mav_bench.schema.history import (
    BEFORE,
    CATEGORY,
    LACKED,
    LACKING,
    NAME,
    SCHEMA_VERSION,
    UNMEASURED,
    as_today,
    lacked,
)
from pqc_mav_bench.schema.run import parse_run
from pqc_mav_bench.verify import verify_run

PATH = f"{CATEGORY}.{NAME}"


@pytest.mark.parametrize("version", BEFORE)
def test_a_version_before_becomes_todays_even_where_nothing_else_is_there(version):
    assert as_today({"schema_version": version}) == {"schema_version": SCHEMA_VERSION}


@pytest.mark.parametrize("version", [SCHEMA_VERSION, "99.0", "6.0", None, list(BEFORE)])
def test_another_one_stays_what_it_is(version):
    assert as_today({"schema_version": version}) == {"schema_version": version}


def test_a_run_with_a_detector_has_no_such_memory_and_says_why():
    now, _ = measured(scenario="tst")
    document = recorded_before(now.model_dump(mode="json"))
    assert document[CATEGORY][NAME] == 0.0
    run, problems = verify_run(document, "metrics.json")
    assert problems == []
    assert run.value(PATH) is None
    assert run.metric_status[PATH].reason == UNMEASURED["reason"]
    assert run.schema_version == SCHEMA_VERSION
    assert run.handshake.handshake_ms == now.handshake.handshake_ms
    for path in lacked("7.0"):
        assert (run.value(path), run.metric_status[path].reason) == (None, LACKED["reason"])


def test_a_run_of_version_8_keeps_what_it_measured():
    now, _ = measured(scenario="tst")
    run, problems = verify_run(recorded_before(now.model_dump(mode="json"), "8.0"), "metrics.json")
    assert problems == []
    assert run.value(PATH) == now.value(PATH) and lacked("8.0") == LACKING["8.0"] < lacked("7.0")
    for path in lacked("8.0"):
        assert (run.value(path), run.metric_status[path].reason) == (None, LACKED["reason"])


@pytest.mark.parametrize(("scenario", "emulated", "memory"), [("baseline", False, 0.0), ("tst", True, 489.0)])
def test_without_a_detector_it_stays(scenario, emulated, memory):
    run, _ = measured(scenario=scenario, options=options_from({**OPTIONS.model_dump(), "emulate_detectors": emulated}))
    assert parse_run(recorded_before(run.model_dump(mode="json"))).value(PATH) == memory
