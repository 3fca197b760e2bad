# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ipaddress
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from pqc_mav_common import dds_sockets
from pqc_mav_common.dds_sockets import CURES, exposed, split, warn_if_exposed
from pqc_mav_common.socket_table import BoundSocket, ephemeral_ports

DOMAIN = 230  # beyond what tests use for ROS itself
FIRST = 7400 + 250 * DOMAIN
PROFILE = Path(__file__).resolve().parents[2] / "pqc_mav_bringup" / "config" / "fastdds_loopback.xml"
PROFILE_VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")


@pytest.fixture
def bound() -> Iterator[dict[str, str]]:
    """Sockets of this process by where they are bound, with their ports in the domain's range."""
    places = {"0.0.0.0": socket.AF_INET, "127.0.0.1": socket.AF_INET, "127.9.9.9": socket.AF_INET}
    if socket.has_ipv6:
        places |= {"::": socket.AF_INET6, "::1": socket.AF_INET6, "::ffff:127.0.0.1": socket.AF_INET6}
    shown: dict[str, str] = {}
    with ExitStack() as stack:
        for number, (host, family) in enumerate(places.items()):
            sock = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
            try:
                sock.bind((host, FIRST + 20 + number))
            except OSError:
                continue  # no IPv6 here
            shown[host] = f"{f'[{host}]' if ':' in host else host}:{FIRST + 20 + number}"
        yield shown


def test_what_is_bound_beyond_loopback_is_named(bound: dict[str, str]) -> None:
    assert exposed(DOMAIN) == sorted(shown for host, shown in bound.items() if host in {"0.0.0.0", "::"})


def test_ports_of_other_domains_are_none_of_ours(bound: dict[str, str]) -> None:
    assert bound and exposed(DOMAIN + 1) == exposed(DOMAIN - 1) == []


def test_sockets_of_other_processes_do_not_count(bound: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dds_sockets, "own_sockets", lambda _proc: set())
    assert bound and exposed(DOMAIN) == []


class Node:
    """As much of a node as the warning needs."""

    def __init__(self, domain: int) -> None:
        self.context = SimpleNamespace(get_domain_id=lambda: domain)
        self.lines: list[str] = []

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(warning=self.lines.append)


def test_the_warning_is_one_line_and_only_where_it_is_due(bound: dict[str, str]) -> None:
    here, elsewhere = Node(DOMAIN), Node(DOMAIN + 1)
    for node in (here, elsewhere):
        warn_if_exposed(node)
    assert elsewhere.lines == []
    (line,) = here.lines
    assert bound["0.0.0.0"] in line and bound["127.0.0.1"] not in line and "\n" not in line


def sockets(*texts: str) -> list[BoundSocket]:
    made = []
    for inode, text in enumerate(texts):
        protocol, _, place = text.partition(" ")
        host, _, port = place.rpartition(":")
        made.append(BoundSocket(protocol, ipaddress.ip_address(host), int(port), inode))
    return made


SEND, SEND_TOO = ephemeral_ports()[100], ephemeral_ports()[200]


@pytest.mark.parametrize(
    ("texts", "listening", "sending", "others"),
    [
        # Without the ports of a participant nothing is DDS's.
        ([f"UDP 0.0.0.0:{SEND}", "UDP 0.0.0.0:7000", f"UDP 0.0.0.0:{FIRST + 10}"], [], [], [0, 1, 2]),
        ([f"UDP 0.0.0.0:{FIRST + 10}", f"UDP 0.0.0.0:{FIRST + 11}", f"UDP 0.0.0.0:{FIRST}"], [0, 1, 2], [], []),
        # One sender per participant and address; mavros' own socket among them cannot be told from it.
        (["p", "q", f"UDP 0.0.0.0:{SEND}", f"UDP 10.0.0.1:{SEND_TOO}", "UDP 127.0.0.1:7001"], [0, 1, 4], [2, 3], []),
        (["p", "q", f"UDP 0.0.0.0:{SEND}", f"UDP 0.0.0.0:{SEND_TOO}"], [0, 1], [], [2, 3]),
        (["p", "q", "r", "s", f"UDP 0.0.0.0:{SEND}", f"UDP 0.0.0.0:{SEND_TOO}"], [0, 1, 2, 3], [4, 5], []),
        # Neither a port of the domain that no participant has, nor TCP.
        (
            ["p", "q", f"UDP 0.0.0.0:{FIRST + 155}", f"TCP 0.0.0.0:{FIRST + 10}", "UDP 0.0.0.0:14555"],
            [0, 1],
            [],
            [2, 3, 4],
        ),
    ],
)
def test_whose_a_socket_is(texts: list[str], listening: list[int], sending: list[int], others: list[int]) -> None:
    short = {letter: f"UDP 127.0.0.1:{FIRST + 10 + number}" for number, letter in enumerate("pqrs")}
    parted = split(sockets(*(short.get(text, text) for text in texts)), DOMAIN)
    assert [[sock.inode for sock in part] for part in parted] == [listening, sending, others]


