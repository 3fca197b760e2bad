# SPDX-License-Identifier: Apache-2.0
"""Two machines that have the Debian packages, and how the one joins the other: as docs/packages.md tells a user.

Each is a chroot with a network of its own, and a cable is between them. What is typed here is what that page shows.
"""

import ctypes
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chroot import PATH, Chroot
from two_ends import LIMIT_S, check

KEYS = "etc/pqcmav/keys"
CONFIG = "etc/pqcmav/tunneld"
GROUND_NAME = "gcs.example.org"  # as the package's drone.yaml has it
GROUND_ADDRESS, DRONE_ADDRESS = "10.77.0.1", "10.77.0.2"
PATIENTLY = ("--wait", str(int(LIMIT_S)))  # an emulated end that starts on a busy machine takes its time


def network(flags: int, descriptor: int | None = None) -> None:
    """Leave this process's network for a new one, or for that of a descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.unshare(flags) if descriptor is None else libc.setns(descriptor, flags)
    check(done == 0, os.strerror(ctypes.get_errno()))


NETWORK = 0x40000000  # CLONE_NEWNET


def leave_the_network() -> None:
    """From here on with a loopback of its own: whatever uses the ports of this machine stays undisturbed."""
    network(NETWORK)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


@contextmanager
def inside(debian: Chroot) -> Iterator[None]:
    """Sockets that are opened meanwhile are in this machine's network."""
    if not debian.enter:
        yield
        return
    home, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(debian.enter[1].partition("=")[2], os.O_RDONLY)
    try:
        network(NETWORK, there)
        yield
    finally:
        network(NETWORK, home)
        os.close(home)
        os.close(there)


@contextmanager
def second_machine(ground: Chroot, root: Path) -> Iterator[Chroot]:
    """One with the same packages and nothing of the ground's settings, at the other end of a cable."""
    drone = Chroot(ground.root, root)
    name = f"pqcmav-drone-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        at_drone = ["ip", "-n", name]
        for words in (
            ["ip", "link", "add", "to-drone", "type", "veth", "peer", "name", "to-ground", "netns", name],
            ["ip", "addr", "add", f"{GROUND_ADDRESS}/24", "dev", "to-drone"],
            ["ip", "link", "set", "to-drone", "up"],
            [*at_drone, "addr", "add", f"{DRONE_ADDRESS}/24", "dev", "to-ground"],
            [*at_drone, "link", "set", "to-ground", "up"],
            [*at_drone, "link", "set", "lo", "up"],
        ):
            subprocess.run(words, check=True)
        drone.enter = ("nsenter", f"--net=/run/netns/{name}", "--")
        with drone.path("etc/hosts").open("a", encoding="utf-8") as hosts:
            hosts.write(f"\n{GROUND_ADDRESS} {GROUND_NAME}\n")
        with drone.mounted():
            yield drone
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False)


@contextmanager
def invited(ground: Chroot, drone_id: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Run `pqcmav invite`; yield its line, and what waits for its end and returns what it said."""
    with subprocess.Popen(
        ground.command("pqcmav", "invite", drone_id, "--address", GROUND_NAME),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": PATH},
    ) as invite:

        def end() -> str:
            _, said = invite.communicate(timeout=LIMIT_S)
            check(invite.returncode == 0 and f"OK: {drone_id} joined" in said, f"pqcmav invite {drone_id}: {said}")
            return said

        try:
            assert invite.stdout is not None and invite.stderr is not None
            line = invite.stdout.readline().strip()
            check(bool(line), f"pqcmav invite {drone_id} printed no line, but: {'' if line else invite.stderr.read()}")
            yield line, end
        finally:
            invite.kill()


def join_first(ground: Chroot, drone: Chroot) -> str:
    """The page's first steps: no ground station runs yet, and both units find their keys afterwards."""
    with invited(ground, "drone1") as (line, end):
        said = drone.run("pqcmav", "join", line, *PATIENTLY)
        check("OK: the link" in said and "then: systemctl enable --now pqcmav-tunneld@drone" in said, said)
        end()
    settings = dict(re.findall(r"^  (\w+): (.*)$", said, re.MULTILINE))
    wanted = {"drone_id": "drone1", "peer": GROUND_NAME, "keys": f"/{KEYS}"}
    check(settings == wanted, f"pqcmav join says to set {settings}")
    text = drone.path(f"{CONFIG}/drone.yaml").read_text(encoding="utf-8")
    for name, value in settings.items():
        text, count = re.subn(rf"^{name}: .*$", f"{name}: {value}", text, flags=re.MULTILINE)
        check(count == 1, f"drone.yaml has {count} lines '{name}:'")
    drone.path(f"{CONFIG}/drone.yaml").write_text(text, encoding="utf-8")
    check_keys(ground, ("psk/drone1.key", "sig/mldsa65.key"))
    check_keys(drone, ("psk.key", "gcs/mldsa65.pub"))
    # A thief with the line, on the machine that could best reach the ground.
    stolen = drone.run("pqcmav", "join", line, "--keys", "/srv/stolen", "--wait", "3", good=False)
    check("OK" not in stolen and not drone.path("srv/stolen").exists(), f"a used line: {stolen}")
    return "a drone joined by the packages' invite and join: keys where both units read them, the line is worth nothing"


def join_another(ground: Chroot, drone: Chroot) -> None:
    """While the ground station runs as the unit says: it lets the second drone in, and its file has it."""
    with invited(ground, "drone2") as (line, end):
        said = drone.run("pqcmav", "join", line, "--keys", "/srv/drone2", *PATIENTLY)
        check("OK: the link" in said and f"saved in /{CONFIG}/gcs.yaml" in said, said)
        end()
    check_keys(ground, ("psk/drone2.key",))
    file = ground.path(f"{CONFIG}/gcs.yaml")
    check("drone2" in file.read_text(encoding="utf-8"), "gcs.yaml does not have the second drone")
    said = ground.run("pqcmav", "status", "--once", good=False)  # its test over, the second drone is not UP
    states = dict(re.findall(r"^gcs +(\w+) +(\w+) ", said, re.MULTILINE))
    check(states.get("drone1") == "UP" and "drone2" in states, f"pqcmav status: {said}")


def check_keys(debian: Chroot, files: tuple[str, ...]) -> None:
    """They are there, the daemon's user owns all of them, and nobody else reads one."""
    listed = debian.run("find", f"/{KEYS}", "-printf", "%M %u:%g %P\\n").splitlines()
    for name in files:
        check(any(line.endswith(f" {name}") for line in listed), f"{name} is not in /{KEYS}: {listed}")
    bad = [line for line in listed if not re.match(r"\S(r[w-][x-])------ pqcmav:pqcmav ", line)]
    check(not bad, f"others can read keys, or own them: {bad}")
