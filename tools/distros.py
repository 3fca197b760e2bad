#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's two commands, the tests and the packages in bare Debians and Ubuntus, with a table at the end.

    distros.py [--record] [RELEASE...]    codenames, all of RELEASES unless some are named
    distros.py --quick [RELEASE...]       what CI has time for; nothing is kept

Needs root (make distros). Each system is bootstrapped into a folder, which is removed at the end, and gets no more than
make, git, certificates and this machine's settings for the network. The outputs are in .deps/distros, the table of the
newest run of each system in build/distros.md and, with --record, in bench/results/distros.md. If this machine compiles
through ccache (CMAKE_CXX_COMPILER_LAUNCHER and CCACHE_DIR), so do they, each release with a cache of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import distros_table
from chroot import Chroot
from distros_table import RELEASES, Result
from two_ends import INSIDE, TestError, check

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".deps" / "distros"
PAGES = ("build/distros.md", "bench/results/distros.md")
# By Debian's names, as far as the README's commands have Python wheels of ROS 2.
ARCHITECTURE = "amd64"
NOT_REACHED = 3  # exit code of debian_base.sh
LIMIT_S = 7200
# All of 'make test' takes half an hour and more: one system runs it, the others what touches the platform.
WHOLE = "trixie"
PLATFORM = (
    *("pqc_mav_tunnel", "liboqs_vendor", "pqc_mav_interfaces", "pqc_mav_common", "pqc_mav_proxy", "pqc_mav_bringup"),
    *("pqc_mav_sensing", "pqc_mav_detect", "pqc_mav_recorder"),
)
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


def tests_of(release: str) -> str:
    """Return the command that tests in this system."""
    return "make test" if release == WHOLE else f"make test PACKAGES='{' '.join(PLATFORM)}'"


CCACHE = "var/cache/ccache"


def compiler_cache(release: str) -> Path | None:
    """Return the folder of this machine's compiler cache for a release, if there is one."""
    place = os.environ.get("CCACHE_DIR", "")
    if not place or "ccache" not in os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""):
        return None
    return Path(place) / "distros" / release


