#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's two commands, the tests and the packages in bare Debians and Ubuntus, with a table at the end.

    distros.py [--record] [--part PART]... [RELEASE...]    codenames, all of RELEASES unless some are named
    distros.py --quick [RELEASE...]                        what CI has time for; nothing is kept

Needs root (make distros). Each system is bootstrapped into a folder, which is removed at the end, and gets no more than
make, git, certificates and this machine's settings for the network. Parts are sudo and plain, which run unless others
are named, tests, which takes half an hour and more, and openssl: the engine without liboqs. The outputs are in
.deps/distros, the table of the newest run of each part in build/distros.md and, with --record, in
bench/results/distros.md. If this machine compiles through ccache (CMAKE_CXX_COMPILER_LAUNCHER and CCACHE_DIR), so do
they, each release with a cache of its own.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import distros_table
from distros_system import LIMIT_S, OUTPUT, ROOT, WARNING, System
from distros_table import RELEASES, Part, Result
from two_ends import INSIDE, TestError, check

PAGES = ("build/distros.md", "bench/results/distros.md")
# By Debian's names, as far as the README's commands have Python wheels of ROS 2.
ARCHITECTURE = "amd64"
NOT_REACHED = 3  # exit code of debian_base.sh
# One system runs all of 'make test', the others what touches the platform.
WHOLE = "trixie"
PLATFORM = (
    *("pqc_mav_tunnel", "liboqs_vendor", "pqc_mav_interfaces", "pqc_mav_common", "pqc_mav_proxy", "pqc_mav_bringup"),
    *("pqc_mav_sensing", "pqc_mav_detect", "pqc_mav_recorder"),
)
# The engine's tests that CI compiles on another release: some of each layer, none of which waits, and none of which
# needs more of liboqs than a first demo.
QUICK = (
    *("aead", "ascon", "bundle", "config_yaml", "control_frame", "frame", "handshake_datagram", "kdf", "key_file"),
    *("kem_sig", "known_answers", "lack", "nist_answers", "replay_window", "self_test", "session", "shaper"),
    *("transport", "vectors_mavlink", "vectors_transport", "x25519"),
)


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


def refused(system: System, demo: str) -> None:
    """Without sudo one line says what is missing; what it says to run, root runs, and nothing else."""
    said = system.says(demo, "refused", good=False)
    named = re.findall(
        r"^error: missing: .*: run '(sudo apt-get install [a-z0-9+. -]+)' and then make again$", said, re.M
    )
    check(len(named) == 1, f"'{demo}' without what it needs does not name it in one line:\n{said}")
    check("Traceback" not in said, f"a traceback:\n{said}")
    system.run(*named[0].split()[1:], "--yes", "--no-install-recommends")


def flies(system: System, demo: str) -> None:
    """The demo passes, and what it built raised no warning."""
    check("PASSED" in (said := system.says(demo, "demo")), f"'{demo}' did not pass:\n{said[-2000:]}")
    system.no_warnings()


def set_up(system: System, setup: str) -> None:
    """The rest is built, without a warning, and the doctor finds nothing missing."""
    system.says(setup, "setup")
    system.no_warnings()
    system.says("tools/run pqcmav doctor", "doctor")


def engine_tests(system: System, folder: str = "build/pqc_mav_tunnel", run: str = "tools/run ") -> str:
    """Some of the engine's tests compile without a warning, and pass; returns how many."""
    chosen = f"{run}cmake -DPQCMAV_TESTS='{';'.join(QUICK)}' {folder}"
    compiled(system, f"{chosen} && {run}cmake --build {folder} --target short_tests")
    said = system.says(f"{run}ctest --test-dir {folder} -j2 --output-on-failure -LE 'pytest|linter'", "ctest")
    passed = re.findall(r"^100% tests passed, 0 tests failed out of (\d+)$", said, re.M)
    check(len(passed) == 1, said[-2000:])
    return f"{passed[0]} passed"


