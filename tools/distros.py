#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's two commands, the engine's tests and the packages in bare Debians and Ubuntus, with a table at the end.

    distros.py [--quick] [RELEASE...]    codenames, all of RELEASES unless some are named; --quick: what CI has time for

Needs root (make distros). Each system is bootstrapped into a folder, which is removed at the end, and gets no more than
make, git, certificates and this machine's settings for the network. The outputs are in .deps/distros. If this machine
compiles through ccache (CMAKE_CXX_COMPILER_LAUNCHER and CCACHE_DIR), so do they, each release with a cache of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from chroot import Chroot
from two_ends import INSIDE, TestError, check

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".deps" / "distros"
RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13", "noble": "Ubuntu 24.04", "resolute": "Ubuntu 26.04"}
# By Debian's names, as far as the README's commands have Python wheels of ROS 2.
ARCHITECTURE = "amd64"
NOT_REACHED = 3  # exit code of debian_base.sh
LIMIT_S = 3600
# The engine's tests that CI compiles on another release: some of each layer, none of which waits, and none of which
# needs more of liboqs than a first demo.
QUICK = (
    *("aead", "ascon128a", "bundle", "config_yaml", "control_frame", "frame", "handshake_datagram", "kdf", "key_file"),
    *("replay_window", "session", "shaper", "transport", "vectors_mavlink", "vectors_transport", "x25519"),
)
WARNING = re.compile(r"^(?!.*-- ).*(\bwarning: |CMake (Deprecation )?Warning|DeprecationWarning)")


def commands_of_the_readme() -> list[str]:
    """Return the two commands that README.md shows first."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Two commands\n")[2]
    block = section.partition("\n```\n")[2].partition("\n```\n")[0]
    commands = [line.partition("#")[0].strip() for line in block.splitlines()]
    check(len(commands) == 2, f"README.md shows {len(commands)} commands under 'Two commands', not two")
    return commands


CCACHE = "var/cache/ccache"


def compiler_cache(release: str) -> Path | None:
    """Return the folder of this machine's compiler cache for a release, if there is one."""
    place = os.environ.get("CCACHE_DIR", "")
    if not place or "ccache" not in os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""):
        return None
    return Path(place) / "distros" / release


