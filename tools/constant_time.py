#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the time of anything depend on a secret? Runs the program `constant_time` of the engine, two ways:

memcheck   secrets are undefined memory to valgrind, which reports every branch on them and every address made of them
timing     two classes of inputs in turn, Welch's t; above 4.5 they probably differ, above 10 they do

    constant_time.py PROGRAM                     the engine's own code and what has to be found: for 'make sanitize'
    constant_time.py PROGRAM --page FILE         also OpenSSL's and liboqs' algorithms; writes the page
    constant_time.py PROGRAM --page FILE --again goes on where the last run ended; writes the page

The exit code is 1 if memcheck reports anything of the engine's own code, or if either way misses one of the two
operations that leak on purpose. Times alone fail nothing: on a shared machine they are no proof.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from pqc_mav_common.atomic_file import atomic_write

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "src/pqc_mav_tunnel/constant_time/public.supp"
VALGRIND = (
    *("valgrind", "--quiet", "--error-limit=no", "--num-callers=16", "--main-stacksize=67108864", "--xml=yes"),
    f"--suppressions={PUBLIC}",
)
C_LIBRARY = ("vgpreload_", "libc.so", "libc-", "ld-linux")
LIMIT_S = 3600.0
DIFFERENT = 10.0  # as dudect has it
LAST = "constant_time.json"  # beside the program
_KEEPING = threading.Lock()


@dataclass
class Result:
    """Of one operation. `places` are functions with the number of distinct reports in each; None: not run."""

    group: str
    name: str
    timed: bool
    places: Counter[str] | None = None
    t: float | None = None
    n: int = 0
    problem: str = ""


def reports(xml: str) -> Counter[str]:
    """Distinct reports of memcheck by function. Two of one instruction are one, whatever called it.

    What the C library, or valgrind in its place, does for a function counts as that function's.
    """
    seen, found = set(), Counter[str]()
    for error in ElementTree.fromstring(xml).iter("error"):  # noqa: S314 - valgrind wrote it a moment ago
        frames = list(error.iterfind("stack/frame"))
        own = [frame for frame in frames if not Path(frame.findtext("obj", "?")).name.startswith(C_LIBRARY)] or frames
        place = own[0].findtext("ip")
        if place in seen:
            continue
        seen.add(place)
        library = Path(own[0].findtext("obj", "?")).name.partition(".so")[0]
        found[own[0].findtext("fn", f"{library}, no name")] += 1
    return found


def run(result: Result, *command: str) -> str | None:
    """What the program prints; None, with the reason in the result, when it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if ended.returncode == 0:
        return ended.stdout
    result.problem = (ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"])[-1]
    return None


def check_memory(program: Path, result: Result) -> None:
    """Run one under valgrind."""
    with tempfile.NamedTemporaryFile("r", suffix=".xml") as file:
        if run(result, *VALGRIND, f"--xml-file={file.name}", str(program), "memcheck", result.name) is not None:
            result.places = reports(file.read())


def check_time(program: Path, result: Result, seconds: float) -> None:
    """Measure one."""
    if (said := run(result, str(program), "timing", f"{seconds:g}", result.name)) is not None:
        found = json.loads(said)
        result.n, result.t = int(found["n"]), float(found["t"])


def listed(program: Path, groups: tuple[str, ...]) -> list[Result]:
    """What the program can run."""
    lines = subprocess.run([str(program), "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    return [Result(group, name, timed == "1") for group, name, timed in rows if group in groups]


def in_words(places: Counter[str] | None) -> str:
    """How many, and where."""
    if places is None:
        return "not run"
    text = ", ".join(f"{name}{f' x{count}' if count > 1 else ''}" for name, count in places.most_common())
    return f"{sum(places.values())}: {text}" if places else "0"


def faults(results: list[Result], with_memcheck: bool) -> list[str]:
    """What must not be."""
    found = [f"{each.name}: {each.problem}" for each in results if each.problem]
    for each in results:
        if each.group == "engine" and each.places:
            found.append(f"{each.name}: memcheck reports {in_words(each.places)}")
        if each.group == "leak" and with_memcheck and not each.places and not each.problem:
            found.append(f"{each.name}: leaks on purpose, and memcheck did not see it")
        if each.group == "leak" and not each.problem and (each.t is None or each.t < DIFFERENT):
            found.append(f"{each.name}: leaks on purpose, and its times did not tell (t = {each.t})")
    return found


def measure(results: list[Result], program: Path, seconds: float, memcheck: bool, jobs: int) -> None:
    """What is not known yet: memcheck beside each other, times one after the other. Keeps each result at once."""

    def one(result: Result) -> None:
        check_memory(program, result)
        keep(results, program)

    if memcheck:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, [each for each in results if each.places is None]))
    for each in results:
        if each.timed and each.t is None and not each.problem:
            check_time(program, each, 60.0 if each.group == "leak" else seconds)
            keep(results, program)
        said = "" if each.t is None else f"t = {each.t:.1f} of {each.n}"
        print(f"{each.group:8} {each.name:55} memcheck {in_words(each.places)}  {said}", flush=True)


def keep(results: list[Result], program: Path) -> None:
    """For a run that goes on where this one ended."""
    with _KEEPING:
        atomic_write(program.with_name(LAST), json.dumps([vars(each) for each in results]))


def kept(program: Path) -> dict[str, Result]:
    """What the last run found, by name."""
    file = program.with_name(LAST)
    found = [Result(**each) for each in json.loads(file.read_text("utf-8"))] if file.exists() else []
    for each in found:
        each.places = None if each.places is None else Counter(each.places)
    return {each.name: each for each in found}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--page", type=Path, help="examine OpenSSL and liboqs, too, and write this page")
    parser.add_argument("--seconds", type=float, default=0.0, help="for each timing; 1, with --page 10")
    parser.add_argument("--again", action="store_true", help="measure only what the last run did not")
    parser.add_argument("--jobs", type=int, default=2, help="memchecks beside each other")
    options = parser.parse_args()
    memcheck = shutil.which("valgrind") is not None
    if not memcheck:
        print("valgrind is not installed (apt install valgrind): times alone")
    groups = ("engine", "openssl", "liboqs", "leak") if options.page else ("engine", "leak")
    seconds = options.seconds or (10.0 if options.page else 1.0)
    before = kept(options.program) if options.again else {}
    results = [before.get(each.name, each) for each in listed(options.program, groups)]
    measure(results, options.program, seconds, memcheck, options.jobs)
    found = faults(results, memcheck)
    if options.page and not found:
        import constant_time_page

        constant_time_page.write(options.page, results, seconds)
    print("\n".join(f"error: {each}" for each in found) or "nothing of the engine's own depends on a secret")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