@pytest.mark.parametrize("profile", [True, False])
def test_nothing_of_a_real_node_is_taken_for_something_else(profile: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import json, rclpy; from pqc_mav_common.dds_sockets import PROC, bound_sockets, own_sockets, split;"
        "rclpy.init(); node = rclpy.create_node('x'); mine = own_sockets(PROC / 'self');"
        "parted = split((s for s in bound_sockets(PROC / 'self') if s.inode in mine), node.context.get_domain_id());"
        "print(json.dumps([[str(s) for s in part if not s.local] for part in parted]))"
    )
    listening, _, others = json.loads(run_node(code, profile, monkeypatch))
    assert others == [] and bool(listening) is not profile


UNREAD = """
import json, socket, time, rclpy
from pqc_mav_common.dds_sockets import PROC, bound_sockets, own_sockets, split
rclpy.init()
node = rclpy.create_node("x")
mine = own_sockets(PROC / "self")
parted = split((s for s in bound_sockets(PROC / "self") if s.inode in mine), node.context.get_domain_id())
def unread(sock):
    while True:  # a table read while sockets of others come and go may lack a line
        lines = (PROC / "self/net/udp").read_text().splitlines()[1:]
        for fields in map(str.split, lines):
            if int(fields[9]) == sock.inode:
                return int(fields[4].split(":")[1], 16)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
    for sock in (*parted.listening, *parted.sending):
        stranger.sendto(b"hello", ("127.0.0.1" if str(sock.host) == "0.0.0.0" else str(sock.host), sock.port))
deadline = time.monotonic() + 30
while any(map(unread, parted.listening)) and time.monotonic() < deadline:
    time.sleep(0.05)
print(json.dumps([[unread(s) > 0 for s in part] for part in (parted.listening, parted.sending)]))
"""


@pytest.mark.parametrize("profile", [True, False])
def test_what_a_stranger_sends_to_a_sending_socket_is_never_read(
    profile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is why it counts as no hole, though it is bound to every interface."""
    listening, sending = json.loads(run_node(UNREAD, profile, monkeypatch))
    assert listening and not any(listening)
    assert sending and all(sending)


@pytest.mark.parametrize("profile", [True, False])
def test_a_real_node(profile: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import rclpy; from pqc_mav_common.dds_sockets import exposed; rclpy.init();"
        "node = rclpy.create_node('x'); print(len(exposed(node.context.get_domain_id())))"
    )
    assert (int(run_node(code, profile, monkeypatch)) == 0) is profile


def run_node(code: str, profile: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a Python program prints that has a node, with or without the profile."""
    for name in PROFILE_VARIABLES:
        if profile:
            monkeypatch.setenv(name, str(PROFILE))
        else:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_cure_of_fast_dds_names_the_profile_and_what_each_version_reads_it_from() -> None:
    assert PROFILE.is_file()
    for name in (PROFILE.name, *PROFILE_VARIABLES):
        assert name in CURES["fastrtps"]


@pytest.mark.parametrize("middleware", ["rmw_fastrtps_cpp", "rmw_cyclonedds_cpp", "rmw_connextdds"])
def test_the_cure_is_that_of_the_middleware_in_use(bound: dict[str, str], middleware: str) -> None:
    node = Node(DOMAIN)
    warn_if_exposed(node, middleware)
    (line,) = node.lines
    cure = next((text for name, text in CURES.items() if name in middleware), "firewall")
    assert cure in line and bound["0.0.0.0"] in line


def test_zenoh_is_open_where_it_takes_connections_and_not_where_udp_is_bound(bound: dict[str, str]) -> None:
    node = Node(DOMAIN)
    with socket.create_server(("127.0.0.1", 0)):
        warn_if_exposed(node, "rmw_zenoh_cpp")
    assert bound and node.lines == []
    with socket.create_server(("0.0.0.0", 0)) as taking:
        warn_if_exposed(node, "rmw_zenoh_cpp")
        assert f"0.0.0.0:{taking.getsockname()[1]}" in node.lines[0] and "ZENOH_SESSION_CONFIG_URI" in node.lines[0]
