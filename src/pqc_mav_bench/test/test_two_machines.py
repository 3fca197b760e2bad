# SPDX-License-Identifier: Apache-2.0
"""The recipe for two machines, as the README gives it: two network namespaces with names and clocks of their own.

Between them is a cable, or a link that delays and loses frames. Both are in one ROS domain, by which controller and
agent find each other; everything else of either machine stays in its own namespace.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_bench.store import CampaignStore
from pqc_mav_bench.verify import verify_campaign
from pqc_mav_sim.impairment import netns
from pqc_mav_sim.impairment.described import described
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.tap import open_tap

CLOCK_AHEAD_S = 5000
DELAY_MS = 10
BAD_LINK = f"{DELAY_MS}ms 1% 10Mbit"
LIMIT_S = 150.0
GROUND, DRONE = "10.99.0.1", "10.99.0.2"
pytest.importorskip(
    "pqc_mav_cli", reason="the command is a package above this one, which colcon leaves out of its tests"
)
PROGRAM = "import sys; from pqc_mav_cli.app import main; sys.exit(main(sys.argv[1:]))"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="two machines need root and iproute2"),
]


class Machine:
    """A network namespace, a host name and, for the drone, a monotonic clock that is ahead."""

    def __init__(self, name: str, address: str, ahead_s: int) -> None:
        self.space = f"pqcmav-{name}-{os.getpid()}"
        self.name, self.address, self.ahead_s = name, address, ahead_s
        self.running: list[subprocess.Popen[str]] = []
        _ip("netns", "add", self.space)

    def attach(self, interface: str) -> None:
        _ip("-n", self.space, "address", "add", f"{self.address}/24", "dev", interface)
        for each in (interface, "lo"):
            _ip("-n", self.space, "link", "set", each, "up")
        _ip("-n", self.space, "route", "add", "224.0.0.0/4", "dev", interface)  # by which DDS finds its peers

    def start(self, log: Path, *arguments: str) -> subprocess.Popen[str]:
        clock = ["--time", "--monotonic", str(self.ahead_s), "--boottime", str(self.ahead_s)] if self.ahead_s else []
        inside = ["ip", "netns", "exec", self.space, "unshare", "--uts", *clock, "sh", "-c"]
        command = [f'hostname {self.name}; exec "$@"', "sh", sys.executable, "-c", PROGRAM, *arguments]
        environment = {
            **os.environ,
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
            "ROS_DOMAIN_ID": "77",
            "PYTHONFAULTHANDLER": "1",
        }
        for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):  # the latter from Kilted on
            environment.pop(name, None)
        with log.open("w") as out:
            made = subprocess.Popen([*inside, *command], env=environment, stdout=out, stderr=out, text=True)
        self.running.append(made)
        return made

    def close(self) -> None:
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
        for process in self.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        _ip("netns", "delete", self.space)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def _tap(space: str, name: str) -> int:
    """An interface of a namespace whose wire is a descriptor here."""
    made: list[int] = []

    def inside() -> None:
        with Path("/run/netns", space).open() as place:
            netns.enter(place.fileno())
        made.append(open_tap(name))

    thread = threading.Thread(target=inside)  # a namespace is entered by a thread, which ends there
    thread.start()
    thread.join()
    return made[0]


class BadLink:
    """Carries the frames of the two machines in user space, for not every kernel has netem."""

    def __init__(self, ground: Machine, drone: Machine, words: str) -> None:
        taps = [_tap(ground.space, "to-drone"), _tap(drone.space, "to-ground")]
        command = [sys.executable, "-m", "pqc_mav_sim.impairment", *map(str, taps), "--seed", "1"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, pass_fds=taps, text=True, **pipes)
        for tap in taps:
            os.close(tap)
        self.tell(impair=described(words))

    def tell(self, **command: object) -> dict:
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["ok"], answer
        return answer["counters"]

    def close(self) -> None:
        self._process.communicate(timeout=20)  # it ends with its input


@pytest.fixture
def machines() -> Iterator[tuple[Machine, Machine]]:
    ground, drone = Machine("ground", GROUND, 0), Machine("drone", DRONE, CLOCK_AHEAD_S)
    try:
        yield ground, drone
    finally:
        drone.close()
        ground.close()


@pytest.fixture
def cable(machines: tuple[Machine, Machine]) -> None:
    ground, drone = machines
    _ip("-n", ground.space, "link", "add", "to-drone", "type", "veth", "peer", "name", "to-ground")
    _ip("-n", ground.space, "link", "set", "to-ground", "netns", drone.space)
    ground.attach("to-drone")
    drone.attach("to-ground")


@pytest.fixture
def bad_link(machines: tuple[Machine, Machine]) -> Iterator[BadLink]:
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("a bad link needs /dev/net/tun")
    ground, drone = machines
    made = BadLink(ground, drone, BAD_LINK)
    try:
        ground.attach("to-drone")
        drone.attach("to-ground")
        yield made
    finally:
        made.close()


def _wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while words not in log.read_text():
        assert time.monotonic() < deadline, f"no '{words}' in {log.read_text()[-2000:]}"
        time.sleep(0.1)


WITHOUT_POOL = ("--key-pool-depth", "0")


def campaign(
    machines: tuple[Machine, Machine], tmp_path: Path, pool: tuple[str, ...] = WITHOUT_POOL, code: int = 0
) -> tuple[CampaignStore, RunMetrics, str]:
    """The recipe, with the controller's exit code; what it measured, and what the controller said."""
    ground, drone = machines
    keys, logs = tmp_path / "keys", {name: tmp_path / f"{name}.log" for name in ("keys", "gcs", "drone", "agent", "c")}
    assert ground.start(logs["keys"], "keys", "init", "drone1", "--root", str(keys)).wait(60) == 0
    served = ("--keys", str(keys / "gcs"), "--drones", "drone1", *pool)
    ground.start(logs["gcs"], "up", "gcs", *served)
    # With its policy in auto, as everybody starts it: the controller takes it out of the way.
    given = ("--keys", str(keys / "drones" / "drone1"), "--drone-id", "drone1", "--peer", GROUND)
    drone.start(logs["drone"], "up", "drone", *given)
    _wait_for(logs["drone"], "-> UP")
    ground.start(logs["agent"], "bench", "run", "--role", "agent")
    _wait_for(logs["agent"], "agent for")
    options = ("--suite", "ML-1024-AG-FA-1024", "--handshakes", "6", "--duration", "3", "--attempts", "1")
    asked = ("bench", "run", "--role", "controller", "--root", str(tmp_path / "root"), "--name", "c", *options)
    controller = drone.start(logs["c"], *asked)
    try:
        ended = controller.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        controller.send_signal(signal.SIGABRT)  # of which Python says where each thread is
        ended = controller.wait(LIMIT_S)
    assert ended == code, logs["c"].read_text()[-9000:]
    store = CampaignStore.open(tmp_path / "root" / "c")
    return store, store.load_run(store.load_schedule()[0].items[0]), logs["c"].read_text()


