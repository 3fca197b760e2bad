# SPDX-License-Identifier: Apache-2.0
"""With real sockets of real processes, and with a stranger on another machine who tries them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from pqc_mav_common.dds_sockets import PORT_BASE, PORTS_PER_DOMAIN, UNICAST
from pqc_mav_common.diagnostics import Level
from pqc_mav_common.exposure import Exposure, look
from pqc_mav_common.siblings import MAVROS, Sibling, new_mark
from pqc_mav_common.socket_table import BoundSocket
from pqc_mav_common.testing import Running
from pqc_mav_common.testing_network import HERE, fake_mavros, machines, running_mavros

__all__ = ["fake_mavros", "machines"]

DOMAIN = 231  # beyond what tests use for ROS itself
ANY = "0.0.0.0"
ME = Sibling(os.getpid(), "python", True)
PORT = 14555

DISARM = """
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(float(sys.argv[3]))
sock.connect((sys.argv[1], int(sys.argv[2])))
try:
    sock.send(b"disarm")
    print(sock.recv(2048).decode())
except OSError as error:
    print("no answer")
"""
DDS = """
import signal, socket, sys
held = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
for sock, port in zip(held, (int(sys.argv[1]), int(sys.argv[1]) + 1)):
    sock.bind(("127.0.0.1", port))
held[2].bind(("0.0.0.0", 0))
print("bound", flush=True)
signal.pause()
"""
LOOK = """
import dataclasses, json, sys
from pqc_mav_common.exposure import look
from pqc_mav_common.siblings import siblings
print(json.dumps(dataclasses.asdict(look(siblings(sys.argv[1]), int(sys.argv[2])))))
"""


def named(pid: int, text: str) -> str:
    return f"{MAVROS} (process {pid}): {text}"


def test_a_mavros_on_every_interface_is_named_with_its_socket(fake_mavros: Path) -> None:
    with running_mavros(fake_mavros, ANY) as mavros:
        ours, theirs = (Sibling(mavros.pid, MAVROS, ours) for ours in (True, False))
        found = look([ours], DOMAIN)
        assert found.open == [named(mavros.pid, mavros.text)] and found.processes == 1
        assert found.diagnostic().level is Level.ERROR
        assert found.diagnostic().message.startswith(
            f"DEGRADED: {MAVROS} (process {mavros.pid}): {mavros.text} is open"
        )
        found = look([theirs], DOMAIN)
        assert (found.open, found.foreign) == ([], [named(mavros.pid, mavros.text)])
        assert found.diagnostic().level is Level.WARN and "did not start" in found.diagnostic().message
        found = look([ours], DOMAIN, {ANY})
        assert (found.open, found.allowed) == ([], [named(mavros.pid, mavros.text)])
        assert found.diagnostic().level is Level.WARN and "as allowed" in found.diagnostic().message


def test_a_mavros_on_loopback_is_no_news(fake_mavros: Path) -> None:
    with running_mavros(fake_mavros, "127.0.0.1") as mavros:
        found = look([Sibling(mavros.pid, MAVROS, True)], DOMAIN)
    assert found == Exposure(processes=1)
    assert found.diagnostic().level is Level.OK and "this machine only" in found.diagnostic().message


def test_only_what_the_engine_uses_is_meant_for_the_network() -> None:
    uses = {"tunnel": 1, "plain": 2, "other": 3}
    held = [BoundSocket("UDP", ip_address(ANY), port, port, use) for use, port in uses.items()]
    held.append(BoundSocket("TCP", ip_address("::1"), 4, 4, "other"))
    found = look([ME], DOMAIN, listed={ME.pid: held})
    assert found == Exposure(processes=1, open=[f"{ME}: UDP {ANY}:3"], allowed=[f"{ME}: UDP {ANY}:2"])
    found = look([ME], DOMAIN, {ANY}, {ME.pid: held})
    assert found == Exposure(processes=1, allowed=[f"{ME}: UDP {ANY}:2", f"{ME}: UDP {ANY}:3"])
    # Another process has no such sockets.
    assert look([Sibling(2**22 + 1, "gone", True)], DOMAIN, listed={ME.pid: held}) == Exposure()


def test_a_process_that_has_ended_or_is_closed_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look([Sibling(2**22 + 1, "gone", True)], DOMAIN) == Exposure()

    def refuse(_process: Path) -> set[int]:
        raise PermissionError

    monkeypatch.setattr("pqc_mav_common.exposure.own_sockets", refuse)
    found = look([ME], DOMAIN)
    assert found == Exposure(unseen=[str(ME)])
    assert found.diagnostic().level is Level.WARN and "may not be looked at" in found.diagnostic().message


def test_ros_beyond_this_machine_is_said_and_is_no_hole_of_mavros() -> None:
    said = Exposure(processes=1, dds=["x: UDP 0.0.0.0:7410"]).diagnostic()
    assert said.level is Level.WARN and "ROS is open to the network" in said.message
    assert Exposure(processes=1, dds_senders=3).diagnostic().level is Level.OK


def test_dds_of_a_mavros_in_another_domain_is_no_hole_of_it() -> None:
    port = PORT_BASE + PORTS_PER_DOMAIN * (DOMAIN + 1) + UNICAST
    process = Running([sys.executable, "-c", DDS, str(port)], {"ROS_DOMAIN_ID": str(DOMAIN + 1)})
    try:
        process.wait_for("bound")
        found = look([Sibling(process.process.pid, MAVROS, False)], DOMAIN)
    finally:
        process.kill()
    assert found == Exposure(processes=1, dds_senders=1)


def run(machine: str, program: str, *arguments: str) -> str:
    command = ["ip", "netns", "exec", machine, sys.executable, "-c", program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.parametrize("host", [ANY, HERE, "127.0.0.1"])
def test_what_is_named_is_what_a_stranger_reaches(machines: tuple[str, str], fake_mavros: Path, host: str) -> None:
    here, there = machines
    mark = new_mark()
    with running_mavros(fake_mavros, host, port=PORT, mark=mark, on=here) as mavros:
        answer = run(there, DISARM, HERE, str(PORT), "30" if host != "127.0.0.1" else "2")
        found = json.loads(run(here, LOOK, mark, str(DOMAIN)))
    reached = answer == "done: disarm"
    assert reached is (host != "127.0.0.1"), answer
    (name,) = found["open"] or [""]
    assert name.endswith(f": {mavros.text}") is reached, found
