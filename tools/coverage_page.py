# SPDX-License-Identifier: Apache-2.0
"""What the counters of a coverage build say: `coverage_page.py BUILD [TESTS]` (coverage.sh).

Prints how much of each room is reached, and the functions that nothing reaches. Of all tests the first is also kept as
bench/results/coverage.md.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "src" / "pqc_mav_tunnel"
PAGE = ROOT / "bench" / "results" / "coverage.md"
HEAD = """# What tests reach

Written by `make coverage`, which also prints what nothing reaches: the engine's own code under its C++ tests and the
corpora of its fuzzers. The tests in Python and the fault laboratory reach more, and OpenSSL 3.5 would in `src/crypto`:
an older one has no KEM or signature of ours. Branches are those of the source, without the ways of exceptions.

| room | functions reached | lines | branches |
|---|---|---|---|
"""


@dataclass
class Reached:
    """What was reached of one file: times by line, by branch of a line, and by function."""

    lines: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    branches: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    functions: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def add(files: dict[str, Reached], report: dict[str, Any]) -> None:
    """What one object's counters say; a header is in many of them."""
    for each in report["files"]:
        path = (Path(report["current_working_directory"]) / each["file"]).resolve()
        if not path.is_relative_to(ENGINE) or path.relative_to(ENGINE).parts[0] not in ("src", "include"):
            continue
        found = files[str(path.relative_to(ENGINE))]
        for line in each["lines"]:
            found.lines[line["line_number"]] += line["count"]
            for number, branch in enumerate(line["branches"]):
                if not branch["throw"]:
                    found.branches[line["line_number"], number] += branch["count"]
        for function in each["functions"]:
            found.functions[short(function["demangled_name"])] += function["execution_count"]


def short(name: str) -> str:
    """A function without its parameters and the project's own namespace; what a lambda does counts for who holds it."""
    name = name.replace("(anonymous namespace)::", "").replace("pqcmav::", "").partition("::{lambda")[0]
    name = re.sub(r"\(.*", "", re.sub(r"\[(clone|abi:).*", "", name))
    return re.sub(r"^.*(?:<| )(?=[\w~:<>]+$)", "", name.strip())


def share(counts: list[int]) -> str:
    """Of those, how many were reached."""
    return f"{100 * sum(each > 0 for each in counts) / len(counts):.1f} %" if counts else "-"


def page(files: dict[str, Reached]) -> str:
    """How much of each room is reached."""
    text = HEAD
    rooms: dict[str, list[Reached]] = defaultdict(list)
    for name, each in sorted(files.items()):
        rooms["/".join(Path(name).parts[:-1])].append(each)
    for room, those in rooms.items():
        figures = [share([count for each in those for count in getattr(each, kind).values()]) for kind in KINDS]
        text += f"| `{room}` | {' | '.join(figures)} |\n"
    every = [share([count for each in files.values() for count in getattr(each, kind).values()]) for kind in KINDS]
    return f"{text}| all | {' | '.join(every)} |\n"


def unreached(files: dict[str, Reached]) -> str:
    """The functions that nothing reaches, a file a line."""
    text = ""
    for name, each in sorted(files.items()):
        missing = sorted({function for function, count in each.functions.items() if count == 0})
        if missing:
            text += f"{name}: {', '.join(missing)}\n"
    return text


KINDS = ("functions", "lines", "branches")


def main(build: Path, tests: str) -> None:
    """Read the counters, write the page."""
    files: dict[str, Reached] = defaultdict(Reached)
    for counters in sorted(build.glob("CMakeFiles/pqcmav_*.dir/**/*.gcda")):
        said = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(counters.resolve())],
            capture_output=True, text=True, check=True, cwd=build,
        ).stdout  # fmt: skip
        for line in said.splitlines():
            add(files, json.loads(line))
    if not files:
        sys.exit(f"coverage: no counters in {build}: run tools/coverage.sh")
    print(f"{page(files)}\n{unreached(files)}")
    if not tests:
        PAGE.write_text(page(files))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
