# SPDX-License-Identifier: Apache-2.0
"""Campaigns with faults: nothing measured is lost, the campaign goes on or stops with a sentence, and can resume."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from support import OPTIONS, SUITES, Bench, handshake, side

from pqc_mav_bench import campaign as campaign_module
from pqc_mav_bench import repeated_runs, tidy
from pqc_mav_bench.archive import archive
from pqc_mav_bench.errors import AgentLostError, AgentTakenError, StoppedError, StoreError
from pqc_mav_bench.export import export
from pqc_mav_bench.options import options_from
from pqc_mav_bench.plan import resumed_campaign
from pqc_mav_bench.schedule import State
from pqc_mav_bench.store import CampaignStore, controller_lock
from pqc_mav_bench.verify import verify_campaign


def names(verdict) -> set[str]:
    return {problem.name for problem in verdict.problems}


def test_a_clean_campaign_measures_everything_and_verifies(tmp_path):
    bench = Bench(tmp_path)
    assert bench.run()
    verdict = verify_campaign(bench.store.folder)
    assert verdict.problems == ()
    assert (verdict.runs, verdict.hashes) == (3, 7)
    assert bench.ground.times_kept == 3
    manifest = bench.store.manifest()
    assert manifest["complete"]
    assert manifest["counts"] == {"total": 3, "pending": 0, "passed": 3, "failed": 0}
    assert sorted(tidy.read(bench.store.folder)["suite"]) == sorted(SUITES)
    phases = [state.phase for state in bench.progress]
    assert phases[:5] == ["clock_sync", "activate", "traffic", "collect", "save"]
    assert (bench.progress[-1].done, bench.progress[-1].passed, bench.progress[-1].remaining_s) == (3, 3, 0.0)
    assert (tmp_path / "runs").resolve() == (bench.store.folder / "runs").resolve()


def test_a_suite_that_always_fails_is_recorded_and_the_others_go_on(tmp_path):
    bench = Bench(tmp_path)
    bench.drone.refuses = {"cs-b": "The gcs refused the suite."}
    bench.drone.reports = [handshake("cs-b", ok=False, error="bad_signature", reason="The signature is wrong.")]
    assert bench.run()
    failed = next(item for item in bench.schedule.items if item.suite == "cs-b")
    assert bench.schedule.state(failed) is State.FAILED
    assert bench.schedule.tries(failed) == 2
    assert bench.store.manifest()["counts"]["passed"] == 2
    run = bench.store.load_run(failed)
    assert (run.lifecycle.failure_phase, run.lifecycle.failure_reason) == ("activate", "The gcs refused the suite.")
    assert run.validation.handshake_auth_fail
    assert "handshake_auth_fail" in {finding.name for finding in run.findings}
    assert run.metric_status["lifecycle.traffic_s"].status == "failed"
    assert verify_campaign(bench.store.folder).problems == ()
    assert any("cs-b" in line and "failed" in line for line in bench.log)


def test_a_run_that_fails_is_ended_on_the_ground_too(tmp_path):
    bench = Bench(tmp_path, suites=("cs-a",))
    bench.drone.refuses = {"cs-a": "The gcs refused the suite."}
    assert bench.run()
    assert bench.ground.calls == ["start cs-a", "abort cs-a"] * OPTIONS.attempts


def test_a_campaign_stopped_in_traffic_is_ended_on_the_ground_too(tmp_path):
    bench = Bench(tmp_path, suites=("cs-a",))
    bench.drone.begin_window = bench.stop.set
    with pytest.raises(StoppedError):
        bench.run()
    assert (bench.drone.aborted, bench.ground.calls) == (1, ["start cs-a", "abort cs-a"])


def test_an_agent_that_dies_in_a_run_and_comes_back_costs_that_try_only(tmp_path):
    bench = Bench(tmp_path)
    bench.ground.dies_at, bench.ground.deaths = "cs-b", 1
    assert bench.run()
    assert bench.schedule.counts().completed == 3
    assert bench.ground.calls.count("start cs-b") == 2
    assert bench.drone.aborted == 1
    assert any("The agent is lost" in line for line in bench.log)
    assert verify_campaign(bench.store.folder).problems == ()


def test_a_run_that_kills_the_agent_again_and_again_fails_alone(tmp_path):
    bench = Bench(tmp_path)
    bench.ground.dies_at, bench.ground.deaths = "cs-b", 99
    assert bench.run()
    assert (bench.schedule.counts().completed, bench.schedule.counts().failed) == (2, 1)


def test_an_agent_that_stays_away_stops_the_campaign_which_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign_module, "AGENT_BACK_S", 0.0)
    options = options_from({**OPTIONS.model_dump(), "randomise": False})
    bench = Bench(tmp_path, options=options)
    bench.ground.dies_at, bench.ground.deaths, bench.ground.comes_back = "cs-b", 1, False
    with pytest.raises(AgentLostError, match="start it and resume"):
        bench.run()
    assert bench.store.manifest()["counts"] == {"total": 3, "pending": 2, "passed": 1, "failed": 0}
    assert verify_campaign(bench.store.folder).problems == ()
    again = Bench(tmp_path, options=options)
    assert again.run()
    assert again.ground.calls == ["start cs-b", "start cs-c"]


def test_an_agent_that_another_controller_holds_is_waited_for_and_costs_no_try(tmp_path, monkeypatch):
    bench = Bench(tmp_path, suites=("cs-a",))
    bench.ground.taken = 3 * OPTIONS.attempts
    assert bench.run() and bench.schedule.counts().completed == 1
    monkeypatch.setattr(campaign_module, "TAKEN_S", 0.0)
    other = Bench(tmp_path, "other", suites=("cs-a",))
    other.ground.taken = 99
    with pytest.raises(AgentTakenError, match="another controller"):
        other.run()
    assert other.schedule.counts().pending == 1


@pytest.mark.parametrize("when", ["before the file", "before the state"])
def test_whatever_the_moment_a_kill_loses_at_most_the_run_in_hand(tmp_path, monkeypatch, when):
    """A kill is an exception that nothing handles, at the two moments that matter."""

    class Killed(BaseException):
        pass

    bench = Bench(tmp_path)
    done = 0

    def kill(*_arguments: object) -> None:
        nonlocal done
        done += 1
        if done == 2:
            raise Killed
        return original(*_arguments)

    target = "save_run" if when == "before the file" else "save_state"
    original = getattr(bench.store, target)
    if target == "save_state":
        done = -1  # the first is at the campaign's start
    monkeypatch.setattr(bench.store, target, kill)
    monkeypatch.setattr(campaign_module, "finish", lambda *_: None)
    with pytest.raises(Killed):
        bench.run()
    monkeypatch.undo()
    again = Bench(tmp_path)
    assert again.schedule.counts().completed == 1
    assert again.run()
    assert len(again.ground.calls) == 2
    assert verify_campaign(again.store.folder).problems == ()


def test_a_completed_run_whose_file_was_damaged_is_measured_again(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    damaged, gone = bench.schedule.items[0], bench.schedule.items[1]
    bench.store.metrics_path(damaged).write_text('{"schema_version": "1.0", "run_con')
    bench.store.metrics_path(gone).unlink()
    assert names(verify_campaign(bench.store.folder)) >= {"unreadable", "missing_run", "missing_file", "table"}
    again = Bench(tmp_path)
    assert set(again.lost) == {damaged, gone}
    assert again.run()
    assert len(again.ground.calls) == 2
    assert verify_campaign(again.store.folder).problems == ()


def test_a_lost_run_is_listed_once_however_often_a_resume_comes_to_no_run(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    gone = bench.schedule.items[1]
    bench.store.metrics_path(gone).unlink()
    said = list[str]()
    for _ in range(2):
        resumed_campaign(bench.store.folder, said.append)
    assert [each.item for each in repeated_runs.listed(bench.store.manifest())] == [gone]
    assert len(said) == 1
    again = Bench(tmp_path)
    assert again.run() and again.ground.calls == [f"start {gone.suite}"]


def test_the_ground_clock_a_day_ahead_is_a_finding_and_touches_no_delay(tmp_path):
    bench = Bench(tmp_path)
    day_ns = 86_400_000_000_000
    bench.ground.clock_ahead_ns, bench.ground.wall_ahead_ns, bench.ground.clock_id = day_ns, day_ns, "other"
    assert bench.run()
    run = bench.store.load_run(bench.schedule.items[0])
    assert run.clock_sync.offset_ms == pytest.approx(86_400_000, rel=1e-9)
    assert run.clock_sync.wall_clock_difference_s == pytest.approx(86_400, abs=1)
    assert [finding.name for finding in run.findings] == ["clocks_apart"]
    assert run.validation.passed
    assert run.clock_sync.agent_delay_ms < 1000
    assert run.run_context.same_host is False
    assert run.metric_status["latency_jitter.owd_up_p50_ms"].status == "unavailable"


def test_a_full_disk_stops_the_campaign_and_room_lets_it_go_on(tmp_path):
    """On a file system that really is full."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    mount = tmp_path / "small"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"no tmpfs here: {done.stderr.decode().strip()}")
    try:
        bench = Bench(mount)
        ballast = mount / "ballast"
        original = bench.ground.start_suite

        def fill(suite, workload):
            if len(bench.ground.calls) == 1:
                with ballast.open("wb") as file:
                    while shutil.disk_usage(mount).free:
                        file.write(bytes(shutil.disk_usage(mount).free))
                        file.flush()
            return original(suite, workload)

        bench.ground.start_suite = fill
        with pytest.raises(StoreError, match="disk is full"):
            bench.run()
        assert not list(mount.glob("**/.*.new"))
        ballast.unlink()
        again = Bench(mount)
        assert again.schedule.counts().completed == 1
        assert again.run()
        assert verify_campaign(again.store.folder).problems == ()
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def test_two_controllers_cannot_use_one_root(tmp_path):
    refused = pytest.raises(StoreError, match=rf"Another controller \(process {os.getpid()}\)")
    with controller_lock(tmp_path), refused, controller_lock(tmp_path):
        pass
    with controller_lock(tmp_path):
        pass


