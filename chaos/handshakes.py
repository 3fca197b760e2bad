# SPDX-License-Identifier: Apache-2.0
"""`chaos/run handshakes`: how fast a drone connects, and rekeys, over links that lose packets (needs root).

With `--suites`: how fast it connects with the suites of today, the default among them, over the links that
`pqcmav bench links` has.
"""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from math import isnan

import air
import pqc_mav_tunnel
import tables
from children import ChildError
from ends import DEFAULT_SUITE, End, Starter, drone_config, gcs_config
from links import Link, NamedLink
from pair import in_processes, in_the_air, temporary_keys
from tally import percentile

from pqc_mav_bench.analysis.intervals import run_median
from pqc_mav_bench.link_presets import PRESETS, SUITES

_LIMIT_S = 120.0
# a gcs builds five answers a second for one drone, however often the drone asks: the laboratory stays below
_PAUSE_S = 0.25


@dataclass(frozen=True)
class Row:
    """What is timed.

    Attributes:
        what: connect or rekey.
        goal_s: where its 95th percentile should be.
        rate: messages a second each way beside a rekey.
        share: of the runs that are asked for, where one takes long.
    """

    what: str
    suite: str
    link: Link | NamedLink
    goal_s: float | None = None
    rate: float = 0.0
    share: float = 1.0


ROWS = (
    Row("connect", DEFAULT_SUITE, Link(), 1.0),
    Row("connect", DEFAULT_SUITE, Link(dead_ms=100), 1.8),
    Row("connect", DEFAULT_SUITE, Link(rate_kbit_s=64), 3.3),
    Row("connect", DEFAULT_SUITE, Link(rtt_ms=20), 0.5),
    Row("connect", "cs-classicmceliece348864-aesgcm-mldsa44", Link(), 4.5),
    Row("connect", DEFAULT_SUITE, Link(loss=0.0)),
    Row("connect", DEFAULT_SUITE, Link(loss=0.1)),
    Row("connect", "cs-hqc256-aesgcm-mldsa87", Link()),
    Row("connect", "cs-mlkem768-aesgcm-sphincs192s", Link()),
    Row("rekey", DEFAULT_SUITE, Link(loss=0.2), 0.8, 100),
    Row("rekey", DEFAULT_SUITE, Link(loss=0.0, rate_kbit_s=64, queue_bytes=16_000), 15.0, 80, 0.2),
    Row("rekey", DEFAULT_SUITE, Link(loss=0.0, rate_kbit_s=64), None, 80, 0.2),
)


