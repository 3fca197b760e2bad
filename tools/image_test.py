#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Containers of the images that tools/images.sh made, run by podman without a daemon and without a network of its own.

    image_test.py pair GCS DRONE -- STORE...   the two ends, of these architectures: a MAVLink message each way
    image_test.py demo -- STORE...             the suite's demo; its exit code decides
    image_test.py flight -- STORE...           the services of docker/compose.yaml; the ground's exit code decides

STORE are podman's options that say where the images are. Needs root. Both ends run in network namespaces of their own,
joined by a cable; nothing of this machine's network changes.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml
from two_ends import GROUND, HANDSHAKE, PLAIN_OF_GCS, TestError, carry_messages, check, udp, with_own_mounts

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = ROOT / "docker" / "compose.yaml"
USER = 990  # as in the Dockerfiles
LIMIT_S = 180.0
DEMO_LIMIT_S = 300.0
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
    deadline = time.monotonic() + limit_s
    while not (found := done()):
        if time.monotonic() > deadline:
            raise TestError(problem())
        time.sleep(0.1)
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
    made: list[socket.socket] = []

    def make() -> None:
        # Only the thread moves; the socket stays where it was made.
        with Path(f"/run/netns/{namespace}").open("rb") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
                return
        made.append(udp(port, LIMIT_S))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    check(bool(made), f"no socket in {namespace}")
    return made[0]


def tunneld(architecture: str) -> str:
    """The image of an end."""
    return f"localhost/pqcmav-tunneld:{architecture}"


def check_container(podman: Podman, container: str) -> None:
    """It has no privileges, cannot change its files, and carries no Python."""
    pid = int(podman.call("inspect", "--format={{.State.Pid}}", container).stdout)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    check(f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}" in status, f"{container} does not run as {USER}")
    check("CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status, f"{container} has privileges")
    for folder in ("/", "/etc/pqcmav", "/usr/bin", "/tmp", "/var/lib/pqcmav"):  # noqa: S108 - the container's
        result = podman.call("exec", "--user=0", container, "/bin/sh", "-c", f": >{folder}/new", good=False)
        check(result.returncode != 0, f"{container} can write to {folder}")
    python = podman.call("exec", container, "/bin/sh", "-c", "command -v python3 perl", good=False).stdout
    check("python" not in python, f"{container} has {python}")


def pair(podman: Podman, gcs: str, drone: str) -> str:
    """Handshake, a message each way, health, a clean end."""
    import pqc_mav_tunnel

    with ExitStack() as stack:
        stack.callback(podman.remove)
        networks = stack.enter_context(cable())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-images-")))
        folder.chmod(0o755)
        pqc_mav_tunnel.init_keys(str(folder / "all"), ["drone1"], ["mldsa65"])
        ends = {}
        for role, keys, image in (("gcs", "gcs", tunneld(gcs)), ("drone", "drones/drone1", tunneld(drone))):
            place = folder / role
            shutil.copytree(folder / "all" / keys, place / "keys")
            text = (ROOT / "docker" / f"{role}.yaml").read_text(encoding="utf-8")
            extra = f"{PLAIN_OF_GCS}\n" if role == "gcs" else ""
            (place / f"{role}.yaml").write_text(text + extra, encoding="utf-8")
            place.chmod(0o755)
            sh("chown", "-R", f"{USER}:{USER}", str(place / "keys"))
            options = [
                f"--network=ns:/run/netns/{networks[role]}",
                f"--add-host=gcs:{ADDRESSES['gcs']}",
                f"--volume={place}:/etc/pqcmav/tunneld:{'rw' if role == 'gcs' else 'ro'}",
            ]
            ends[role] = podman.start(role, image, options, [f"/etc/pqcmav/tunneld/{role}.yaml"])
            podman.wait_for(ends[role], "encrypted UDP port")
        handshake = podman.wait_for(ends["drone"], HANDSHAKE)[1]
        podman.wait_for(ends["drone"], "-> UP")
        ground = stack.enter_context(udp_in(networks["gcs"], GROUND))
        autopilot = stack.enter_context(udp_in(networks["drone"], 0))
        carry_messages(autopilot, ground)
        for container in ends.values():
            podman.wait_healthy(container)
            check_container(podman, container)
        for container in reversed(ends.values()):
            podman.stop(container)
        return f"{gcs} gcs, {drone} drone: handshake {handshake}, a MAVLink message each way"


def demo(podman: Podman) -> str:
    """What the suite's image does when it is told nothing."""
    try:
        container = podman.start("demo", "localhost/pqcmav-suite:amd64", ["--network=none", "--tmpfs=/tmp"], [])
        code = podman.wait_end(container, DEMO_LIMIT_S)
        said = podman.log(container)
        print(said)
        check(code == 0, f"the demo ended with {code}")
        return "the demo ended with 0, as a user without privileges and with a read-only root"
    finally:
        podman.remove()


def options_of(podman: Podman, service: dict[str, Any], networks: dict[str, str], role: str) -> list[str]:
    """What compose would pass on for a service."""
    check(service["read_only"] and service["cap_drop"] == ["ALL"], "a service is not hardened")
    options = [f"--tmpfs={place}" for place in service.get("tmpfs", [])]
    if service.get("network_mode") == "none":
        options.append("--network=none")
    else:
        options += [f"--network=ns:/run/netns/{networks[role]}", f"--add-host=gcs:{ADDRESSES['gcs']}"]
    for volume in service.get("volumes", []):
        source, rest = volume.split(":", 1)
        place = COMPOSE.parent / source if source.startswith("./") else podman.volume(source)
        options.append(f"--volume={place}:{rest}")
    return options


def flight(podman: Podman) -> str:
    """The services in the order in which they wait for each other; a cable is in the place of their network."""
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    running: dict[str, str] = {}
    with ExitStack() as stack:
        stack.callback(podman.remove)
        networks = stack.enter_context(cable())
        while len(running) < len(services):
            name = next(
                name
                for name, service in services.items()
                if name not in running and set(service.get("depends_on", {})) <= set(running)
            )
            service = services[name]
            for other, how in service.get("depends_on", {}).items():
                if how["condition"] == "service_healthy":
                    podman.wait_healthy(running[other])
                elif how["condition"] == "service_completed_successfully":
                    code = podman.wait_end(running[other], LIMIT_S)
                    check(code == 0, f"{other} ended with {code}: {podman.log(running[other])}")
            role = service.get("network_mode", "").removeprefix("service:") or name
            image = f"localhost/{service['image']}:amd64"
            running[name] = podman.start(name, image, options_of(podman, service, networks, role), service["command"])
        code = podman.wait_end(running["ground"], DEMO_LIMIT_S)
        said = podman.log(running["ground"]).strip().splitlines()
        check(code == 0, f"the ground station ended with {code}: {said}")
        for name in ("drone", "gcs"):
            podman.stop(running[name])
        return f"the ground station flew the vehicle and ended with 0: {said[-1]}"


def main() -> int:
    """Run what the command line names."""
    with_own_mounts()
    if not Path("/sys/fs/cgroup/cgroup.procs").exists():
        # crun refuses the old kind of cgroups, although it is to use none; only this process and its children see this.
        sh("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    words, store = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    podman = Podman(store)
    tests: dict[str, Callable[..., str]] = {"pair": pair, "demo": demo, "flight": flight}
    try:
        print(tests[words[0]](podman, *words[1:]))
    except (TestError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
