#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages in a fresh Debian: install from a repository, join a drone, run both ends, upgrade, remove, purge.

    deb_test.py DEBIAN.tar FOLDER      with the packages, those of other architectures too

Needs root. The Debian is unpacked into a folder of its own, and copied for the drone; nothing of this machine changes.
No init is running there, so both ends are started as the unit says, by its user and with a socket of this test as the
service manager.
"""

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from chroot import PATH, Chroot
from joining_test import CONFIG, inside, join_another, join_first, leave_the_network, second_machine
from repository_test import install_from_it
from two_ends import (
    GROUND,
    HANDSHAKE,
    LIMIT_S,
    PLAIN_OF_GCS,
    Daemon,
    TestError,
    carry_messages,
    check,
    udp,
    with_own_mounts,
)

UNIT = "usr/lib/systemd/system/pqcmav-tunneld@.service"
METRICS_UNIT = "usr/lib/systemd/system/pqcmav-metrics.service"
SUITES = 72
ALL = (
    "keys",
    "invite",
    "join",
    "suites",
    "doctor",
    "status",
    "rekey",
    "reload",
    "pause",
    "resume",
    "drones",
    "station",
    "path",
    "avoid",
    "logs",
    "metrics",
    "dashboard",
)
KEPT = "cd /etc/pqcmav && find . -type f -exec sha256sum {} + | sort; find . -printf '%M %u:%g %P\\n' | sort"


def directives(unit: Path) -> dict[str, str]:
    """The unit's settings; of those that come twice, the last."""
    lines = unit.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