class NotReachedError(Exception):
    """The archive of a release cannot be reached from here."""


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

    def versions(self) -> Mapping[str, str]:
        """Upstream's versions of what is installed and may differ."""
        names = list(distros_table.VERSIONS)
        listed = self.run("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *names, good=False)
        return dict(distros_table.versions(listed))

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


def set_up(system: System, setup: str, name: str) -> None:
    """The rest is built, without a warning, and the doctor finds nothing missing."""
    system.says(setup, name)
    system.no_warnings()
    system.says("tools/run pqcmav doctor", f"{name}-doctor")


def engine_tests(system: System) -> str:
    """Some of the engine's tests compile without a warning, and pass; returns how many."""
    targets = " ".join(f"test_{name}" for name in QUICK)
    compiled(system, f"tools/run cmake --build build/pqc_mav_tunnel --target {targets}")
    choice = f"-R '^({'|'.join(QUICK)}):'"
    said = system.says(f"tools/run ctest --test-dir build/pqc_mav_tunnel -j2 --output-on-failure {choice}", "ctest")
    passed = re.findall(r"^100% tests passed, 0 tests failed out of (\d+)$", said, re.M)
    check(len(passed) == 1, said[-2000:])
    return f"{passed[0]} passed"


def compiled(system: System, build: str) -> None:
    """The engine's tests compile without a warning."""
    said = system.says(build, "tests-build")
    check(not (found := [line for line in said.splitlines() if WARNING.search(line)]), "\n".join(found[:20]))


def tested(system: System, command: str) -> str:
    """The tests pass; returns their last words, how many did."""
    totals = re.findall(r"^(\d+ passed, 0 failed, \d+ skipped)$", said := system.says(command, "tests"), re.M)
    check(len(totals) == 1, f"'{command}' names no totals:\n{said[-2000:]}")
    return str(totals[0])


def packages(system: System, tar: Path) -> None:
    """Made in the system, they install, run, upgrade and go in a fresh one."""
    system.says(f"tools/deb.sh --no-test {ARCHITECTURE}", "packages")
    clone = system.path(system.clone[1:])
    command = [sys.executable, clone / "tools/deb_test.py", tar, clone / "build-deb"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    check(done.returncode == 0, f"{done.stdout}{done.stderr}")


Steps = Mapping[str, Callable[[], object]]
SET_UP_FOR_TESTS = "tools/setup.sh analysis dashboard detect test"


def without_sudo(system: System, release: str, quick: bool) -> Steps:
    """What a user does who may not become root."""
    demo, setup = commands_of_the_readme()
    steps: dict[str, Callable[[], object]] = {
        "bare system": system.prepare,
        f"{demo} names what is missing": lambda: refused(system, demo),
        demo: lambda: flies(system, demo, "demo"),
    }
    some = {f"{len(QUICK)} of the engine's test programs": lambda: engine_tests(system)}
    if quick:
        return steps | some
    return {
        **steps,
        setup: lambda: set_up(system, setup, "setup"),
        **some,
        "all of them compiled": lambda: compiled(system, SET_UP_FOR_TESTS),
        "make test": lambda: tested(system, tests_of(release)),
    }


def with_sudo(system: System, tar: Path) -> Steps:
    """What a user does who may, in a folder with a space in its name."""
    demo, setup = commands_of_the_readme()
    return {
        "bare system, sudo": system.prepare,
        f"{demo}, sudo, path with a space": lambda: flies(system, demo, "demo-sudo"),
        f"{setup}, sudo, path with a space": lambda: set_up(system, setup, "setup-sudo"),
        "packages made, installed, run, removed": lambda: packages(system, tar),
    }


def try_release(result: Result, quick: bool) -> bool:
    """All steps in one system; whether they held. What is known after each is kept: such a run takes hours."""
    release = result.release

    def timed(step: str, action: Callable[[], object]) -> bool:
        print(f"==> {RELEASES[release]}: {step}", flush=True)
        start = time.monotonic()
        try:
            done = action()
        except (TestError, subprocess.SubprocessError) as error:
            result.cells[step] = "FAILED"
            print(f"error: {RELEASES[release]}, {step}: {error}", file=sys.stderr, flush=True)
            return False
        else:
            result.cells[step] = f"{done + ', ' if isinstance(done, str) else ''}{time.monotonic() - start:.0f} s"
            return True
        finally:
            if not quick:
                result.save(OUTPUT)

    def bootstrap() -> None:
        code = subprocess.run([ROOT / "tools/debian_base.sh", ARCHITECTURE, release], check=False).returncode
        if code == NOT_REACHED:
            raise NotReachedError
        check(code == 0, "it cannot be bootstrapped")

    result.steps.append("bootstrap")
    try:
        if not timed("bootstrap", bootstrap):
            return False
    except NotReachedError:
        result.cells["bootstrap"] = "archive not reached"
        print(f"{RELEASES[release]}: its archive cannot be reached from here: not tried", flush=True)
        return True
    tar = ROOT / f".deps/debian/{release}-{ARCHITECTURE}.tar"
    folder = OUTPUT / f"{release}.root"

    def run(user: str, place: str, sudo: bool, of: Callable[[System], Steps]) -> bool:
        remove(folder)
        folder.mkdir(mode=0o755)
        with ExitStack() as stack:
            stack.callback(remove, folder)
            system = System(release, tar, folder, user, place, sudo)
            stack.enter_context(system.mounted())
            steps = of(system)
            result.steps += steps
            for step, action in steps.items():
                if not timed(step, action):
                    return False
                result.versions |= system.versions()
            return True

    good = quick or run("pilot", "my drones/pqcmav", True, lambda system: with_sudo(system, tar))
    return good & run("guest", "pqcmav", False, lambda system: without_sudo(system, release, quick))


def remove(folder: Path) -> None:
    """Delete a system; its mounts are gone, and if one is not, nothing behind it is touched."""
    if folder.exists():
        subprocess.run(["rm", "--recursive", "--force", "--one-file-system", str(folder)], check=True)


def alone() -> None:
    """Start this program over with mounts and processes that end with it; unshare itself takes no SIGTERM."""
    if INSIDE not in os.environ:
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, *sys.argv]
        with subprocess.Popen(words, env={**os.environ, INSIDE: "1"}) as inside:
            signal.signal(signal.SIGTERM, lambda *_: inside.kill())
            sys.exit(inside.wait())


def publish(pages: Sequence[str]) -> None:
    """Write the pages from the newest results of all systems."""
    results = distros_table.load(OUTPUT)
    selections = {each.release: f"`{tests_of(each.release)}`" for each in results}
    for name in pages:
        new = ROOT / f"{name}.new"
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(distros_table.page(results, selections), encoding="utf-8")
        new.replace(ROOT / name)


def main() -> int:
    """Try each; print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=list(RELEASES))
    options = parser.parse_args()
    if unknown := [name for name in options.releases if name not in RELEASES]:
        parser.error(f"no release '{unknown[0]}': there are {', '.join(RELEASES)}")
    alone()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    good, done = True, []
    for release in options.releases:
        done.append(Result(release, commit, time.strftime("%Y-%m-%d", time.gmtime()), []))
        good &= try_release(done[-1], options.quick)
        if not options.quick:
            done[-1].save(OUTPUT)
            publish(PAGES if options.record else PAGES[:1])
    print(f"\n{distros_table.text(done)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
