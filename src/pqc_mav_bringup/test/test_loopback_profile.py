# SPDX-License-Identifier: Apache-2.0
"""What the Fast DDS profile is for: who is on another machine reaches no service here, who is on this one does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pqc_mav_bringup.share import config_file
from pqc_mav_common.testing import Running
from pqc_mav_common.testing_network import HERE, machines

__all__ = ["machines"]

PROFILES = ("fastdds_loopback.xml", "fastdds_quick_discovery.xml")
SERVICE = "/victim/close"

SERVE = f"""
import rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("victim")
def close(_request, response):
    response.success = True
    return response
node.create_service(Trigger, "{SERVICE}", close)
print("serving", flush=True)
rclpy.spin(node)
"""
CALL = f"""
import sys, rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("caller")
client = node.create_client(Trigger, "{SERVICE}")
if not client.wait_for_service(float(sys.argv[1])):
    print("not found"); raise SystemExit
future = client.call_async(Trigger.Request())
rclpy.spin_until_future_complete(node, future, timeout_sec=float(sys.argv[1]))
print("answered" if future.done() else "no answer", flush=True)
"""


@pytest.mark.parametrize("name", PROFILES)
def test_endpoints_begin_small(name: str) -> None:
    """Fast DDS makes room for 100 samples at each of them otherwise."""
    space = {"": "http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"}
    root = ElementTree.parse(config_file(name)).getroot()
    for kind in ("data_writer", "data_reader"):
        profile = root.find(kind, space)
        assert profile is not None and profile.get("is_default_profile") == "true"
        assert profile.findtext("topic/resourceLimitsQos/allocated_samples", "", space) == "1"


@pytest.mark.parametrize("name", PROFILES)
def test_the_first_udp_transport_is_on_loopback_only(name: str) -> None:
    """The first: ROS adds one of its own behind it, which then finds its ports taken."""
    space = {"": "http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"}
    root = ElementTree.parse(config_file(name)).getroot()
    descriptors = {d.findtext("transport_id", "", space): d for d in root.iterfind(".//transport_descriptor", space)}
    participant = root.find("participant", space)
    assert participant is not None and participant.get("is_default_profile") == "true"
    assert participant.findtext(".//useBuiltinTransports", "", space) == "false"
    used = [descriptors[str(t.text)] for t in participant.iterfind(".//userTransports/transport_id", space)]
    udp = [d for d in used if d.findtext("type", "", space) != "SHM"]
    assert udp and all([a.text for a in d.iterfind("interfaceWhiteList/address", space)] == ["127.0.0.1"] for d in udp)


def on(machine: str, program: str, *arguments: str, profile: Path | None, **variables: str) -> list[str]:
    """A command line that runs a Python program on a machine."""
    names = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
    # The machines are nobody else's, so their domain may be anyone's.
    fixed = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "ROS_DOMAIN_ID": "0",
    }
    variables = {**fixed, **variables}
    if profile:
        variables |= {name: str(profile) for name in names}
    settings = [*(f"-u{name}" for name in names), *(f"{name}={value}" for name, value in variables.items())]
    return ["ip", "netns", "exec", machine, "env", *settings, sys.executable, "-c", program, *arguments]


def call(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@contextmanager
def victim(machine: str, profile: Path | None) -> Iterator[None]:
    running = Running(on(machine, SERVE, profile=profile))
    try:
        running.wait_for("serving")
        yield
    finally:
        running.kill()


def attack(machine: str, seconds: float) -> str:
    """What a stranger on the same network tries who knows where the victim is."""
    command = on(
        machine, CALL, f"{seconds:g}", profile=None, ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET", ROS_STATIC_PEERS=HERE
    )
    # 'ip netns exec' makes a mount namespace, so this shared memory is nobody else's.
    own_memory = ["sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "-"]
    return call([*command[:4], *own_memory, *command[4:]])


def test_without_the_profile_a_stranger_is_answered(machines: tuple[str, str]) -> None:
    """That the attack works at all, or the next test would show nothing."""
    with victim(machines[0], None):
        assert attack(machines[1], 30) == "answered"


@pytest.mark.parametrize("name", PROFILES)
def test_with_the_profile_only_this_machine_is(machines: tuple[str, str], name: str) -> None:
    profile = config_file(name)
    local = on(machines[0], CALL, "30", profile=profile)
    with victim(machines[0], profile):
        assert call(local) == "answered"
        assert attack(machines[1], 8) == "not found"
        assert call(local) == "answered"