def test_a_missing_ground_side_is_a_finding(tmp_path):
    bench = Bench(tmp_path)
    bench.ground.changes = {"handshakes": [], "system": {}, "network": {}, "link": {}}
    assert bench.run()
    run = bench.store.load_run(bench.schedule.items[0])
    assert run.handshake.gcs_handshake_ms is None
    status = run.metric_status["handshake.gcs_handshake_ms"]
    assert (status.status, status.reason) == ("unavailable", "the agent on the ground did not report it")
    assert verify_campaign(bench.store.folder).problems == ()


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda d: d["handshake"].update(handshake_ms=1.0), "hash"),
        (lambda d: d.update(schema_version="99.0"), "schema"),
        (lambda d: d["handshake"].update(extra=1), "schema"),
    ],
)
def test_a_tampered_file_is_found(tmp_path, change, problem):
    bench = Bench(tmp_path)
    bench.run()
    path = bench.store.metrics_path(bench.schedule.items[0])
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    assert problem in names(verify_campaign(bench.store.folder))


def test_a_tampered_manifest_is_found(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    path: Path = bench.store.folder / "campaign.json"
    path.write_text(path.read_text().replace('"passed": 3', '"passed": 2'))
    assert names(verify_campaign(bench.store.folder)) == {"hash"}


def test_a_tampered_table_is_found(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    table = tidy.read(bench.store.folder)
    table.loc[0, "handshake.handshake_ms"] = 1.0
    tidy.write(table, bench.store.folder)
    assert names(verify_campaign(bench.store.folder)) == {"table"}


def test_a_run_in_which_the_benchmark_took_too_much_is_measured_again(tmp_path):
    greedy = {"system": {**side("x", "drone")["system"], "bench_cpu_percent": 43.0}}
    bench = Bench(tmp_path, "greedy", suites=("cs-a",))
    bench.drone.changes = greedy
    assert bench.run()
    kept = repeated_runs.listed(bench.store.manifest())
    assert [each.reason for each in kept] == ["The benchmark's own controller took 43 % of a core."]
    assert [finding.name for finding in bench.store.load_run(bench.schedule.items[0]).findings] == ["bench_busy"]


def test_what_failed_before_it_passed_is_kept_with_its_reason(tmp_path):
    bench = Bench(tmp_path, suites=("cs-a",))
    begin = bench.drone.begin

    def first_fails(suite: str, handshakes: int) -> None:
        bench.drone.refuses = {} if bench.log else {"cs-a": "Busy."}
        begin(suite, handshakes)

    bench.drone.begin = first_fails
    assert bench.run()
    (first,) = repeated_runs.listed(bench.store.manifest())
    assert first.reason == "It failed: Busy." and first.file.endswith("cs-a/repetition-01-attempt-1.json")
    out = tmp_path / "out"
    export(bench.store, out)
    assert f"  * {first.item.name}: It failed: Busy." in (out / "summary.md").read_text()
    assert repeated_runs.files(CampaignStore(out)) == repeated_runs.files(bench.store)
    archive(CampaignStore(out), tmp_path / "data.tar.gz")
    with tarfile.open(tmp_path / "data.tar.gz") as tar:
        assert f"campaign/{first.file}" in tar.getnames()
    for folder, name in ((bench.store.folder, first.file), (out, f"{first.file}.gz")):
        assert verify_campaign(folder).problems == ()
        (folder / name).unlink()
        assert names(verify_campaign(folder)) == {"repeated"}


def test_a_run_on_a_busy_machine_is_measured_again_and_its_last_attempt_is_kept(tmp_path):
    busy = {"system": {**side("x", "drone")["system"], "cpu_mean_percent": 90.0, "cpu_peak_percent": 95.0}}
    bench = Bench(tmp_path, "once", suites=("cs-a",))
    begin = bench.drone.begin

    def first_run_is_busy(suite: str, handshakes: int) -> None:
        begin(suite, handshakes)
        bench.drone.changes = busy if not bench.log else {}

    bench.drone.begin = first_run_is_busy
    assert bench.run()
    assert bench.store.load_run(bench.schedule.items[0]).findings == []
    why = "did something else for 83 % of its processor time."
    assert f"{why} It is measured again." in bench.log[0]
    (first,) = repeated_runs.listed(bench.store.manifest())
    assert first.item == bench.schedule.items[0] and first.reason.endswith(why)
    assert verify_campaign(bench.store.folder).problems == ()
    assert len(tidy.read(bench.store.folder)) == 1, "no table has it"
    always = Bench(tmp_path, "always", suites=("cs-a",))
    always.drone.changes = busy
    assert always.run()
    assert [finding.name for finding in always.store.load_run(always.schedule.items[0]).findings] == ["machine_busy"]
    assert len(always.log) == OPTIONS.attempts
    assert "The run is kept" in always.log[-1]
    assert verify_campaign(always.store.folder).problems == ()
