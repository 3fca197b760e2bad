# SPDX-License-Identifier: Apache-2.0
"""Campaigns of version 7 said that a detector takes no memory, which nobody had measured: they load without it."""

from __future__ import annotations

import json

import pytest
from support import OPTIONS, Bench, as_recorded, measured, recorded_by

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.options import options_from
from pqc_mav_bench.schema import version7
from pqc_mav_bench.schema.run import parse_run
from pqc_mav_bench.verify import verify_campaign, verify_run

CATEGORY, _, NAME = version7.PATH.partition(".")


def recorded(document: dict) -> dict:
    """The document as version 7 would have written and signed it."""
    out = recorded_by(version7.VERSION, document)
    if out["workload"]["scenario_load"] == version7.DETECTOR:
        out[CATEGORY][NAME] = 0.0
        out["metric_status"][version7.PATH] = {"status": "zero_by_nature", "reason": "the baseline scenario has none"}
    out["integrity"]["sha256"] = run_sha256(out)
    return out


def test_a_run_with_a_detector_has_no_such_memory_and_says_why():
    now, _ = measured(scenario="tst")
    document = recorded(now.model_dump(mode="json"))
    assert document[CATEGORY][NAME] == 0.0
    run, problems = verify_run(document, "metrics.json")
    assert problems == []
    assert run.value(version7.PATH) is None
    assert run.metric_status[version7.PATH].reason == version7.REASON


@pytest.mark.parametrize(("scenario", "emulated", "memory"), [("baseline", False, 0.0), ("tst", True, 489.0)])
def test_without_a_detector_it_stays(scenario, emulated, memory):
    run, _ = measured(scenario=scenario, options=options_from({**OPTIONS.model_dump(), "emulate_detectors": emulated}))
    assert parse_run(recorded(run.model_dump(mode="json"))).value(version7.PATH) == memory


def test_a_campaign_verifies_and_its_table_has_no_such_memory_either(tmp_path):
    bench = Bench(tmp_path, options=options_from({**OPTIONS.model_dump(), "scenarios": ["baseline", "tst"]}))
    bench.run()
    table = tidy.read(bench.store.folder)
    hashes = as_recorded(bench.store, recorded)
    old = table.assign(metrics_sha256=hashes).drop(columns=[version7.FOLLOWING, "system_gcs.load_rss_mib"])
    with_detector = old[version7.LOAD] == version7.DETECTOR
    assert with_detector.any() and not with_detector.all()
    old[version7.PATH] = old[version7.PATH].mask(with_detector, 0.0)
    tidy.write(old, bench.store.folder)
    read = tidy.read(bench.store.folder)
    assert read.loc[with_detector, version7.PATH].isna().all()
    assert (read.loc[~with_detector, version7.PATH] == 0.0).all()
    runs = [parse_run(json.loads(path.read_text())) for path in bench.store.run_files()]
    handshake_table.write(handshake_table.frame(runs), bench.store.folder)
    assert verify_campaign(bench.store.folder).problems == ()
