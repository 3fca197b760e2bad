#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the C++ tests (ctest) and the Python tests (pytest, once per package) and close with one line of totals.

    tools/run python tools/run_tests.py [PACKAGE...]

Without arguments every package under `src/`, the set-up scripts' own tests (`tools`), the fault laboratory's (`chaos`)
and those of the benchmarks (`bench`) run. Most tests wait for something, so five runners work at a time, each
pytest in a ROS domain of its own, on the tests of a package or a part of them; what one says comes when it is done. A
test that failed beside others is tried again when nothing else runs, twice at most: a machine that many share starves
tests over real sockets and clocks now and then. If it passes then, the summary names it as unsteady. More than a
handful of failures is no bad luck and gets no second look. The exit code is 0 only when every runner succeeded and
at least one test passed.
"""

import argparse
import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "test-results"
# A hanging runner must not hang the whole run; single tests have limits of their own.
RUNNER_TIMEOUT_S = 1500
# ctest says two lines for every test; those of tests that passed would bury the others.
GOOD_CTEST_LINE = re.compile(r"\s+Start\s+\d+: |\s*\d+/\d+ Test\s+#\d+: .*\s(Passed)\s")
BAD_CTEST_LINE = re.compile(r"\s*(?:\d+/\d+ )?Test\s+#\d+: (?P<name>\S+) \.*\*\*\*(?!Skipped|Not Run)")


# Most tests wait: so many runners work at a time. What takes longest begins, so that none of that is left at the end.
AT_A_TIME = 5
LONGEST = (
    *("pqc_mav_cli", "pqc_mav_bench", "chaos", "pqc_mav_wirespec", "pqc_mav_dashboard", "pqc_mav_sim"),
    *("pqc_mav_policy", "bench", "pqc_mav_proxy", "pqc_mav_proxy_cpp", "pqc_mav_sensing", "pqc_mav_detect"),
    *("tools", "pqc_mav_bringup"),
)
# They compute, and give way to those that start systems of several programs.
COMPUTING = ("pqc_mav_bench", "pqc_mav_wirespec", "tools", "pqc_mav_policy_lab", "pqc_mav_common", "pqc_mav_interfaces")
GIVES_WAY = 5  # their nice value
#: Of tests that would end long after all others, those that a runner of its own has.
BESIDE = {"pqc_mav_cli": ("fleet", "joining", "demo", "policy"), "chaos": ("test_autopilots.py",)}
SECOND_LOOK_MAX = 10  # so many failures of eleven thousand may be the machine's
LOOKS = 2  # more, one by one: the machine may be shared beyond what this program starts
_SPEAKING = threading.Lock()


@dataclass(frozen=True)
class Part:
    """The tests of one runner of pytest."""

    name: str
    places: tuple[Path, ...]
    left_out: tuple[Path, ...] = ()

    @property
    def package(self) -> str:
        """Whose tests they are."""
        return self.name.partition(" ")[0]


def parts_of(folder: Path) -> list[Part]:
    """The tests of a package, tools, fault laboratory or benchmarks, as runners have them."""
    tests = folder / "test"
    beside = tuple(tests / each for each in BESIDE.get(folder.name, ()))
    return [Part(folder.name, (tests,), beside), *([Part(f"{folder.name} beside", beside)] if beside else [])]


@dataclass(frozen=True)
class Outcome:
    """What one runner (ctest or pytest on one package) reported."""

    name: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    problem: str = ""
    processor_s: float = 0.0  # of the runner and of everything it waited for
    broken: tuple[str, ...] = ()  # the names of what failed
    unsteady: tuple[str, ...] = ()  # failed beside others and passed alone

    @property
    def good(self) -> bool:
        """True when the runner ran, nothing failed and something passed or was skipped for a stated reason."""
        return not self.problem and self.failed == 0 and self.passed + self.skipped > 0


def read(report: Path) -> tuple[int, tuple[str, ...], int]:
    """Return how many passed, the names of those that failed (or broke), and how many were skipped in a JUnit file."""
    passed = skipped = 0
    failed = []
    root = ElementTree.parse(report).getroot()  # noqa: S314 - written by our own runner a moment ago
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            names = (case.get("classname"), case.get("name"))  # ctest's are one
            failed.append(".".join(dict.fromkeys(each for each in names if each)))
        elif case.find("skipped") is not None or case.get("status") in {"disabled", "notrun"}:
            skipped += 1
        else:
            passed += 1
    return passed, tuple(failed), skipped


def execute(
    command: list[str],
    cwd: Path,
    leave_out: re.Pattern[str] | None,
    env: dict[str, str] | None = None,
    said: IO[str] | None = None,
    bad: list[str] | None = None,
) -> tuple[int, float]:
    """Run a command, passing its output on except for the lines that match, or into `said`.

    Returns its exit code and the seconds of processor that it and what it waited for took.

    `bad` gets the names in lines that match BAD_CTEST_LINE, if lines are looked at.

    Raises subprocess.TimeoutExpired after RUNNER_TIMEOUT_S, with the command and all it started gone.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if leave_out else said,
        stderr=subprocess.STDOUT if said else None,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(RUNNER_TIMEOUT_S, stop)
    timer.start()
    try:
        if process.stdout and leave_out:
            for line in process.stdout:
                if bad is not None and (failed := BAD_CTEST_LINE.match(line)):
                    bad.append(failed["name"])
                if not leave_out.match(line):
                    print(line, end="", flush=True, file=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:
        stop()
        raise
    finally:
        timer.cancel()
    if expired.is_set():
        raise subprocess.TimeoutExpired(command, RUNNER_TIMEOUT_S)
    return process.returncode, used.ru_utime + used.ru_stime


def run(
    name: str,
    command: list[str],
    cwd: Path,
    report: Path,
    leave_out: re.Pattern[str] | None = None,
    env: dict[str, str] | None = None,
    said: IO[str] | None = None,
) -> Outcome:
    """Run one runner that writes a JUnit file to `report`; its own output goes to the terminal, or into `said`.

    What failed once on the way and is no failure of the report passed at a second try.
    """
    print(f"\n==> {name}", flush=True, file=said)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    started = time.monotonic()
    problem = ""
    processor_s = 0.0
    bad: list[str] = []
    try:
        code, processor_s = execute(command, cwd, leave_out, env, said, bad)
        problem = f"ended by {signal.Signals(-code).name}" if code < 0 else ""
    except subprocess.TimeoutExpired:
        code = -1
        problem = f"stopped after {RUNNER_TIMEOUT_S} s"
    seconds = time.monotonic() - started
    try:
        passed, broken, skipped = read(report)
    except (OSError, ElementTree.ParseError):
        return Outcome(name, 0, 0, 0, seconds, problem or f"exit code {code} and no report")
    if code != 0 and not broken:
        problem = problem or f"exit code {code}"
    if passed + len(broken) + skipped == 0:
        problem = problem or "found no test"
    unsteady = tuple(each for each in bad if each not in broken)
    return Outcome(name, passed, len(broken), skipped, seconds, problem, processor_s, broken, unsteady)


def run_ctest(package: str) -> Outcome:
    """Run the gtests of a CMake package in its colcon build folder."""
    build = ROOT / "build" / package
    report = RESULTS / f"{package}.ctest.xml"
    # 1,679 tests take 115 s of two processors in 538 s: most wait for the engine's own times.
    jobs = str(2 * (os.cpu_count() or 2))
    # The package's Python tests, where CMake knows them too, are pytest's share.
    # Tests over real sockets may be starved once on a shared machine; one that fails twice is broken.
    command = [
        "ctest",
        "--output-on-failure",
        "--repeat",
        "until-pass:2",
        "-j",
        jobs,
        "--label-exclude",
        "pytest|linter",
    ]
    with spoken_at_the_end() as said:
        command += ["--output-junit", str(report)]
        return run(f"ctest {package}", command, build, report, GOOD_CTEST_LINE, said=said)


@contextlib.contextmanager
def spoken_at_the_end() -> Iterator[IO[str]]:
    """Give a file for what a runner says; all of it is printed at once when that is over."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        yield said
        said.seek(0)
        with _SPEAKING:
            print(said.read(), end="", flush=True)


def run_pytest(part: Part, nice: int, only_failed: bool = False) -> Outcome:
    """Run pytest on one part of the tests, in a ROS domain of its own."""
    name = part.name.replace(" ", "-")
    report = RESULTS / f"{name}{'.again' if only_failed else ''}.pytest.xml"
    command = [
        *(["nice", "-n", str(nice)] if nice else []),
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "-o",
        f"cache_dir={RESULTS / 'failed' / name}",
        *(["--last-failed", "--last-failed-no-failures=none"] if only_failed else []),
        f"--junitxml={report}",
        *(f"--ignore={each}" for each in part.left_out),
        *map(str, part.places),
    ]
    label = f"pytest {part.name}" + (", what failed alone" if only_failed else "")
    with own_ros_domain() as domain, spoken_at_the_end() as said:
        return run(label, command, ROOT, report, env={**os.environ, **domain}, said=said)


def run_together(packages: list[str], parts: list[Part]) -> tuple[list[Outcome], list[Outcome]]:
    """Run the C++ tests of packages and parts of the Python tests beside each other."""

    def run_one(part: Part) -> Outcome:
        return run_pytest(part, GIVES_WAY if part.package in COMPUTING else 0)

    def turn(part: Part) -> int:
        return LONGEST.index(part.package) if part.package in LONGEST else len(LONGEST)

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        native = [pool.submit(run_ctest, package) for package in packages]
        runs = {part: pool.submit(run_one, part) for part in sorted(parts, key=turn)}
        return [each.result() for each in native], [runs[part].result() for part in parts]


def second_look(outcomes: list[Outcome], parts: list[Part]) -> list[Outcome]:
    """Try the few tests that failed again with nothing beside them, twice at most; what passes is called unsteady."""
    if sum(outcome.failed for outcome in outcomes) > SECOND_LOOK_MAX:
        return outcomes
    for _ in range(LOOKS):
        outcomes = [
            looked_at_again(outcome, part) if outcome.failed and not outcome.problem else outcome
            for outcome, part in zip(outcomes, parts, strict=True)
        ]
    return outcomes


def looked_at_again(outcome: Outcome, part: Part) -> Outcome:
    """Run what failed again; a second run that breaks or leaves a test out changes nothing."""
    again = run_pytest(part, 0, only_failed=True)
    if again.problem or again.passed + again.failed != outcome.failed:
        return outcome
    return replace(
        outcome,
        passed=outcome.passed + again.passed,
        failed=again.failed,
        broken=again.broken,
        seconds=outcome.seconds + again.seconds,
        processor_s=outcome.processor_s + again.processor_s,
        unsteady=(*outcome.unsteady, *(each for each in outcome.broken if each not in again.broken)),
    )


def has_ctests(package: Path) -> bool:
    """Tell whether the package has C++ tests."""
    return any((package / "test").glob("**/*.cpp"))


def has_pytests(folder: Path) -> bool:
    """Tell whether pytest would look into a file below `folder`."""
    return any(folder.glob("**/test_*.py")) or any(folder.glob("**/*_test.py"))


def missing(folders: list[Path]) -> str:
    """What these tests need and 'make setup' alone does not bring, as one sentence; "" when all is there."""
    cure = "run 'make test', or 'tools/setup.sh analysis test' first"
    if importlib.util.find_spec("pytest") is None:
        return f"pytest is not installed: {cure}"
    for folder in filter(has_ctests, folders):
        command = ["ctest", "--test-dir", str(ROOT / "build" / folder.name), "--show-only"]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        lacking = re.findall(r": (\w+)_NOT_BUILT$", listed.stdout, re.MULTILINE)
        if lacking or "Total Tests: 0" in listed.stdout or listed.returncode != 0:
            return f"{', '.join(lacking) or 'the C++ tests'} of {folder.name} are not built: {cure}"
    return ""


def selected(names: list[str]) -> list[Path]:
    """Return the folders to test: all packages, tools, fault laboratory and benchmarks, or the named ones."""
    known = {path.parent.name: path.parent for path in sorted((ROOT / "src").glob("*/package.xml"))}
    known |= {name: ROOT / name for name in ("tools", "chaos", "bench")}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"error: no package {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in names or known]


@contextlib.contextmanager
def own_ros_domain() -> Iterator[dict[str, str]]:
    """Give the environment of a ROS domain that no other run on this machine uses."""
    try:
        from domain_coordinator import domain_id
    except ImportError:
        print("domain_coordinator is not installed: tests share ROS domain", os.environ.get("ROS_DOMAIN_ID", "0"))
        yield {}
        return
    with domain_id() as number:
        yield {"ROS_DOMAIN_ID": str(number)}


def summarise(outcomes: list[Outcome]) -> int:
    """Print one line per runner and the totals; return the exit code."""
    print("\n==> summary")
    for outcome in outcomes:
        counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        note = f"  [{outcome.problem}]" if outcome.problem else ""
        took = f"{outcome.seconds:.0f} s, {outcome.processor_s:.0f} s of processor"
        print(f"{'ok  ' if outcome.good else 'FAIL'} {outcome.name}: {counts} in {took}{note}")
        for name in outcome.unsteady:
            print(f"     unsteady, passed when tried again: {name}")
        for name in outcome.broken:
            print(f"     failed: {name}")
    # A runner that broke without naming a test counts as one failure, so that the totals never look clean by accident.
    failed = sum(max(outcome.failed, 0 if outcome.good else 1) for outcome in outcomes)
    passed = sum(outcome.passed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="packages to test (default: all)")
    folders = selected(parser.parse_args().packages)
    if lack := missing(folders):
        sys.exit(f"error: {lack}")
    # A shell that starts this in the background has it ignore SIGINT, which every program under test would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tested = [part for folder in folders if has_pytests(folder / "test") for part in parts_of(folder)]
    native, python = run_together([folder.name for folder in folders if has_ctests(folder)], tested)
    return summarise([*native, *second_look(python, tested)])


if __name__ == "__main__":
    sys.exit(main())
