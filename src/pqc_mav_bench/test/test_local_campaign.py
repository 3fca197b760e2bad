# SPDX-License-Identifier: Apache-2.0
"""A real campaign on this machine: both proxies, vehicle, ground client, agent and controller."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pqc_mav_bench.link_presets import PRESETS
from pqc_mav_bench.report.report_input import load
from pqc_mav_bench.store import CampaignStore, controller_lock
from pqc_mav_bench.verify import verify_campaign

main = pytest.importorskip(
    "pqc_mav_cli.app", reason="the command is a package above this one, which colcon leaves out of its tests"
).main
SUITES = ("ML-512-AG-MD-44", "ML-768-AS-MD-65", "ML-1024-CP-MD-87")
LIMIT_S = 120.0
PROGRAM = "import sys; from pqc_mav_cli.app import main; sys.exit(main(sys.argv[1:]))"


def pqcmav(*arguments: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "bench", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(pqcmav(*arguments), capture_output=True, text=True, timeout=LIMIT_S, check=False)


def start(root: Path, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    chosen = [word for suite in SUITES for word in ("--suite", suite)]
    options = ("--root", str(root), "--name", "c", "--duration", "1.5", "--machine", "test")
    return subprocess.Popen(pqcmav("run", *options, *chosen), stdout=output, stderr=output)


def states(root: Path) -> list[str]:
    try:
        return [entry["state"] for entry in json.loads((root / "c/state.json").read_text())["runs"]]
    except (OSError, ValueError):
        return []


def wait_for(condition, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert process.poll() is None, "the benchmark ended"
        assert time.monotonic() < deadline, "the campaign does not get on"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_campaign_killed_in_a_run_resumes_completes_and_verifies(tmp_path):
    process = start(tmp_path)
    try:
        wait_for(lambda: "completed" in states(tmp_path), process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = states(tmp_path).count("completed")
    assert 1 <= done < len(SUITES)
    resumed = run("resume", "c", "--root", str(tmp_path))
    assert resumed.returncode == 0, resumed.stderr
    assert "Complete: 3 passed, 0 failed, 0 pending." in resumed.stdout

    folder = tmp_path / "c"
    verdict = verify_campaign(folder)
    assert [str(problem) for problem in verdict.problems] == []
    assert verdict.runs == 3
    store = CampaignStore.open(folder)
    assert store.manifest()["resumed"] == 1
    schedule, _ = store.load_schedule()
    for item in schedule.items:
        metrics = store.load_run(item)
        assert metrics.validation.passed, metrics.findings
        assert metrics.handshake.rekey
        assert metrics.handshake.handshake_ms > 0
        assert metrics.handshake.gcs_handshake_ms > 0
        assert metrics.mavlink_integrity.received_down > 100
        assert metrics.mavlink_integrity.lost_down == metrics.mavlink_integrity.lost_up == 0
        assert metrics.rekey.blackout_packets == 0
        assert metrics.latency_jitter.rtt_count > 5
        assert metrics.system_drone.tunnel_cpu_percent is not None
        assert metrics.system_drone.tunnel_arrangement == metrics.system_gcs.tunnel_arrangement == "inside"
        assert metrics.run_context.host == "test"
    shown = run("show", "c", "--root", str(tmp_path))
    for suite in ("ML-512-AG-MD-44", "ML-1024-CP-MD-87"):
        assert suite in shown.stdout
    assert "complete" in run("list", "--root", str(tmp_path)).stdout

    path = store.metrics_path(schedule.items[0])
    path.write_text(path.read_text().replace('"epoch": ', '"epoch": 1'))
    judged = run("verify", "c", "--root", str(tmp_path))
    assert judged.returncode == 1
    assert "[hash]" in judged.stderr


@pytest.mark.slow
def test_a_second_controller_is_refused_and_leaves_nothing(tmp_path):
    with controller_lock(tmp_path):
        second = run("run", "--root", str(tmp_path), "--name", "d", "--suite", SUITES[0], "--duration", "1")
    assert second.returncode == 1
    assert "Another controller (process" in second.stdout + second.stderr
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    "arguments, words, code",
    [
        (["run", "--suite", "ML-768-AG-MD-6"], "the closest are cs-mlkem768-aesgcm-mldsa65", 2),
        (["run", "--scenario", "storm"], "there is no scenario 'storm'", 2),
        (["verify"], "There is no campaign below", 1),
        (["resume", "nothing"], "no campaign", 1),
        (["show", "nothing"], "no campaign", 1),
        (["primitives", "--only", "rsa"], "no such algorithm", 2),
        (["links", "nowhere", "--link", "wifi"], "--link wifi: there are lan, lte, radio-64k, radio-sik", 2),
    ],
)
def test_refusals_are_one_sentence_with_an_exit_code(tmp_path, capsys, arguments, words, code):
    if arguments[0] != "primitives":
        arguments = [*arguments, "--root", str(tmp_path / "none")]
    assert main(["bench", *arguments]) == code
    said = capsys.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1
    assert not os.path.lexists(tmp_path / "none")


@pytest.mark.slow
def test_a_campaign_that_is_stopped_says_so_and_how_to_go_on(tmp_path):
    process = start(tmp_path, subprocess.PIPE)
    wait_for(lambda: "completed" in states(tmp_path), process)
    process.send_signal(signal.SIGINT)
    said = b"".join(process.communicate(timeout=LIMIT_S)).decode()
    assert process.returncode == 1
    # The controller says so, or, where it is gone before that, the command.
    assert "topped" in said and "'pqcmav bench resume' continues" in said
    assert " is lost" not in said
    assert "pending" in states(tmp_path)


@pytest.mark.slow
def test_renewals_over_an_impaired_link_are_measured_and_verify(tmp_path):
    options = ("--root", str(tmp_path), "--name", "c", "--duration", "2", "--suite", SUITES[0], "--attempts", "1")
    done = run("run", *options, "--handshakes", "6", "--link", "10ms 2% 1Mbit")
    assert done.returncode == 0, done.stderr
    store = CampaignStore.open(tmp_path / "c")
    metrics = store.load_run(store.load_schedule()[0].items[0])
    assert metrics.run_context.link == "10ms 2% 1Mbit"
    assert metrics.handshake.handshakes == 6
    assert metrics.handshake.handshake_low_ms is not None
    assert metrics.handshake.handshake_low_ms >= 40, "two round trips of 20 ms"
    assert (metrics.workload.lost_packets or 0) > 0
    assert verify_campaign(store.folder).problems == ()


@pytest.mark.slow
def test_handshakes_through_serial_radios_are_measured(tmp_path):
    chosen = ("--link", "radio-sik", "--suite", SUITES[0], "--root", str(tmp_path / "root"), "--repetitions", "1")
    done = run("links", str(tmp_path / "links"), *chosen, "--duration", "5", "--handshakes", "2")
    # What the radios held from before the run may arrive in it, which `verify` finds.
    assert "1 passed, 0 failed" in done.stdout, done.stdout + done.stderr
    store = CampaignStore.open(tmp_path / "root" / "links-radio-sik")
    metrics = store.load_run(store.load_schedule()[0].items[0])
    assert metrics.run_context.link == "SiK"
    assert metrics.handshake.handshake_ms is not None
    assert metrics.handshake.handshake_ms > 300, "some 4 kB through 64 kbit/s"


def test_a_link_between_two_machines_cannot_be_chosen(capsys):
    assert main(["bench", "run", "--role", "controller", "--link", "1ms"]) == 2
    assert "the link between two is what it is" in capsys.readouterr().err


@pytest.mark.slow
def test_the_pool_of_the_ground_is_measured_where_it_is_asked_for(tmp_path):
    options = ("--root", str(tmp_path), "--name", "c", "--duration", "1", "--suite", SUITES[2], "--attempts", "1")
    done = run("run", *options, "--handshakes", "6", "--key-pool")
    assert done.returncode == 0, done.stderr
    store = CampaignStore.open(tmp_path / "c")
    metrics = store.load_run(store.load_schedule()[0].items[0])
    assert metrics.crypto_primitives.gcs_keygen_pooled
    assert 1 <= metrics.crypto_primitives.gcs_pooled_handshakes <= 6
    assert verify_campaign(store.folder).problems == ()


@pytest.mark.slow
def test_links_are_measured_one_after_the_other_and_found_by_a_report(tmp_path):
    chosen = ("--link", "lan", "--suite", SUITES[0], "--attempts", "1", "--root", str(tmp_path / "root"))
    asked = (
        "links",
        str(tmp_path / "campaign-links"),
        *chosen,
        "--repetitions",
        "2",
        "--duration",
        "1",
        "--handshakes",
        "6",
    )
    done = run(*asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert verify_campaign(tmp_path / "campaign-links" / "lan").problems == ()
    found = load(tmp_path / "root" / "links-lan", links=False)
    assert (found.raw["run_context.link"] == PRESETS["lan"].words).all()
    assert found.raw["repetition"].tolist() == [1, 2]
    again = run(*asked)
    assert again.returncode == 0 and "Complete: 2 passed" in again.stdout
    other = run(*asked[:-1], "7")
    assert other.returncode == 1
    assert "was begun with another handshakes" in other.stderr
    (tmp_path / "mine").mkdir()
    shutil.copytree(tmp_path / "campaign-links" / "lan", tmp_path / "mine", dirs_exist_ok=True)
    ((preset, campaign),) = load(tmp_path / "mine").links
    assert preset.name == "lan" and campaign.baseline["handshake_ms"].notna().all()
