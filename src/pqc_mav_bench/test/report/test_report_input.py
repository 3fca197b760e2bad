# SPDX-License-Identifier: Apache-2.0
"""Every figure of a campaign says how it was measured: N, machine, command, commit."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pandas as pd
import pytest
from support import OPTIONS, Bench

from pqc_mav_bench.options import options_from
from pqc_mav_bench.report.frame import limitations, summary
from pqc_mav_bench.report.repeated import irregular, irregular_sentence
from pqc_mav_bench.report.report_input import ReportError, campaign_line, load

COMMIT = "0123456789ab" + 28 * "c"
ASKED = "pqcmav bench run --suite cs-a --suite cs-b --suite cs-c --duration 0.5"


def line(bench, source=None):
    """What the campaign says of itself, with other sources."""
    if source is not None:
        bench.store.save_manifest({**bench.store.manifest(), "source": source})
    return campaign_line(bench.store.folder, load(bench.store.folder).runs)


def test_n_machine_command_and_commit_are_in_the_line(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    said = line(bench, {"commit": COMMIT, "changed": False})
    assert said == f"Measured (c): N = 3 runs with one handshake each; test machine; {ASKED}; commit 0123456789ab"
    assert line(bench, {"commit": COMMIT, "changed": True}) == f"{said}, with changes"
    assert {source.about for source in load(bench.store.folder).sources} == {f"{said}, with changes"}


def test_only_runs_that_passed_are_counted_and_handshakes_are_named(tmp_path):
    options = options_from({**OPTIONS.model_dump(), "attempts": 1, "machine_name": ""})
    bench = Bench(tmp_path, options=options)
    bench.drone.refuses = {"cs-b": "no"}
    bench.run()
    said = line(bench, {"commit": COMMIT})
    assert "N = 2 runs with one handshake each; machine not named; " in said
    several = {**bench.store.manifest(), "options": {**options.model_dump(mode="json"), "handshakes": 30}}
    bench.store.save_manifest(several)
    assert "N = 2 runs with 30 handshakes each" in line(bench) and "--handshakes 30" in line(bench)


def test_a_campaign_of_unknown_sources_says_since_when_it_is_kept(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    assert line(bench, {}).endswith("; commit not recorded")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "c/campaign.json"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    kept = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    assert line(bench).endswith(f"; commit not recorded; kept since {kept[:12]}")


@pytest.mark.parametrize("damage", [{"options": {"dwell": 3}}, {"options": None}])
def test_without_its_options_nothing_is_claimed(tmp_path, damage):
    bench = Bench(tmp_path)
    bench.run()
    runs = load(bench.store.folder).runs
    bench.store.save_manifest({**bench.store.manifest(), **damage})
    assert campaign_line(bench.store.folder, runs) == ""
    assert campaign_line(tmp_path, runs) == "", "no campaign at all"


def test_a_run_that_left_no_file_is_counted_and_listed_with_its_reason(tmp_path):
    bench = Bench(tmp_path)
    bench.ground.dies_at, bench.ground.deaths = "cs-b", 99
    bench.run()
    found = load(bench.store.folder)
    lines = summary(found)
    assert lines[0].startswith("3 cipher suites in 1 scenario (Baseline): 3 runs, 2 passed.")
    assert lines[-1] == "Failed in at least one run: cs-b."
    (row,) = irregular(found).to_dict("records")
    assert row["Suite"] == "cs-b"
    assert row["Why it is here"] == (
        "did not pass: left out of all figures, for this reason: The agent was lost 3 times during this run. (not kept)"
    )
    assert irregular_sentence(found).startswith("1 run did not pass and is left out")


def test_a_scenario_without_a_run_that_passed_is_among_those_whose_runs_are_counted(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    found = load(bench.store.folder)
    failed = found.runs.assign(scenario="xgboost", passed=False)
    (first, *_) = summary(replace(found, runs=pd.concat([found.runs, failed])))
    assert first.startswith("3 cipher suites in 2 scenarios (Baseline and + XGBoost): 6 runs, 3 passed.")


def test_half_a_campaign_says_so(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    assert not any("not complete" in line for line in limitations(load(bench.store.folder)))
    manifest = bench.store.manifest()
    for counts, missing in (({"pending": 4}, "4 runs of its plan are"), (None, "some runs of its plan are")):
        bench.store.save_manifest({**manifest, "complete": False, "counts": counts})
        said = f"The campaign is not complete: {missing} still to be measured."
        assert limitations(load(bench.store.folder))[0] == said


def test_a_damaged_list_of_failures_is_an_error_in_one_sentence(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    bench.store.save_manifest({**bench.store.manifest(), "failures": [{"run": "cs-b"}]})
    with pytest.raises(ReportError, match="the list of failures is damaged"):
        load(bench.store.folder)
