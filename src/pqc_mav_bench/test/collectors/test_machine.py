# SPDX-License-Identifier: Apache-2.0
"""Network counters, process finding, clock identity, environment."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys

import pqc_mav_tunnel
import pytest

from pqc_mav_bench.collectors import processes
from pqc_mav_bench.collectors.clock_id import clock_id, machine_of
from pqc_mav_bench.collectors.environment import FIELDS, VERSIONS, environment
from pqc_mav_bench.collectors.network import NetworkCollector, difference, interface_towards
from pqc_mav_bench.collectors.processes import EngineProcess, engine_process, is_proxy, proxy_pid
from pqc_mav_bench.schema.run import categories
from pqc_mav_common.free_ports import free_port, own_run_folder
from pqc_mav_common.siblings import MARK
from pqc_mav_common.testing import Running, until
from pqc_mav_common.two_ends import drone_config, gcs_config, write

COMMAND = [
    "/usr/bin/python3",
    "/ws/lib/pqc_mav_proxy/pqc_proxy",
    "--ros-args",
    "-r",
    "__node:=pqc_proxy",
    "-r",
    "__ns:=/drone",
]


def test_loopback_is_the_way_to_this_machine():
    assert interface_towards("127.0.0.1") == "lo"
    assert interface_towards("no.such.host.invalid") == ""


def test_traffic_on_loopback_is_counted():
    collector = NetworkCollector()
    collector.begin("lo")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        sink.bind(("127.0.0.1", 0))
        for _ in range(10):
            source.sendto(bytes(100), sink.getsockname())
    figures = collector.end()
    assert figures["interface"] == "lo"
    assert figures["tx_packets"] >= 10
    assert figures["tx_bytes"] >= 1000


def test_an_interface_that_is_not_there_has_no_figures():
    collector = NetworkCollector()
    collector.begin("")
    assert collector.end() == {"interface": None}


def test_errors_and_drops_of_both_ways_are_added():
    names = ("bytes_recv", "bytes_sent", "packets_recv", "packets_sent", "errin", "errout", "dropin", "dropout")
    delta = difference(dict.fromkeys(names, 1), {name: 10 * (index + 1) for index, name in enumerate(names)})
    assert delta == {"rx_bytes": 9, "tx_bytes": 19, "rx_packets": 29, "tx_packets": 39, "errors": 108, "drops": 148}


def test_a_proxy_is_told_by_program_namespace_and_domain():
    assert is_proxy(COMMAND, {"ROS_DOMAIN_ID": "7"}, "/drone", "7")
    assert is_proxy(COMMAND, {}, "/drone", "0")
    assert not is_proxy(COMMAND, {"ROS_DOMAIN_ID": "8"}, "/drone", "7")
    assert not is_proxy(COMMAND, {"ROS_DOMAIN_ID": "7"}, "/gcs", "7")
    assert not is_proxy(["vi", "x/pqc_proxy.py"], {}, "/drone", "0")


def test_nobody_is_found_where_nobody_runs(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "9999")
    assert proxy_pid("/drone") == 0


@pytest.fixture
def session(tmp_path, monkeypatch):
    """Both ends as a pqcmav-tunneld and an engine of this process; their session."""
    program = shutil.which("pqcmav-tunneld")
    if program is None:
        pytest.skip("pqcmav-tunneld is not on the path: run 'make setup' first")
    with own_run_folder() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        pqc_mav_tunnel.init_keys(str(tmp_path), ["d1"])
        gcs = pqc_mav_tunnel.Engine(gcs_config(str(tmp_path), {"d1": free_port()}, data_port=free_port()))
        gcs.start()
        drone = write(tmp_path / "drone.yaml", drone_config(str(tmp_path), "d1", gcs.ports()["data"]))
        air = Running([program, str(drone)], {MARK: "mine"})
        try:
            until(lambda: gcs.status()[0]["state"] == "UP", "a session")
            yield air, gcs.status()[0]["session_id"]
        finally:
            air.kill()
            gcs.stop()


def test_the_engine_that_carries_the_session_is_measured(session, monkeypatch):
    air, known = session
    monkeypatch.setattr(processes, "proxy_pid", lambda _: os.getpid())
    assert engine_process("/gcs", "gcs", known) == EngineProcess(os.getpid(), "inside")
    assert engine_process("/drone", "drone", known) == EngineProcess(air.process.pid, "attach")
    monkeypatch.setattr(processes, "_mark", lambda _: "mine")
    assert engine_process("/drone", "drone", known) == EngineProcess(air.process.pid, "daemon")
    assert engine_process("/drone", "drone", "0" * 16) == EngineProcess(os.getpid(), "inside"), "another's session"
    monkeypatch.setattr(processes, "proxy_pid", lambda _: 0)
    assert engine_process("/drone", "drone", "") == EngineProcess()


def test_one_machine_has_one_clock():
    assert clock_id() == clock_id() != ""
    assert re.fullmatch(r"[0-9a-f]{16}\.[0-9a-f]{16}", clock_id())


def test_a_time_namespace_is_the_same_machine_with_another_clock():
    program = "from pqc_mav_bench.collectors.clock_id import clock_id; print(clock_id())"
    command = ["unshare", "--user", "--map-root-user", "--time", "--monotonic", "5000", sys.executable, "-c", program]
    try:
        shifted = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine gives no time namespaces")
    assert machine_of(shifted) == machine_of(clock_id())
    assert shifted != clock_id()


def test_the_environment_fits_the_schema():
    values = environment()
    assert set(values) == {*FIELDS, *VERSIONS}
    categories()["run_context"](**values)
