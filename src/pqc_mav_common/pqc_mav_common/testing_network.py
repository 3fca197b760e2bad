# SPDX-License-Identifier: Apache-2.0
"""Two machines with a cable between them, and a mavros that is open to it. Only tests import this module."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from pqc_mav_common.siblings import MARK, MAVROS
from pqc_mav_common.testing import Running, until

HERE, THERE = "10.213.77.1", "10.213.77.2"  # addresses of the two machines

# As much of mavros as matters here: it binds what it is told and does what it is told there.
_FAKE_MAVROS = """#!{python}
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((sys.argv[1], int(sys.argv[2])))
print("bound", *sock.getsockname(), flush=True)
while True:
    packet, sender = sock.recvfrom(2048)
    sock.sendto(b"done: " + packet, sender)
"""


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)


def _is_up(name: str) -> bool:
    show = ["ip", "-n", name, "-o", "link", "show", "cable"]
    return b"state UP" in subprocess.run(show, capture_output=True, timeout=30).stdout


@contextmanager
def two_machines() -> Iterator[tuple[str, str]]:
    """Names of two network namespaces with a cable between them."""
    names = f"pqcmav-a{os.getpid()}", f"pqcmav-b{os.getpid()}"
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address in zip(names, (HERE, THERE), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            _ip("-n", name, "link", "set", "cable", "up")
        for name in names:  # a node names only the interfaces that are up when it starts
            until(partial(_is_up, name), "a cable")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=30)


@pytest.fixture(scope="module")
def machines() -> Iterator[tuple[str, str]]:
    """Two machines, at HERE and THERE, for a module's tests; skips where that is not permitted."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    try:
        with two_machines() as names:
            yield names
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")


@pytest.fixture
def fake_mavros(tmp_path: Path) -> Path:
    """A program with the name of mavros."""
    path = tmp_path / MAVROS
    path.write_text(_FAKE_MAVROS.format(python=sys.executable))
    path.chmod(0o755)
    return path


@dataclass(frozen=True)
class OpenMavros:
    """Its process, and its socket as `socket_table` names it."""

    pid: int
    text: str


@contextmanager
def running_mavros(program: Path, host: str, *, port: int = 0, mark: str = "", on: str = "") -> Iterator[OpenMavros]:
    """The fake mavros, and where it is bound."""
    command = [*(["ip", "netns", "exec", on] if on else []), str(program), host, str(port)]
    process = Running(command, {MARK: mark})
    try:
        process.wait_for("bound")
        _, bound_host, bound_port = process.lines[0].split()
        yield OpenMavros(process.process.pid, f"UDP {bound_host}:{bound_port}")
    finally:
        process.kill()
