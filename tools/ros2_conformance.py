# SPDX-License-Identifier: Apache-2.0
"""Build and test the workspace as a user of ROS 2 does, in one go, and write docs/ros2-conformance.md.

    tools/run python tools/ros2_conformance.py [--bench WORDS] [--secure RMW] [--without-engine] [--page FILE]

Needs ROS 2 with rclcpp on AMENT_PREFIX_PATH, and what 'tools/setup.sh analysis dashboard detect test' brings. It runs
'colcon build', then 'colcon test' over all packages; a package that fails beside others is tested once more alone, and
the page names it. Then the tests of DDS security run under the middleware that --secure names. The engine's C++ tests,
which know no ROS and take as long to compile as all else, can be left out. The page is written at the end, if all is
green; a run that is not leaves the page as it was and ends with 1.
"""

import argparse
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import ros2_results
from markdown_table import table
from ros2_results import FAILED, PASSED, SKIPPED, Case

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ros2-conformance.md"
SECURITY_TESTS = tuple(
    f"src/pqc_mav_cli/test/{name}.py" for name in ("test_security_enforced", "launched/test_launched_secured")
)
ENGINE = "pqc_mav_tunnel"
SECURED = "under DDS security"  # the part of its tests
# What the suite stands on, as far as it is here.
USED = (
    *("rclcpp", "rclpy", "rmw_fastrtps_cpp", "rmw_cyclonedds_cpp", "cyclonedds", "launch", "launch_ros", "ros2cli"),
    *("sros2", "rosbag2_cpp", "rosbag2_storage_mcap", "mavros"),
)
MAVROS = "mavros at both ends"
# Reasons that are the same for a reader, each with the words that stand for them.
ALIKE = {
    r"cannot be used here: (OpenSSL|liboqs)|^liboqs .* lacks ": "an algorithm that this OpenSSL or liboqs has not",
    r"PQCMAV_SLOW=1 runs it$": "takes long; PQCMAV_SLOW=1 runs it",
}
# What ROS 2 adds to the ordinary tests, and where its tests are: line of the page -> "PACKAGE NAME" of its tests.
LINES = {
    "conformance of the proxy in C++": r"^pqc_mav_proxy_cpp .*\[.*\bcpp\b",
    "the same of the proxy in Python": r"^pqc_mav_proxy_cpp .*\[.*\bpy\b",
    "component containers: one executor thread, several, isolated": r"^pqc_mav_proxy_cpp .*test_component",
    "launch files: both ends, each proxy, each place of its engine": r"launched\.test_launched_ends",
    "launch files: crashes, refusals, endings": r"launched\.test_launched_faults|test_launch_(actions|keeper)",
    "launch files: fleet, flights, scenarios, campaigns": r"test_launched_(fleet|flight|others)|test_launch_demo",
    MAVROS: r"test_launched_mavros|test_mavros_ends",
    "DDS security with Enforce": rf"^{SECURED} ",
    "files of rosbag2, and ours read by it": r"test_rosbag2",
}


@dataclass
class Run:
    """What one run found."""

    commit: str
    cases: list[Case] = field(default_factory=list)
    second: list[str] = field(default_factory=list)  # failed beside others and passed alone
    minutes: float = 0.0

    def count(self, outcome: str, cases: Iterable[Case] | None = None) -> int:
        """How many of these, or of all, came out so."""
        return sum(case.outcome == outcome for case in (self.cases if cases is None else cases))

    def of(self, pattern: str) -> list[Case]:
        """The tests of a line of the page."""
        return [case for case in self.cases if re.search(pattern, f"{case.package} {case.name}")]


def prefixes() -> list[Path]:
    """Where ROS packages are installed, first those that hide others."""
    return [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if each]


def version(name: str) -> str:
    """Of an installed ROS package; empty where it is not."""
    for prefix in prefixes():
        for file in (prefix / "share" / name / "package.xml", prefix / "share" / name.upper() / "package.xml"):
            if file.is_file():
                return ElementTree.parse(file).getroot().findtext("version") or ""  # noqa: S314 - installed here
    return ""


