# SPDX-License-Identifier: Apache-2.0
"""Containers by podman, without a daemon and without a network of their own, and the cable that joins two of them.

Needs root. Nothing of this machine's network changes.
"""

import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from two_ends import TestError, check, udp

from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.impairment import netns

LIMIT_S = 180.0
USER = 990  # as in the Dockerfiles
Found = TypeVar("Found")
ADDRESSES = {"gcs": "10.46.0.1", "drone": "10.46.0.2"}
# No cgroups and no higher limits: where this runs there may be none to give, and nothing here limits resources.
PLAIN = ("--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
HARDENING = ("--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges")


class Podman:
    """Runs containers from one store, and removes them at the end."""

    def __init__(self, store: Sequence[str]) -> None:
        self._base = ["podman", *store, "--cgroup-manager=cgroupfs", "--events-backend=none", "--runtime=crun"]
        self._mark = f"pqcmav-test-{os.getpid()}"
        self._started: list[str] = []
        self._volumes: list[str] = []

    def call(self, *words: str, timeout: float = LIMIT_S, good: bool = True) -> subprocess.CompletedProcess[str]:
        """Run podman."""
        result = subprocess.run([*self._base, *words], capture_output=True, text=True, check=False, timeout=timeout)
        check(not good or result.returncode == 0, f"podman {' '.join(words)}: {result.stdout}{result.stderr}")
        return result

    def start(self, name: str, image: str, options: Sequence[str], command: Sequence[str]) -> str:
        """Start a container and return its name."""
        full = f"{self._mark}-{name}"
        self._started.append(full)
        self.call("run", "--detach", f"--name={full}", *PLAIN, *HARDENING, *options, image, *command)
        return full

    def volume(self, name: str) -> str:
        """Return the name of a volume of this run."""
        full = f"{self._mark}-{name}"
        if full not in self._volumes:
            self._volumes.append(full)
        return full

    def log(self, container: str) -> str:
        """What a container has printed."""
        result = self.call("logs", container)
        return result.stderr + result.stdout

    def wait_for(self, container: str, pattern: str) -> re.Match[str]:
        """Wait until a container has printed this."""
        return until(
            lambda: re.search(pattern, self.log(container)),
            lambda: f"{container} printed no '{pattern}': {self.log(container)}",
        )

    def wait_healthy(self, container: str) -> None:
        """Wait until a container's own health check is good."""
        until(
            lambda: self.call("healthcheck", "run", container, good=False).returncode == 0,
            lambda: f"{container} is not healthy: {self.log(container)}",
        )

    def wait_end(self, container: str, timeout: float) -> int:
        """Wait until a container ends by itself; return its exit code."""
        return int(self.call("wait", container, timeout=timeout).stdout.split()[-1])

    def stop(self, container: str) -> None:
        """End a container as its manager does; it has to end cleanly."""
        self.call("stop", "--time=20", container)
        code = self.call("inspect", "--format={{.State.ExitCode}}", container).stdout.strip()
        check(code == "0", f"{container} ended with {code}: {self.log(container)}")

    def remove(self) -> None:
        """Leave no container and no volume."""
        for container in reversed(self._started):
            self.call("rm", "--force", "--time=0", container, good=False)
        for volume in self._volumes:
            self.call("volume", "rm", "--force", volume, good=False)


def until(done: Callable[[], Found | None], problem: Callable[[], str], limit_s: float = LIMIT_S) -> Found:
    """Wait for a condition and return what it gave."""
    if not (found := wait_until(done, limit_s, 0.1)):
        raise TestError(problem())
    return found


def sh(*words: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(words, check=True)


@contextmanager
def cable() -> Iterator[dict[str, str]]:
    """Two network namespaces joined by a cable; gives the name of each end's."""
    names = {role: f"pqcmav-{role}-{os.getpid()}" for role in ADDRESSES}
    try:
        for name in names.values():
            sh("ip", "netns", "add", name)
        sh(*f"ip link add air netns {names['gcs']} type veth peer name air netns {names['drone']}".split())
        for role, name in names.items():
            for words in (f"addr add {ADDRESSES[role]}/24 dev air", "link set air up", "link set lo up"):
                sh("ip", "-n", name, *words.split())
        yield names
    finally:
        for name in names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False)


def udp_in(namespace: str, port: int) -> socket.socket:
    """Open an application's socket on the loopback of a namespace."""
    with Path(f"/run/netns/{namespace}").open("rb") as file:
        made: socket.socket = netns.call_in(file.fileno(), lambda: udp(port, LIMIT_S))
    return made
