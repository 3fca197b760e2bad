# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import time

import pytest
from workload.relay import Relay

from pqc_mav_bench.options import WorkloadOptions
from pqc_mav_bench.workload.process import WorkerError, WorkerProcess
from pqc_mav_bench.workload.spec import EndSpec
from pqc_mav_common.waiting import wait_until


def spec(side: str, address: str, **workload: object) -> EndSpec:
    return EndSpec(side=side, address=address, run=7, shared_clock=True, workload=WorkloadOptions(**workload))


@pytest.fixture(scope="module")
def workers():
    pair = WorkerProcess(), WorkerProcess()
    yield pair
    for worker in pair:
        worker.close()


def run(workers, relay: Relay, seconds: float, **workload: object) -> tuple[dict, dict]:
    drone, ground = workers
    ground.start(spec("gcs", relay.ground, **workload))
    drone.start(spec("drone", relay.drone, **workload))
    time.sleep(seconds)
    sent_up = ground.quiet()
    if workload["kind"] == "bulk":
        drone.quiet()
    of_drone = drone.stop(sent_up)
    assert sent_up <= of_drone["received"] or relay.dropped
    return of_drone, ground.stop(of_drone["sent"])


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_bulk_packets_are_all_counted_at_the_other_end(workers, direction):
    with Relay() as relay:
        drone, ground = run(workers, relay, 0.6, kind="bulk", direction=direction, mbps=2.0, echo_every=5)
    assert drone["received"] == ground["sent"]
    assert ground["received"] == drone["sent"]
    assert (ground["sent"] > 100) == (direction in ("up", "both"))
    assert (drone["sent"] > 100) == (direction in ("down", "both"))
    source, sink = (drone, ground) if direction == "down" else (ground, drone)
    assert source["rtt"]["count"] >= source["sent"] // 5
    assert sink["owd"]["count"] == source["sent"]
    assert 0 < sink["owd"]["p50_ms"] <= sink["owd"]["p95_ms"] <= sink["owd"]["max_ms"] < 1000
    assert drone["duplicates"] == ground["duplicates"] == 0


def test_lost_and_repeated_packets_are_told_apart(workers):
    with Relay(drop_every=10, repeat_every=7) as relay:
        drone, ground = run(workers, relay, 0.6, kind="bulk", direction="down", mbps=2.0, echo_every=1000)
    assert ground["received"] == drone["sent"] - relay.dropped
    assert ground["duplicates"] == relay.repeated > 0


def test_mavlink_runs_both_ways_and_every_message_is_counted(workers):
    with Relay() as relay:
        drone, ground = run(workers, relay, 1.0, kind="mavlink", messages_per_s=320)
    assert ground["received"] == drone["sent"] > 100
    assert drone["received"] == ground["sent"] > 100
    assert ground["sequence_gaps"] == drone["sequence_gaps"] == 0
    assert ground["rtt"]["count"] > 3
    assert ground["owd"]["count"] > 10
    assert drone["owd"]["count"] > 3
    assert drone["sent_by_type"]["HEARTBEAT"] >= 1


def test_a_worker_serves_run_after_run(workers):
    with Relay() as relay:
        for _ in range(2):
            drone, ground = run(workers, relay, 0.2, kind="bulk", direction="down", mbps=1.0)
            assert ground["received"] == drone["sent"] > 0


def test_what_cannot_be_done_is_refused_with_the_reason(workers):
    drone, _ = workers
    with pytest.raises(WorkerError, match="'stop' without traffic"):
        drone.stop()
    with pytest.raises(WorkerError, match="no address"):
        drone.start(spec("drone", "nowhere", kind="bulk"))


def test_a_worker_that_died_is_an_error_and_then_replaced(workers):
    drone, _ = workers
    with Relay() as relay:
        drone.start(spec("drone", relay.drone, kind="bulk"))
        os.kill(drone.pid, signal.SIGKILL)
        assert wait_until(lambda: not drone.pid, 10)
        with pytest.raises(WorkerError):
            drone.stop()
        assert drone.pid != 0 or drone._ensure()
        drone.start(spec("drone", relay.drone, kind="bulk"))
        assert drone.pid
        drone.stop()