def packages() -> list[str]:
    """All of the workspace."""
    return sorted(file.parent.name for file in ROOT.glob("src/*/package.xml"))


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> bool:
    """Whether a command ended well; its output goes to the terminal."""
    print(f"==> {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False).returncode == 0


def untested() -> list[str]:
    """What has colcon leave the engine's tests uncompiled, as 'make setup' does."""
    metas = ROOT / ".deps" / "colcon.meta"
    text = (ROOT / "colcon.meta").read_text(encoding="utf-8")
    metas.write_text(text.replace("PQCMAV_ON_DEMAND=OFF", "PQCMAV_ON_DEMAND=ON"), encoding="utf-8")
    return ["--metas", str(metas)]


def test(names: Sequence[str], *options: str) -> list[Case]:
    """What 'colcon test' finds in these packages; one whose tests did not run has failed."""
    for name in names:
        ros2_results.forget(ROOT / "build" / name)
    real = {"PQCMAV_MAVROS": "real"} if version("mavros") else {}
    workers = [] if options else ["--parallel-workers", "4"]  # most tests wait
    words = ["colcon", "test", "--base-paths", "src", "--packages-select", *names, *options, *workers]
    good = run(words, real)
    found: list[Case] = []
    for name in names:
        of_it = ros2_results.cases(ROOT / "build" / name)
        ran = any(case.outcome != SKIPPED for case in of_it)
        if not ran and any((ROOT / "src" / name / "test").glob("**/test_*")):
            of_it = [Case(name, "all", FAILED, "none of its tests ran" if good else "colcon test failed")]
        found += of_it
    return found


def again(cases: list[Case]) -> tuple[list[Case], list[str]]:
    """Test the packages that failed once more, one at a time; also the names of what passed only then."""
    broken = [case for case in cases if case.outcome == FAILED]
    if not broken:
        return cases, []
    names = sorted({case.package for case in broken})
    print(f"==> failed beside others: {', '.join(f'{case.package} {case.name}: {case.why}' for case in broken)}")
    alone = test(names, "--parallel-workers", "1")
    good = {(case.package, case.name) for case in alone if case.outcome == PASSED}
    second = [f"{case.package} {case.name}" for case in broken if (case.package, case.name) in good]
    gone = [case for case in broken if (case.package, case.name) not in {(each.package, each.name) for each in alone}]
    return [*(case for case in cases if case.package not in names), *gone, *alone], second


def secured(middleware: str) -> list[Case]:
    """The tests of DDS security, under a middleware that has it: none may be skipped for want of it."""
    report = ROOT / "build" / "test-results" / "security.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", *SECURITY_TESTS]
    run(words, {"RMW_IMPLEMENTATION": middleware})
    if not report.is_file():
        return [Case(SECURED, "all", FAILED, "no report")]
    return [
        replace(case, outcome=FAILED) if case.outcome == SKIPPED else case
        for case in ros2_results.junit(report, SECURED)
    ]


def machine() -> str:
    """The system and what compiled."""
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "an unknown system")
    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    return f"{release}, {platform.machine()}, Python {platform.python_version()}, GCC {compiler}"


def commit() -> str:
    """Short, and whether something beside it was there."""
    line = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, changed", "--exclude=*", "--abbrev=8"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def paragraph(text: str) -> list[str]:
    """Lines of a page."""
    return [*textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False, break_long_words=False), ""]


def rows(found: Run) -> Iterator[list[str]]:
    """What ROS 2 adds, line by line."""
    for title, pattern in LINES.items():
        cases = found.of(pattern)
        reasons = Counter(case.why for case in cases if case.outcome == SKIPPED)
        left = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
        passed = found.count(PASSED, cases)
        if title == MAVROS and not version("mavros"):
            title += " (a test double of it)"
        yield [title, str(passed) if passed else "not run", left if cases else "nothing to run it with"]