class System(Chroot):
    """A bare system with one user, who may become root or may not, and has a clone in this folder of the home."""

    def __init__(self, release: str, tar: Path, root: Path, user: str, folder: str, sudo: bool) -> None:
        super().__init__(tar, root)
        self._log = OUTPUT / release
        self._cache = compiler_cache(release)
        self._user, self._sudo = user, sudo
        self._home = f"/home/{user}"
        self.clone = f"{self._home}/{folder}"

    def prepare(self) -> None:
        """Add what a machine has before anyone clones something, and the clone."""
        self.run("apt-get", "update")
        packages = ["make", "git", "ca-certificates"]
        packages += ["sudo"] if self._sudo else []
        if self._cache:
            packages.append("ccache")
            self._cache.mkdir(mode=0o777, parents=True, exist_ok=True)
            self._cache.chmod(0o777)
            self.path(CCACHE).mkdir()
            self.mount(CCACHE, "--bind", str(self._cache))
        self.run("apt-get", "install", "--yes", "--no-install-recommends", *packages)
        self.run("useradd", "--create-home", "--shell", "/bin/bash", self._user)
        if self._sudo:
            rule = self.path(f"etc/sudoers.d/{self._user}")
            rule.write_text(f"{self._user} ALL=(ALL) NOPASSWD: ALL\n", encoding="utf-8")
        subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), self.path(self.clone[1:])], check=True)
        self.run("chown", "--recursive", f"{self._user}:{self._user}", self._home)

    def says(self, command: str, name: str, good: bool = True) -> str:
        """Run a shell command as the user in the clone; return its output, which also goes to a file of this name."""
        user = self._user
        more = {"HOME": self._home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "ROS_DOMAIN_ID": "77"}
        if self._cache:
            more |= {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")}
            more |= {name: value for name, value in os.environ.items() if name.startswith("CCACHE_")}
            more |= {"CCACHE_DIR": f"/{CCACHE}", "CCACHE_BASEDIR": self.clone, "CCACHE_UMASK": "000"}
        words = ["runuser", "-u", user, "--", "bash", "-c", f"cd {shlex.quote(self.clone)} && {command}"]
        file = self._log.with_name(f"{self._log.name}-{name}.log")
        with file.open("w", encoding="utf-8") as log:
            result = subprocess.run(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=LIMIT_S,
                env=self.environment(**more),
            )
        said = file.read_text(encoding="utf-8", errors="replace")
        last = "\n".join(said.splitlines()[-15:])
        check((result.returncode == 0) == good, f"'{command}' ended with {result.returncode} ({file}):\n{last}")
        return said

    def no_warnings(self) -> None:
        """Nothing that the last build printed is a warning of a compiler, of CMake or of Python."""
        logs = self.path(f"{self.clone[1:]}/.deps/log/colcon/latest_build")
        texts = {path: path.read_text(errors="replace") for path in logs.glob("*/stdout_stderr.log")}
        check(bool(texts), f"no logs of a build in {logs}")
        found = [f"{path.parent.name}: {line}" for path, text in texts.items() for line in text.splitlines()]
        found = [line for line in found if WARNING.search(line)]
        check(not found, f"{len(found)} warnings, the first ones:\n" + "\n".join(found[:20]))


def refused(system: System, demo: str) -> None:
    """Without sudo one line says what is missing; what it says to run, root runs, and nothing else."""
    said = system.says(demo, "refused", good=False)
    named = re.findall(
        r"^error: missing: .*: run '(sudo apt-get install [a-z0-9+. -]+)' and then make again$", said, re.M
    )
    check(len(named) == 1, f"'{demo}' without what it needs does not name it in one line:\n{said}")
    check("Traceback" not in said, f"a traceback:\n{said}")
    system.run(*named[0].split()[1:], "--yes", "--no-install-recommends")


def flies(system: System, demo: str, name: str) -> None:
    """The demo passes, and what it built raised no warning."""
    check("PASSED" in (said := system.says(demo, name)), f"'{demo}' did not pass:\n{said[-2000:]}")
    system.no_warnings()


def set_up(system: System, setup: str) -> None:
    """The rest is built, without a warning, and the doctor finds nothing missing."""
    system.says(setup, "setup")
    system.no_warnings()
    system.says("tools/run pqcmav doctor", "doctor")


def engine_tests(system: System, build: str, choice: str) -> None:
    """The engine's tests compile without a warning, and pass."""
    said = system.says(build, "engine-build")
    check(not (found := [line for line in said.splitlines() if WARNING.search(line)]), "\n".join(found[:20]))
    said = system.says(
        f"tools/run ctest --test-dir build/pqc_mav_tunnel -j2 --output-on-failure {choice}", "engine-tests"
    )
    check("100% tests passed" in said, said[-2000:])


def packages(system: System, tar: Path) -> None:
    """Made in the system, they install, run, upgrade and go in a fresh one."""
    system.says(f"tools/deb.sh --no-test {ARCHITECTURE}", "packages")
    clone = system.path(system.clone[1:])
    command = [sys.executable, clone / "tools/deb_test.py", tar, clone / "build-deb"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    check(done.returncode == 0, f"{done.stdout}{done.stderr}")


Steps = Mapping[str, Callable[[], object]]
TESTS = "tools/run cmake --build build/pqc_mav_tunnel --target"


def without_sudo(system: System, quick: bool) -> Steps:
    """What a user does who may not become root."""
    demo, _ = commands_of_the_readme()
    steps: dict[str, Callable[[], object]] = {
        "bare system": system.prepare,
        "says what is missing": lambda: refused(system, demo),
        "demo": lambda: flies(system, demo, "demo"),
    }
    if quick:
        targets = " ".join(f"test_{name}" for name in QUICK)
        choice = f"-R '^({'|'.join(QUICK)}):'"
        steps["engine tests"] = lambda: engine_tests(system, f"{TESTS} {targets}", choice)
    return steps


def with_sudo(system: System, tar: Path) -> Steps:
    """What a user does who may."""
    demo, setup = commands_of_the_readme()
    return {
        "bare system, sudo": system.prepare,
        "demo, sudo, path with a space": lambda: flies(system, demo, "demo-sudo"),
        "setup": lambda: set_up(system, setup),
        "engine tests": lambda: engine_tests(system, f"{TESTS} engine_tests", ""),
        "packages made, installed, run, removed": lambda: packages(system, tar),
    }


class Table:
    """How long each step took in each system, or why it did not."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, str]] = {}

    def set(self, release: str, step: str, cell: str) -> None:
        """Write one cell."""
        self._cells.setdefault(release, {})[step] = cell

    def __str__(self) -> str:
        """The table as text: a column per system."""
        steps = list(dict.fromkeys(step for column in self._cells.values() for step in column))
        lines = [["seconds", *(RELEASES[release] for release in self._cells)]]
        lines += [[step, *(column.get(step, "") for column in self._cells.values())] for step in steps]
        widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
        pad = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
        return "\n".join("  ".join(line).rstrip() for line in pad)


def try_release(release: str, table: Table, quick: bool) -> bool:
    """All steps in one system; whether they held."""

    def timed(step: str, action: Callable[[], object]) -> bool:
        print(f"==> {RELEASES[release]}: {step}", flush=True)
        start = time.monotonic()
        try:
            action()
        except (TestError, subprocess.SubprocessError) as error:
            table.set(release, step, "FAILED")
            print(f"error: {RELEASES[release]}, {step}: {error}", file=sys.stderr, flush=True)
            return False
        table.set(release, step, f"{time.monotonic() - start:.0f}")
        return True

    start = time.monotonic()
    code = subprocess.run([ROOT / "tools/debian_base.sh", ARCHITECTURE, release], check=False).returncode
    if code == NOT_REACHED:
        table.set(release, "bootstrap", "not reached")
        print(f"{RELEASES[release]}: its archive cannot be reached from here: not tried", flush=True)
        return True
    check(code == 0, f"{RELEASES[release]} cannot be bootstrapped")
    table.set(release, "bootstrap", f"{time.monotonic() - start:.0f}")
    tar = ROOT / f".deps/debian/{release}-{ARCHITECTURE}.tar"
    folder = OUTPUT / f"{release}.root"

    def steps(user: str, place: str, sudo: bool, of: Callable[[System], Steps]) -> bool:
        remove(folder)
        folder.mkdir(mode=0o755)
        with ExitStack() as stack:
            stack.callback(remove, folder)
            system = System(release, tar, folder, user, place, sudo)
            stack.enter_context(system.mounted())
            return all(timed(step, action) for step, action in of(system).items())

    good = steps("guest", "pqcmav", False, lambda system: without_sudo(system, quick))
    if not quick:
        good &= steps("pilot", "my drones/pqcmav", True, lambda system: with_sudo(system, tar))
    return good


def remove(folder: Path) -> None:
    """Delete a system; its mounts are gone, and if one is not, nothing behind it is touched."""
    if folder.exists():
        subprocess.run(["rm", "--recursive", "--force", "--one-file-system", str(folder)], check=True)


def alone() -> None:
    """Start this program over with mounts and processes that end with it."""
    if INSIDE not in os.environ:
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, *sys.argv]
        sys.exit(subprocess.call(words, env={**os.environ, INSIDE: "1"}))


def main() -> int:
    """Try each; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=list(RELEASES))
    options = parser.parse_args()
    if unknown := [name for name in options.releases if name not in RELEASES]:
        parser.error(f"no release '{unknown[0]}': there are {', '.join(RELEASES)}")
    alone()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    table = Table()
    good = [try_release(release, table, options.quick) for release in options.releases]
    print(f"\n{table}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