def compiled(system: System, build: str) -> None:
    """The engine's tests compile without a warning."""
    said = system.says(build, "tests-build")
    check(not (found := [line for line in said.splitlines() if WARNING.search(line)]), "\n".join(found[:20]))


def without_liboqs(system: System) -> None:
    """The daemon compiles with OpenSSL alone; it has the standards by it, and says what it lacks and who has that."""
    options = "-DPQCMAV_LIBOQS=OFF -DPQCMAV_PYTHON=OFF -DPQCMAV_ON_DEMAND=ON -DCMAKE_UNITY_BUILD=ON"
    system.says("tools/setup_system.sh", "packages")
    compiled(system, f"cmake -S src/pqc_mav_tunnel -B {ALONE} -G Ninja {options} && cmake --build {ALONE}")
    said = system.says(f"{ALONE}/pqcmav-tunneld --preflight", "preflight", good=False)
    lines = {" ".join(line.split()[1:2]): line for line in said.splitlines()}
    for name in ("ML-KEM-768", "ML-DSA-65", "SLH-DSA-SHA2-128s"):
        check(" by OpenSSL 3." in lines.get(name, ""), f"{name} is not OpenSSL's:\n{said}")
    for name in ("HQC-1", "Falcon-512"):
        check("this was built without liboqs; liboqs " in lines.get(name, ""), f"nobody says who has {name}:\n{said}")


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
TITLES = {
    "sudo": "a user with sudo, in a path with a space",
    "plain": "a user without sudo",
    "tests": "tests, not as root",
    "openssl": "the engine with OpenSSL alone",
    "quick": "a user without sudo, what CI has time for",
}
USERS = {
    "sudo": ("pilot", "my drones/pqcmav"),
    "plain": ("guest", "pqcmav"),
    "tests": ("tester", "pqcmav"),
    "openssl": ("alone", "pqcmav"),
}
# Where OpenSSL has the standards.
WITH_STANDARDS = ("trixie", "resolute")
ALONE = "build/alone"


def steps_of(part: str, system: System, release: str, tar: Path) -> Steps:
    """What is done in a system, in this order."""
    demo, setup = commands_of_the_readme()
    bare: Steps = {"bare system": system.prepare}
    if part == "sudo":
        return {
            **bare,
            demo: lambda: flies(system, demo),
            setup: lambda: set_up(system, setup),
            "packages made, installed, run, removed": lambda: packages(system, tar),
        }
    if part == "openssl":
        return {
            **bare,
            "without liboqs": lambda: without_liboqs(system),
            f"{len(QUICK)} of the engine's test files": lambda: engine_tests(system, ALONE, ""),
        }
    if part == "tests":
        return {
            **bare,
            "tests compiled": lambda: compiled(system, "tools/setup.sh analysis dashboard detect test"),
            "make test": lambda: tested(system, tests_of(release)),
        }
    return {
        **bare,
        f"{demo} names what is missing": lambda: refused(system, demo),
        demo: lambda: flies(system, demo),
        **({setup: lambda: set_up(system, setup)} if part == "plain" else {}),
        f"{len(QUICK)} of the engine's test files": lambda: engine_tests(system),
    }


def timed(where: str, part: Part, step: str, action: Callable[[], object]) -> bool:
    """Do it, and put down how long it took or that it failed."""
    print(f"==> {where}: {step}", flush=True)
    start = time.monotonic()
    try:
        done = action()
    except (TestError, subprocess.SubprocessError) as error:
        part.cells[step] = "FAILED"
        print(f"error: {where}, {step}: {error}", file=sys.stderr, flush=True)
        return False
    part.cells[step] = f"{done + ', ' if isinstance(done, str) else ''}{time.monotonic() - start:.0f} s"
    return True


def archive_of(release: str) -> Path:
    """Return where debian_base.sh puts a release."""
    return Path(ROOT, f".deps/debian/{release}-{ARCHITECTURE}.tar")