def page(found: Run, bench: str, middleware: str, when: str) -> str:
    """The page of a green run."""
    default = os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
    used = {name: version(name) for name in USED}
    lines = ["# One run with ROS 2", ""]
    lines += paragraph(f"""
        Written by `tools/run python tools/ros2_conformance.py` on {when}, of commit {found.commit}. In one go it ran
        `colcon build` and `colcon test` over all packages, in {found.minutes:.0f} minutes: {found.count(PASSED)} tests
        passed, none failed, {found.count(SKIPPED)} were skipped. The time is no measurement.""")
    lines += paragraph(f"**The bench:** {bench} {machine()}.")
    here = ", ".join(f"{name} {number}" for name, number in used.items() if number)
    absent = ", ".join(name for name, number in used.items() if not number)
    under = f"{default}, and {middleware} under DDS security" if middleware else default
    lines += paragraph(f"Used: {here}. {f'Not there: {absent}. ' if absent else ''}Middleware: {under}.")
    if not any(case.package == ENGINE for case in found.cases):
        lines += paragraph("Left out: the engine's own tests in C++, which know no ROS; `make test` runs them.")
    if found.second:
        lines += paragraph(f"Failed beside others and passed alone: {'; '.join(found.second)}.")
    lines += table(["what needs ROS 2's own tools", "passed", "skipped"], rows(found))
    lines += ["", "Skipped, and why:", "", *skipped(found)]
    return "\n".join(lines) + "\n"


def skipped(found: Run) -> list[str]:
    """Each reason once; those of one test alone are counted."""

    def reason(why: str) -> str:
        alike = (words for pattern, words in ALIKE.items() if re.search(pattern, why))
        return next(alike, why.removeprefix("Skipped: "))

    reasons = Counter(reason(case.why) for case in found.cases if case.outcome == SKIPPED)
    lines = [f"* {count}: {why}" for why, count in reasons.most_common() if count > 1]
    alone = sum(count == 1 for count in reasons.values())
    return [*lines, f"* {alone}: each for a reason of its own"] if alone else lines


def write(text: str, file: Path) -> None:
    """All of a page, or nothing of it."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def main(words: Sequence[str] | None = None) -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--bench", default="", metavar="WORDS", help="what ROS 2 this is, in sentences for the page")
    parser.add_argument("--secure", default="", metavar="RMW", help="a middleware that has DDS security")
    parser.add_argument("--without-engine", action="store_true", help="leave out the C++ tests of the engine")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    asked = parser.parse_args(words)
    if not version("rclcpp"):
        sys.exit("error: there is no rclcpp on AMENT_PREFIX_PATH: source ROS 2 (docs/launch.md)")
    if shutil.which("colcon") is None:
        sys.exit("error: there is no colcon: run 'tools/setup.sh analysis dashboard detect test' first")
    # A script's '&' ignores it, all processes would inherit that, and tests end programs with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    started, when = time.monotonic(), time.strftime("%Y-%m-%d")
    found = Run(commit())
    built = run(["colcon", "build", "--base-paths", "src", *(untested() if asked.without_engine else [])])
    if built and asked.without_engine:  # tests in Python of other packages use the engine's module for tests
        built = run(["cmake", "--build", f"build/{ENGINE}", "--target", "_testing"])
    if not built:
        sys.exit("error: the build failed; logs are in log/latest_build")
    tested = [name for name in packages() if not (asked.without_engine and name == ENGINE)]
    found.cases, found.second = again(test(tested))
    found.minutes = (time.monotonic() - started) / 60
    if asked.secure:
        found.cases += secured(asked.secure)
    for case in found.cases:
        if case.outcome == FAILED:
            print(f"failed: {case.package} {case.name}: {case.why}")
    print(f"{found.count(PASSED)} passed, {found.count(FAILED)} failed, {found.count(SKIPPED)} skipped")
    if found.count(FAILED) or not found.count(PASSED):
        print(f"error: not green: {asked.page} stays as it was", file=sys.stderr)
        return 1
    bench = asked.bench or f"ROS 2 {os.environ.get('ROS_DISTRO', '')} in {', '.join(map(str, prefixes()))}."
    write(page(found, bench, asked.secure, when), asked.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
