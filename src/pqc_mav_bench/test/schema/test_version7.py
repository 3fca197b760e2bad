# SPDX-License-Identifier: Apache-2.0
"""Campaigns of version 7 load: what they lack, or said without measuring it, says why, and their hashes hold."""

from __future__ import annotations

import json

import pytest
from support import OPTIONS, Bench, as_recorded_by_version7, measured, recorded_by_version7

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.options import options_from
from pqc_mav_bench.schema import version7
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import parse_run
from pqc_mav_bench.verify import verify_campaign, verify_run

CATEGORY, _, NAME = version7.PATH.partition(".")


def test_a_run_with_a_detector_has_no_such_memory_and_says_why():
    now, _ = measured(scenario="tst")
    document = recorded_by_version7(now.model_dump(mode="json"))
    assert document[CATEGORY][NAME] == 0.0
    run, problems = verify_run(document, "metrics.json")
    assert problems == []
    assert run.value(version7.PATH) is None
    assert run.metric_status[version7.PATH].reason == version7.REASON
    assert run.schema_version == SCHEMA_VERSION
    assert run.handshake.handshake_ms == now.handshake.handshake_ms
    for path in version7.ADDED:
        assert (run.value(path), run.metric_status[path].reason) == (None, version7.LACKED)


@pytest.mark.parametrize(("scenario", "emulated", "memory"), [("baseline", False, 0.0), ("tst", True, 489.0)])
def test_without_a_detector_it_stays(scenario, emulated, memory):
    run, _ = measured(scenario=scenario, options=options_from({**OPTIONS.model_dump(), "emulate_detectors": emulated}))
    assert parse_run(recorded_by_version7(run.model_dump(mode="json"))).value(version7.PATH) == memory


def test_a_campaign_verifies_and_its_table_has_no_such_memory_either(tmp_path):
    bench = Bench(tmp_path, options=options_from({**OPTIONS.model_dump(), "scenarios": ["baseline", "tst"]}))
    bench.run()
    table = tidy.read(bench.store.folder)
    hashes = as_recorded_by_version7(bench.store)
    old = table.assign(metrics_sha256=hashes).drop(columns=list(version7.ADDED))
    with_detector = old[version7.LOAD] == version7.DETECTOR
    assert with_detector.any() and not with_detector.all()
    old[version7.PATH] = old[version7.PATH].mask(with_detector, 0.0)
    tidy.write(old, bench.store.folder)
    read = tidy.read(bench.store.folder)
    assert list(read.columns) == list(table.columns)
    assert read[list(version7.ADDED)].isna().all().all()
    assert read.loc[with_detector, version7.PATH].isna().all()
    assert (read.loc[~with_detector, version7.PATH] == 0.0).all()
    runs = [parse_run(json.loads(path.read_text())) for path in bench.store.run_files()]
    handshake_table.write(handshake_table.frame(runs), bench.store.folder)
    assert verify_campaign(bench.store.folder).problems == ()
