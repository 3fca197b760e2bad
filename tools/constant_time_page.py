# SPDX-License-Identifier: Apache-2.0
"""The page bench/results/constant_time.md, from what constant_time.py found: each report with a reading, or without."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pqc_mav_tunnel import host_info

from pqc_mav_bench.source import source, words
from pqc_mav_common.atomic_file import atomic_write

if TYPE_CHECKING:
    from constant_time import Result

ROOT = Path(__file__).resolve().parent.parent
DIFFERENT, SUSPICIOUS, FEW = 10.0, 4.5, 1000


@dataclass(frozen=True)
class Reading:
    """What reports in functions of these names mean for these operations, as constant_time_readings.json says."""

    name: str
    operation: str  # both are regular expressions
    function: str
    verdict: str  # 'public', 'by design', 'counter' or 'secret'
    why: str


READINGS = tuple(
    Reading(**each) for each in json.loads((ROOT / "tools/constant_time_readings.json").read_text(encoding="utf-8"))
)
METHOD = f"""\
**memcheck** runs each operation twice with its secrets marked as undefined memory (ctgrind's method), and reports each
instruction that branches on something made from them or uses it as an address. It follows every bit on the way that was
taken. It knows nothing of ways that were not taken, of instructions whose own time varies, of speculation, or of code
for processors that valgrind does not play (AVX-512). It cannot know what of a secret is public in the end; the third
column says, from reading the sources, what a branch or address is of: something *public*; *by design*, what the
algorithm throws away or publishes; a *counter* that always counts the same; or the *secret*.

**t** is Welch's over two classes of inputs in turn, on this processor as it is: fixed and varied secrets, or a wrong
tag that differs in the last byte and one that differs in the first; the greatest of all times and of those below four
percentiles. Above {SUSPICIOUS} the classes perhaps differ, above {DIFFERENT:g} they do. A small t says that nothing
was seen in so many times, no more. Key generation is not timed, and operations of many milliseconds only a few times.
"""
WORDS = {
    "public": "public",
    "by design": "by design",
    "counter": "counter",
    "secret": "**secret**",
    "": "**not explained: take it for a leak**",
}


def reading(result: Result, function: str) -> Reading | None:
    """The one for a report."""
    for each in READINGS:
        if (
            re.match(each.name, result.name)
            and re.search(each.operation, result.name)
            and re.search(each.function, function)
        ):
            return each
    return None


def cells(result: Result) -> str:
    """A row of the table."""
    if not result.places:
        memory, meant = "0", ""
    else:
        names = ", ".join(
            f"`{short(name)}` {count}" for name, count in sorted(result.places.items(), key=lambda item: -item[1])
        )
        verdicts = dict.fromkeys(found.verdict if (found := reading(result, name)) else "" for name in result.places)
        memory = f"{sum(result.places.values())}: {names}"
        meant = "on purpose" if result.group == "leak" else "; ".join(WORDS[each] for each in verdicts)
    return f"| {result.name} | {memory} | {meant} | {time_cell(result)} |"


def time_cell(result: Result) -> str:
    """t, with the number of times; what it says."""
    if result.t is None:
        return ""
    if result.n < FEW:
        return f"too few ({result.n})" if result.n else ""
    mark = "**differ** " if result.t >= DIFFERENT else "perhaps " if result.t >= SUSPICIOUS else ""
    return f"{mark}{result.t:.1f} ({result.n:,})"


def short(function: str) -> str:
    """Without the prefixes of a library's own name space, and without what C++ makes of a lambda."""
    function = re.sub(r".*::(\w+)\(\)::\{lambda.*", r"\1", function)
    return re.sub(
        r"^(PQCP_MLKEM_NATIVE_MLKEM\d+_X86_64_|PQCLEAN_\w+?_(AVX2|CLEAN|AESNI)_|pqcrystals_ml_dsa_\d+_\w+?2_)",
        "",
        function,
    )


def table(results: Iterable[Result]) -> list[str]:
    """Of a group; operations of one algorithm with the same reports are one row, their times in the same order.

    So are algorithms with the same reports that were not timed.
    """
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in results:
        if each.places is not None:
            algorithm, _, operation = each.name.partition(" ") if each.group == "liboqs" else (each.name, "", "")
            said = cells(each).removeprefix(f"| {each.name} ").removesuffix(f" {time_cell(each)} |")
            rows.setdefault((algorithm, said), []).append((operation, time_cell(each)))
    names: dict[tuple[str, ...], list[str]] = {}
    for (algorithm, said), of_it in rows.items():
        operations, took = "; ".join(name for name, _ in of_it), times([each for _, each in of_it])
        alone = "" if operations and not took else algorithm
        names.setdefault((operations, f"{said} {took} |", alone), []).append(algorithm)
    return [
        "| operation | distinct reports of memcheck, by function | a branch or address | t (times) |",
        "|---|---|---|---|",
        *(f"| {', '.join(those)} {operations}".rstrip() + f" {said}" for (operations, said, _), those in names.items()),
    ]


def times(those: list[str]) -> str:
    """Several cells in one."""
    return "; ".join(each or "-" for each in those) if any(those) else ""


def said_by(*command: str) -> str:
    """The first line that a program prints."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        lines = []
    return lines[0] if lines else f"{command[0]}: not here"


def page(results: list[Result], seconds: float) -> str:
    """The whole page."""
    machine = host_info()
    groups = {
        name: [each for each in results if each.group == name] for name in ("engine", "openssl", "liboqs", "leak")
    }
    reports = sum(sum((each.places or {}).values()) for each in groups["engine"])
    open_ends = [
        each.name
        for each in results
        if each.group != "leak" and any(reading(each, name) is None for name in each.places or {})
    ]
    left = [each.name for each in results if each.places is None]
    doubtful = [each.name for each in results if each.group != "leak" and (each.t or 0) >= DIFFERENT and each.n >= FEW]
    return "\n".join(
        [
            "# Does the time depend on a secret?",
            "",
            f"Written on {date.today()} by `tools/run python tools/constant_time.py build/pqc_mav_tunnel/constant_time "
            f"--page bench/results/constant_time.md`, {seconds:g} s for each timing, {words(source(ROOT))}; "
            f"{machine['cpu_model']}, {machine['cpu_count']} processors shared with other work, {machine['os']}, "
            f"{said_by('cc', '--version')}, {said_by('valgrind', '--version')}, {platform.machine()}.",
            "",
            METHOD,
            "## The engine's own code",
            "",
            f"{reports} reports. PSK, chain, keys of an attempt, of cookies and of restarts are secret, and what is "
            "derived from them. The verdict of a comparison in constant time counts as public. `make sanitize` fails "
            "with the first report.",
            "",
            *table(groups["engine"]),
            "",
            "## What has to be found",
            "",
            "Both leak on purpose. If either way misses one, the run fails.",
            "",
            *table(groups["leak"]),
            "",
            "## OpenSSL's algorithms",
            "",
            "Keys and plaintext are secret. Debian's library has no names of functions.",
            "",
            *table(groups["openssl"]),
            "",
            "## liboqs' algorithms",
            "",
            "Secret keys are secret without the seeds and public keys in them, for key generation and encapsulation "
            "the random numbers, for signing both. Keys are varied in their secret parts alone.",
            "",
            *table(groups["liboqs"]),
            "",
            "## What the reports are",
            "",
            "What each branches on, and why that is no leak: "
            "[constant_time_readings.json](../../tools/constant_time_readings.json). "
            "The two that are of the compiler's making were looked at in the disassembly of HQC-128 and "
            "Classic-McEliece-348864; the others of a family go by the same names. "
            + (f"Not explained: {', '.join(open_ends)}. " if open_ends else "None is left unexplained. ")
            + (f"Times that differ: {', '.join(doubtful)}." if doubtful else "No times differ but those of the leaks.")
            + (f" Not run: {', '.join(left)}." if left else ""),
            "",
        ]
    )


def write(path: Path, results: list[Result], seconds: float) -> None:
    """Write it."""
    atomic_write(path, page(results, seconds))