@pytest.mark.usefixtures("cable")
def test_a_campaign_of_two_machines_measures_the_suite_it_says(machines, tmp_path):
    store, run, said = campaign(machines, tmp_path)
    assert "/drone/pqc_policy is on hold during the campaign; it was in mode auto." in said
    context = run.run_context
    assert (context.host, context.gcs_host) == ("drone", "ground")
    assert (context.same_host, context.same_clock) == (True, False)
    assert run.clock_sync.offset_ms == pytest.approx(-1000 * CLOCK_AHEAD_S, abs=1000)
    assert run.handshake.handshakes == 6
    assert run.latency_jitter.owd_up_p50_ms is None, "MAVLink's time stamps need one clock"
    assert run.metric_status["latency_jitter.owd_up_p50_ms"].status == "unavailable"
    assert run.latency_jitter.rtt_count
    assert verify_campaign(store.folder).problems == ()


@pytest.mark.usefixtures("cable")
def test_a_ground_that_has_key_pairs_ready_as_in_the_field_fails_the_run(machines, tmp_path):
    store, run, said = campaign(machines, tmp_path, pool=(), code=1)
    assert (run.lifecycle.success, run.lifecycle.failure_phase) == (False, "traffic")
    assert "of 6 handshakes the ground's proxy took a key pair" in (run.lifecycle.failure_reason or "")
    assert "'pqcmav up gcs --key-pool-depth 0'" in said
    assert verify_campaign(store.folder).problems == ()


def test_a_bad_link_between_two_machines_is_in_the_figures(machines, bad_link, tmp_path):
    store, run, _ = campaign(machines, tmp_path)
    assert run.handshake.handshakes == 6
    assert run.handshake.handshake_low_ms >= 4 * DELAY_MS, "two round trips"
    assert run.latency_jitter.rtt_p50_ms >= 2 * DELAY_MS
    assert run.clock_sync.round_trip_ms >= 2 * DELAY_MS
    assert run.clock_sync.offset_ms == pytest.approx(-1000 * CLOCK_AHEAD_S, abs=1000)
    counted = bad_link.tell(counters=True)
    for way in (A_TO_B, B_TO_A):
        assert any(sum(kinds.values()) for kinds in counted[way]["lost"].values()), f"no frame was lost {way}"
    assert verify_campaign(store.folder).problems == ()