@dataclass(frozen=True)
class Timed:
    """All runs of one row: seconds each (None = not within the limit), and what went wrong, in words."""

    row: Row
    seconds: tuple[float | None, ...]
    failures: tuple[str, ...]

    @property
    def completed(self) -> list[float]:
        """The times of the runs that ended well."""
        return [each for each in self.seconds if each is not None]

    @property
    def verdict(self) -> str:
        """Whether every run ended and the goal, if there is one, was met."""
        if len(self.completed) < len(self.seconds):
            return "FAILED"
        if self.row.goal_s is None:
            return "-"
        return "met" if percentile(self.completed, 0.95) <= self.row.goal_s else "MISSED"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=200, help="of each row, a fifth where one takes ten seconds")
    parser.add_argument("--suites", action="store_true", help="the suites of today, twice over each of three links")
    parser.add_argument("--rows", nargs="+", type=int, help="numbers of rows, from 1 (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="rows at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when every run ended and every goal was met."""
    numbers = options.rows or range(1, len(ROWS) + 1)
    if not options.suites and not all(1 <= number <= len(ROWS) for number in numbers):
        print(f"handshakes: there are rows 1 to {len(ROWS)}.")
        return 2
    machine = tables.machine()
    lossy = [(ROWS[number - 1], options.runs, options.seed) for number in numbers]
    results = []
    for each in in_processes(measure, suite_tasks(options) if options.suites else lossy, options.jobs):
        results.append(each)
        print("  ".join(str(cell) for cell in cells(each)), flush=True)
    whole = {"machine": machine, "limit_s": _LIMIT_S, "results": [asdict(each) for each in results]}
    name, written = ("handshakes_suites", suites_page) if options.suites else ("handshakes_lossy", page)
    part = not options.suites and len(lossy) < len(ROWS)
    tables.publish(options.output, name, written(results, machine, options), whole, part=part)
    return 0 if all(each.verdict in ("met", "-") for each in results) else 1


def suite_tasks(options: argparse.Namespace) -> list[tuple[Row, int, int]]:
    """What is measured with `--suites`."""
    here = {suite.short_code: suite.id for suite in pqc_mav_tunnel.suites("all", only_available=True)}
    if missing := [name for name in SUITES if name not in here]:
        print(f"handshakes: left out, as this machine lacks them: {', '.join(missing)}")
    rows = [Row("connect", here[name], NamedLink(link)) for name in SUITES if name in here for link in PRESETS]
    return [(row, options.runs, options.seed + again) for again in range(2) for row in rows]


def suites_page(results: Sequence[Timed], machine: str, options: argparse.Namespace) -> str:
    """The page of `--suites`: a row for each suite, with the median of its runs and its interval over each link."""
    known = {suite.id: suite for suite in pqc_mav_tunnel.suites("all")}
    lines = []
    for suite in dict.fromkeys(each.row.suite for each in results):
        found = known[suite]
        own = [each for each in results if each.row.suite == suite]
        over = [[each.completed for each in own if each.row.link == NamedLink(name)] for name in PRESETS]
        lines.append((found.short_code, "yes" if found.standard else "no", *map(_connects, over)))
    head = ("suite", "standard", *(each.title for each in PRESETS.values()))
    failed = sum(len(each.failures) for each in results)
    return (
        f"# Connecting with the suites of today\n\nWritten by `tools/run chaos/run handshakes --suites --runs "
        f"{options.runs} --jobs {options.jobs}`, with {pqc_mav_tunnel.providers()}. Seconds until a drone's engine, "
        f"started anew, has its session: median of two runs of {options.runs} connects each, and its 95 % interval "
        f"over the runs. Failed attempts: {failed}. Other load makes all times longer: "
        f"compare the rows with each other.\n\n*{machine}*\n\n"
        f"{tables.markdown(head, lines)}"
    )


def _connects(runs: Sequence[Sequence[float]]) -> str:
    """Median and interval of runs in words; how many did not end is in the raw values."""
    if not any(runs):
        return "-"
    middle, low, high = run_median(runs)
    return f"{middle:.3g}" + ("" if isnan(low) else f" ({low:.3g} to {high:.3g})")


def measure(task: tuple[Row, int, int]) -> Timed:
    """One row, in a process of its own: what, how often, seed."""
    row, runs, seed = task
    often = connect_often if row.what == "connect" else rekey_often
    return often(row, max(1, round(runs * row.share)), seed)


def connect_often(row: Row, runs: int, seed: int) -> Timed:
    """Start a fresh drone `runs` times against one gcs, each until its session is up."""
    seconds: list[float | None] = []
    failures: list[str] = []
    with temporary_keys() as keys, air.Air(seed=seed) as network, ExitStack() as stack:
        network.joint.impair(row.link.impairment())
        stack.callback(End(gcs_config(keys), network["gcs"].descriptor).close)
        drone = Starter({**drone_config(keys, air.GCS), "suite": row.suite}, network["drone"].descriptor)
        stack.callback(drone.close)
        for _ in range(runs):
            connect = drone.connect(_LIMIT_S)
            seconds.append(connect["seconds"])
            failures += connect["failures"]
            time.sleep(_PAUSE_S)
    return Timed(row, tuple(seconds), tuple(failures))


def rekey_often(row: Row, runs: int, seed: int) -> Timed:
    """Rekey `runs` times in one session, beside traffic."""
    seconds: list[float | None] = []
    failures: list[str] = []
    with air.Air(seed=seed) as network, ExitStack() as stack:
        pair = in_the_air(stack, network, drone={"suite": row.suite}, connect_s=_LIMIT_S)
        network.joint.impair(row.link.impairment())
        pair.traffic(row.rate, row.rate, log=pair.log())
        time.sleep(2.0)  # until the queues are as full as they get
        for _ in range(runs):
            begin = time.monotonic()
            try:
                answer = pair.drone.begin_rekey(row.suite, _LIMIT_S)(_LIMIT_S + 5)
            except ChildError as error:
                answer = {"ok": False, "message": str(error)}
            seconds.append(time.monotonic() - begin if answer["ok"] else None)
            failures += [] if answer["ok"] else [answer["message"]]
            time.sleep(_PAUSE_S)
    return Timed(row, tuple(seconds), tuple(failures))


HEAD = ("what", "suite", "link, each way", "done", "p50 s", "p95 s", "worst s", "goal p95 s", "", "failed attempts")


def cells(each: Timed) -> tuple[object, ...]:
    """One line of the table."""
    done, row = each.completed, each.row
    times = (percentile(done, 0.5), percentile(done, 0.95), max(done, default=float("nan")))
    return (
        row.what,
        pqc_mav_tunnel.find_suite(row.suite).short_code,
        f"{row.link}" + (f", {row.rate:g} messages/s" if row.rate else ""),
        f"{len(done)}/{len(each.seconds)}",
        *(f"{value:.2f}" for value in times),
        "-" if row.goal_s is None else f"{row.goal_s:g}",
        each.verdict,
        len(each.failures),
    )


def page(results: Sequence[Timed], machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    text = "# Handshakes over links that lose packets\n\nWritten by `tools/run chaos/run handshakes`, over the "
    text += (
        "laboratory's link. *Connect*: a drone's engine is started anew for each run; "
        "seconds until its session is up, back-off and further attempts included. *Rekey*: in one session, from the "
        f"request to its answer, with traffic both ways; 64 kbit/s with 80 messages/s are three times overloaded. "
        f"Limit {_LIMIT_S:g} s. {options.jobs} rows were measured at a time.\n\n*{machine}*\n\n"
    )
    text += tables.markdown(HEAD, [cells(each) for each in results])
    reasons = sorted({reason for each in results for reason in each.failures[:3]})
    if reasons:
        text += "\nWhat failed attempts say:\n\n" + "".join(f"* {reason}\n" for reason in reasons)
    return text