class Service(Daemon):
    """An end of the tunnel, started as its unit says."""

    def __init__(self, debian: Chroot, role: str) -> None:
        unit = directives(debian.path(UNIT))
        check(unit["Type"] == "notify" and "WatchdogSec" in unit, "the unit has no Type=notify or no WatchdogSec")
        # Unless its runtime directory is there, an end has no control socket.
        run_folder, mode = f"/run/{unit['RuntimeDirectory']}", unit["RuntimeDirectoryMode"]
        debian.run("install", "-d", "-m", mode, "-o", unit["User"], "-g", unit["Group"], run_folder)
        self._notify = debian.path(f"run/notify-{role}")
        self._manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._manager.bind(str(self._notify))
        self._notify.chmod(0o777)
        self._manager.settimeout(LIMIT_S)
        super().__init__(
            role,
            debian.command(*unit["ExecStart"].replace("%i", role).split(), user=f"{unit['User']}:{unit['Group']}"),
            {
                "PATH": PATH,
                "NOTIFY_SOCKET": f"/run/notify-{role}",
                "WATCHDOG_USEC": f"{int(unit['WatchdogSec']) * 1_000_000}",
            },
        )

    def hears(self, wanted: str) -> None:
        """Wait until the service manager is told this."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            try:
                told = self._manager.recv(4096).decode()
            except TimeoutError:
                break
            if told.startswith(wanted):
                return
        raise TestError(f"The {self.name} did not say {wanted}; it printed: {self.last_words()}")

    def stop(self) -> None:
        """As systemd does, which reads all the time: a full queue would take no last word."""
        self._manager.setblocking(False)
        with suppress(BlockingIOError):
            while self._manager.recv(4096):
                pass
        self._manager.settimeout(LIMIT_S)
        super().stop()

    def ends_well(self) -> None:
        """As systemd sees it."""
        self.hears("STOPPING=1")
        super().ends_well()

    def kill(self) -> None:
        """Leave nothing behind."""
        super().kill()
        self._manager.close()
        self._notify.unlink()


def run_both_ends(ground: Chroot, drone: Chroot, meanwhile: Callable[[], None] = lambda: None) -> str:
    """Handshake, a message each way, a fed watchdog, a clean end."""
    with ExitStack() as stack:
        station = stack.enter_context(udp(GROUND))
        with inside(drone):
            autopilot = stack.enter_context(udp())
        ends = []
        for role, debian in (("gcs", ground), ("drone", drone)):
            ends.append(Service(debian, role))
            stack.callback(ends[-1].kill)
            ends[-1].hears("READY=1")
        handshake = str(ends[1].wait_for(HANDSHAKE)[1])
        ends[1].wait_for("-> UP")
        carry_messages(autopilot, station)
        for end in ends:
            end.hears("WATCHDOG=1")
        meanwhile()
        for end in reversed(ends):
            end.stop()
        return handshake


def remove_and_purge(debian: Chroot, names: Sequence[str]) -> None:
    """Removed, only settings and keys stay; purged, nothing does."""
    debian.run("apt-get", "remove", "--yes", *names)
    check(not debian.path("usr/bin/pqcmav-tunneld").exists(), "the program is still there after its removal")
    check(debian.path(f"{CONFIG}/gcs.yaml").exists(), "the removal took the configuration with it")
    debian.run("dpkg", "--purge", *names)
    left = debian.run("find", "/etc", "/usr", "/var/lib/pqcmav", "-xdev", "-iname", "*pqc*mav*", good=False)
    left = "\n".join(line for line in left.splitlines() if "No such file" not in line)
    check(not left, f"left after the purge: {left}")
    check(
        "pqcmav" not in debian.path("etc/passwd").read_text(encoding="utf-8"), "the user is still there after the purge"
    )


def verify_unit(debian: Chroot, path: str) -> str:
    """What systemd says of a unit, where systemd is installed here."""
    if not (program := shutil.which("systemd-analyze")):
        return "systemd-analyze is not here"
    with tempfile.TemporaryDirectory() as folder:
        # Its program is in the other Debian.
        text = debian.path(path).read_text(encoding="utf-8").replace("ExecStart=", f"ExecStart={debian.root}")
        unit = Path(folder) / Path(path).name.replace("@", "@drone")
        unit.write_text(text, encoding="utf-8")
        result = subprocess.run(
            [program, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False, timeout=60
        )
    about = [line for line in result.stderr.splitlines() if "pqcmav" in line]
    check(result.returncode == 0 and not about, f"systemd-analyze verify: {result.stderr}")
    return f"{Path(path).name} is good to systemd-analyze verify"


def test(debian: Chroot, packages: Sequence[Path], work: Path) -> Iterator[str]:
    """All of it; yields what held."""
    arch = debian.run("dpkg", "--print-architecture").strip()
    inside_debian, names = [], []
    for package in sorted(packages):
        name, _, which = package.stem.split("_")
        if which in (arch, "all"):
            shutil.copy(package, debian.path("srv"))
            inside_debian.append(f"/srv/{package.name}")
            names.append(name)
    debian.run("apt-get", "update")
    yield from install_from_it(debian)
    missing = [line for line in debian.run("ldd", "/usr/bin/pqcmav-tunneld").splitlines() if "not found" in line]
    check(not missing, f"libraries are missing: {missing}")
    yield f"installed: {', '.join(names)}; {debian.run('pqcmav-tunneld', '--version').strip()}"
    # The minimal Debian leaves manuals out when it unpacks; dpkg knows them.
    files = debian.run("dpkg", "--listfiles", "pqcmav-tunneld", "pqcmav-cli").splitlines()
    for page in ("man1/pqcmav.1.gz", "man5/pqcmav.yaml.5.gz", "man8/pqcmav-tunneld.8.gz"):
        check(f"/usr/share/man/{page}" in files, f"no package has the manual page {page}")
    debian.run("pqcmav-tunneld", "--preflight")
    for unit in (UNIT, METRICS_UNIT):
        yield verify_unit(debian, unit)

    leave_the_network()
    with second_machine(debian, work / "drone") as drone:
        yield use_the_command(debian)
        # Where the ground takes plaintext, for this test to know; the rest is as the package brings it.
        with debian.path(f"{CONFIG}/gcs.yaml").open("a", encoding="utf-8") as settings:
            settings.write(f"{PLAIN_OF_GCS}\n")
        yield join_first(debian, drone)
        security = debian.run("pqcmav", "doctor", "--security", "--json", good=False)
        check("in /etc/pqcmav/keys: only root and pqcmav can read" in security, f"pqcmav doctor --security: {security}")
        for machine, role in ((debian, "gcs"), (drone, "drone")):
            machine.run("pqcmav-tunneld", "--check", f"/{CONFIG}/{role}.yaml", user="pqcmav:pqcmav")
        handshake = run_both_ends(debian, drone, lambda: join_another(debian, drone))
        yield f"both ends ran as the unit says: handshake {handshake}, a message and a command; a second drone joined"

        before = debian.run("sh", "-c", KEPT)
        debian.run("dpkg", "--force-confdef", "--install", *inside_debian)
        check(debian.run("sh", "-c", KEPT) == before, "the upgrade changed settings or keys")
        run_both_ends(debian, drone)
        yield "installed over itself: settings and keys as before, both ends ran"
        for machine in (debian, drone):
            remove_and_purge(machine, names)
    yield "removed, then purged: nothing left at either end"


def use_the_command(debian: Chroot) -> str:
    """The command as far as it goes without ROS, and what it says beyond that."""
    # Each imports what it needs, and no more.
    for word in ALL:
        debian.run("pqcmav", word, "--help")
    # One signature algorithm: 'invite' would make all, which takes an emulated machine its time.
    debian.run("pqcmav", "keys", "init", "drone1", "--sig", "mldsa65")
    doctor = debian.run("pqcmav", "doctor", "--keys", "~/.pqcmav/keys")
    check("pqcmav-tunneld carries the tunnel" in doctor, f"pqcmav doctor: {doctor}")
    suites = json.loads(debian.run("pqcmav", "suites", "--view", "core", "--available", "--json"))
    check(len(suites) == SUITES, f"pqcmav suites: {len(suites)} of {SUITES} core suites")
    page = debian.run("pqcmav", "metrics", "--once", good=False)
    check("# TYPE pqcmav_exporter_scrape_duration_seconds gauge" in page, f"pqcmav metrics: {page}")
    said = debian.run("pqcmav", "status", "--once", good=False)
    check("is it running on this machine?" in said and "Traceback" not in said, f"pqcmav status: {said}")
    for words in (["up", "drone"], ["record"], ["dashboard", "--replay", "/srv/flight.mcap"]):
        said = debian.run("pqcmav", *words, good=False)
        check("not in the Debian package" in said and "Traceback" not in said, f"pqcmav {' '.join(words)}: {said}")
    show_the_dashboard(debian)
    return f"pqcmav: keys made, {SUITES} suites available; doctor: {doctor.strip().splitlines()[-1]}"


def show_the_dashboard(debian: Chroot) -> None:
    """Its page and the metrics beside it, by an ordinary user."""
    command = debian.command("pqcmav", "dashboard", "--port", "0", user="nobody:nogroup")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={"PATH": PATH}) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split()[-1]
            check(address.startswith("http://127.0.0.1:"), f"pqcmav dashboard: {address}")
            for path, wanted in (("", b"<html"), ("metrics", b"pqcmav_exporter_scrape_duration_seconds")):
                with urllib.request.urlopen(address + path, timeout=LIMIT_S) as page:  # noqa: S310 - http, from above
                    check(wanted in page.read(), f"pqcmav dashboard: {address}{path}")
        finally:
            server.terminate()


def main() -> int:
    """Run the test with mounts of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debian", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    with_own_mounts()
    packages = list(options.folder.glob("*.deb"))
    with tempfile.TemporaryDirectory(prefix="pqcmav-debian-") as folder:
        work = Path(folder)
        work.chmod(0o755)
        for name in ("ground", "drone"):
            (work / name).mkdir()
        debian = Chroot(options.debian, work / "ground")
        try:
            with debian.mounted():
                for sentence in test(debian, packages, work):
                    print(sentence, flush=True)
        except TestError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
