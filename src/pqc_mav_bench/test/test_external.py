# SPDX-License-Identifier: Apache-2.0
"""A run whose traffic comes from elsewhere: both proxies' counters judge it."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from pymavlink import mavutil
from support import counters, measured

from pqc_mav_bench.analysis.statistics import wilson
from pqc_mav_bench.options import command, options_from
from pqc_mav_bench.store import CampaignStore
from pqc_mav_bench.verify import verify_campaign
from pqc_mav_common.free_ports import free_ports

OPTIONS = options_from({"suites": ["cs-a"], "duration_s": 0.5, "workload": {"kind": "external"}})


def run_with(drone_counts, gcs_counts, seconds=2.0):
    def prepare(drone, ground):
        for end, counts in ((drone, drone_counts), (ground, gcs_counts)):
            end.changes = {"counters": counts, "workload": {}, "counted_s": seconds}

    return measured("cs-a", prepare, OPTIONS)[0]


def test_nothing_lost():
    run = run_with(counters(1000, 50), counters(50, 1000))
    assert run.validation.passed, run.findings
    kept = run.mavlink_integrity
    assert (kept.expected_down, kept.received_down, kept.lost_down, kept.loss_ratio_down) == (1000, 1000, 0, 0.0)
    assert (kept.expected_up, kept.received_up) == (50, 50)
    assert (run.mavproxy_drone.simulated, run.mavproxy_drone.sent_per_s) == (False, 500.0)
    assert run.workload.workload == "external"
    assert run.metric_status["mavlink_integrity.crc_errors_down"].status == "not_applicable"
    assert run.metric_status["latency_jitter.rtt_p50_ms"].status == "not_applicable"
    assert run.workload.loss_wilson_high > 0


def test_every_loss_has_a_counter():
    drone = counters(1000, 50, plain_dropped_no_session=4, plain_dropped_too_big=1, plain_dropped_kernel=2)
    gcs = counters(50, 981, window_skipped=20, window_depth=[8, *[0] * 12], plain_dropped_no_peer=5)
    run = run_with(drone, {**gcs, "delivered": 986, "enc_rx_packets": 991})
    assert run.mavlink_integrity.lost_down == 4 + 1 + 2 + (20 - 8) + 5
    assert run.mavlink_integrity.expected_down == 981 + 24
    assert run.data_plane.gcs_window_classes == {"1": 8}
    assert run.workload.lost_packets == 24
    assert {finding.name for finding in run.findings} == {"packets_lost"}


def test_what_passed_between_two_readings_is_no_loss():
    run = run_with(counters(1000, 50), counters(50, 940))  # 500 a second, counters once a second
    assert run.mavlink_integrity.lost_down == 0
    assert run.validation.passed


def test_a_loss_that_no_counter_knows_fails_the_run():
    run = run_with(counters(10_000, 50), counters(50, 1000), seconds=20.0)
    assert not run.validation.passed
    (found,) = [finding for finding in run.findings if finding.name == "counters_disagree"]
    assert found.fields == ["mavlink_integrity.expected_down"]


@pytest.mark.parametrize(
    ("drone", "gcs", "asks"),
    [
        (counters(0, 50), counters(50, 0), "Does the autopilot send"),
        (counters(50, 0), counters(0, 50), "Does the ground software listen"),
    ],
)
def test_an_end_that_is_silent_fails_the_run_and_says_where_to_look(drone, gcs, asks):
    run = run_with(drone, gcs)
    assert not run.validation.passed
    assert any(asks in finding.message for finding in run.findings)


def test_the_command_says_so():
    assert command(OPTIONS) == "pqcmav bench run --suite cs-a --duration 0.5 --workload external"
    other = options_from({"workload": {"kind": "external", "autopilot_port": 15000, "ground_port": 15001}})
    assert command(other).endswith("--workload external --autopilot-port 15000 --ground-port 15001")


LOSS = 0.05
RATE_HZ = 100.0


class Applications:
    """An autopilot and ground software by pymavlink, which the benchmark neither starts nor reads."""

    def __init__(self, autopilot_port: int, ground_port: int) -> None:
        self._autopilot = mavutil.mavlink_connection(f"udpout:127.0.0.1:{autopilot_port}", source_system=1)
        self._ground = mavutil.mavlink_connection(f"udpin:127.0.0.1:{ground_port}", source_system=255)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._fly, self._watch)]

    def __enter__(self) -> Applications:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._autopilot.close()
        self._ground.close()

    def _fly(self) -> None:
        while not self._ended.wait(1 / RATE_HZ):
            self._autopilot.mav.heartbeat_send(2, 3, 0, 0, 4)
            while self._autopilot.recv_msg() is not None:
                pass

    def _watch(self) -> None:
        while not self._ended.wait(1 / RATE_HZ):
            while self._ground.recv_msg() is not None:
                pass
            if self._ground.target_system:  # it answers whom it has heard
                self._ground.mav.heartbeat_send(6, 8, 0, 0, 4)


@pytest.mark.slow
def test_a_real_run_with_pymavlink_at_both_ends_over_a_bad_link(tmp_path):
    autopilot, ground = free_ports(2)
    words = ("--workload", "external", "--autopilot-port", str(autopilot), "--ground-port", str(ground))
    asked = ("--suite", "ML-512-AG-MD-44", "--link", f"1ms {100 * LOSS:g}%", "--duration", "20", "--attempts", "1")
    where = ("--root", str(tmp_path), "--name", "c", "--machine", "test")
    pytest.importorskip(
        "pqc_mav_cli", reason="the command is a package above this one, which colcon leaves out of its tests"
    )
    program = "import sys; from pqc_mav_cli.app import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "bench", "run", *words, *asked, *where]
    with Applications(autopilot, ground):
        done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    store = CampaignStore.open(tmp_path / "c")
    run = store.load_run(store.load_schedule()[0].items[0])
    assert done.returncode == 0, (run.lifecycle.failure_reason, done.stdout + done.stderr)
    assert {finding.name for finding in run.findings} <= {"packets_lost", "machine_busy", "unexpected_drops"}
    kept = run.mavlink_integrity
    for way in ("down", "up"):
        sent, lost = getattr(kept, f"expected_{way}"), getattr(kept, f"lost_{way}")
        assert sent > 500
        low, high = wilson(lost, sent)
        assert low < 1.5 * LOSS and high > 0.7 * LOSS, (way, lost, sent)
    assert run.mavproxy_drone.simulated is False
    assert run.data_plane.window_missing and run.data_plane.gcs_window_missing
    assert verify_campaign(store.folder).problems == ()