def bootstrap(result: Result) -> bool | None:
    """Make its archive of files; None if the release's archive cannot be reached."""
    tar = archive_of(result.release)
    start, before = time.monotonic(), tar.stat().st_mtime if tar.exists() else None
    code = subprocess.run([ROOT / "tools/debian_base.sh", ARCHITECTURE, result.release], check=False).returncode
    if code == NOT_REACHED:
        result.bootstrap, result.parts = "archive not reached", {}
        print(f"{RELEASES[result.release]}: its archive cannot be reached from here: not tried", flush=True)
        return None
    if code:
        result.bootstrap = "FAILED"
    elif tar.stat().st_mtime == before:
        result.bootstrap = "made before"
    else:
        result.bootstrap = f"{time.monotonic() - start:.0f} s"
    return code == 0


def try_part(result: Result, name: str, commit: str, keep: Callable[[], None]) -> bool:
    """All steps of a part in a fresh system; whether they held. What is known is kept after each: it takes hours."""
    release = result.release
    tar = archive_of(release)
    folder = OUTPUT / f"{release}-{name}.root"
    user, place = USERS.get(name, USERS["plain"])
    remove(folder)
    folder.mkdir(mode=0o755)
    with ExitStack() as stack:
        stack.callback(remove, folder)
        system = System(release, tar, folder, user, place, sudo=name not in ("plain", "quick"))
        stack.enter_context(system.mounted())
        steps = steps_of(name, system, release, tar)
        part = Part(time.strftime("%Y-%m-%d", time.gmtime()), commit, list(steps))
        result.parts[name] = part
        for step, action in steps.items():
            held = timed(f"{RELEASES[release]}, {TITLES[name]}", part, step, action)
            result.versions |= system.versions()
            keep()
            if not held:
                return False
    return True


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


def commit_of_the_clone() -> str:
    """Return what is cloned as others can find it: the newest commit that upstream has, and how many follow it here."""

    def git(*words: str) -> str:
        said = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return said.stdout.strip() if said.returncode == 0 else ""

    base = git("merge-base", "HEAD", "@{upstream}") or git("rev-parse", "HEAD")
    check(bool(base), f"git knows no commit of {ROOT}")
    more = git("rev-list", "--count", f"{base}..HEAD")
    return base[:8] + (f"+{more}" if more != "0" else "")


def publish(pages: Sequence[str]) -> None:
    """Write the pages from what is kept of each system."""
    results = [distros_table.load(OUTPUT, release) for release in RELEASES]
    owner = ROOT.stat()
    titles = {name: TITLES[name] for name in USERS}
    tests = {release: f"`{tests_of(release)}`" for release in RELEASES}
    for name in pages:
        new = ROOT / f"{name}.new"
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(distros_table.page(results, titles, tests), encoding="utf-8")
        for path in (new.parent, new, OUTPUT):  # make, run later without sudo, writes and removes here
            os.chown(path, owner.st_uid, owner.st_gid)
        new.replace(ROOT / name)


def main() -> int:
    """Try each; print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--part", action="append", choices=list(USERS))
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=list(RELEASES))
    options = parser.parse_args()
    if unknown := [name for name in options.releases if name not in RELEASES]:
        parser.error(f"no release '{unknown[0]}': there are {', '.join(RELEASES)}")
    alone()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    commit = commit_of_the_clone()
    parts = ["quick"] if options.quick else options.part or ["sudo", "plain"]
    good, results = True, []
    for release in options.releases:
        result = Result(release) if options.quick else distros_table.load(OUTPUT, release)
        results.append(result)

        def keep(result: Result = result) -> None:
            if not options.quick:
                result.save(OUTPUT)
                publish(PAGES if options.record else PAGES[:1])

        reached = bootstrap(result)
        keep()
        good &= reached is not False
        for name in parts if reached else []:
            if name != "openssl" or result.release in WITH_STANDARDS:
                good &= try_part(result, name, commit, keep)
    print(f"\n{distros_table.text(results, {name: TITLES[name] for name in parts})}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
