# SPDX-License-Identifier: Apache-2.0
"""`chaos/run ratchets`: how long fresh keys take over 64 kbit/s, by a ratchet and by a full rekey (needs root)."""

import argparse
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import air
import tables
from ends import DEFAULT_SUITE
from links import Link
from pair import in_processes, in_the_air
from tally import percentile

LINK = Link(loss=0.0, rate_kbit_s=64, queue_bytes=16_000)
KINDS = ("ratchet", "rekey")
_MESSAGE_BYTES = 40
_LIMIT_S, _WARM_UP_S = 60.0, 5.0


@dataclass(frozen=True)
class Load:
    """What else is on the link: messages a second each way, and where a ratchet's 95th percentile should be."""

    name: str
    rate: float
    goal_s: float


# 75 a second of these are what 64 kbit/s carry (thinlink.md).
LOADS = (Load("idle", 0.0, 0.6), Load("half load", 37.0, 1.5))


@dataclass(frozen=True)
class Timed:
    """Changes of keys of one kind under one load: seconds each took, the bytes of their messages, and what failed."""

    load: Load
    kind: str
    seconds: tuple[float, ...]
    message_bytes: int
    failures: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Whether all went well, and a ratchet's goal was met."""
        if self.failures:
            return "FAILED"
        if self.kind != "ratchet":
            return "-"
        return "met" if percentile(self.seconds, 0.95) <= self.load.goal_s else "MISSED"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=40, help="of each kind, by turns in one session")
    parser.add_argument("--jobs", type=int, default=1, help="loads at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when nothing failed and every goal was met."""
    machine = tables.machine()
    tasks = [(load, options.runs, options.seed) for load in LOADS]
    results = [timed for both in in_processes(measure, tasks, options.jobs) for timed in both]
    whole = {"machine": machine, "results": [asdict(each) for each in results]}
    tables.publish(options.output, "ratchets", page(results, machine, options), whole)
    return 0 if all(each.verdict in ("met", "-") for each in results) else 1


def measure(task: tuple[Load, int, int]) -> list[Timed]:
    """One load, in a process of its own: a ratchet and a full rekey by turns."""
    load, runs, seed = task
    generator = random.Random(seed)
    with air.Air(seed=seed) as network, ExitStack() as stack:
        network.joint.impair(LINK.impairment())
        pair = in_the_air(stack, network, drone={"suite": DEFAULT_SUITE, "rekey_interval_s": 0.0})
        drone = pair.drone
        if load.rate:
            pair.traffic(load.rate, load.rate, log=pair.log(), sizes=[_MESSAGE_BYTES])
        time.sleep(_WARM_UP_S)
        seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
        failures: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for _ in range(runs):
            for kind in KINDS:
                time.sleep(generator.uniform(1.0, 2.0))
                answer = drone.begin_rekey("", _LIMIT_S, kind)(_LIMIT_S + 5)
                if answer["ok"]:
                    seconds[kind].append(answer["rekey_ms"] / 1e3)
                else:
                    failures[kind].append(answer["message"])
        sizes = _message_bytes(drone.child.ask("handshakes"))
        return [Timed(load, kind, tuple(seconds[kind]), sizes.get(kind, 0), tuple(failures[kind])) for kind in KINDS]


def _message_bytes(events: Sequence[dict[str, Any]]) -> dict[str, int]:
    """What the messages of the last one of each kind had, both ways."""
    return {
        each["kind"]: each["sizes"]["bytes_sent"] + each["sizes"]["bytes_received"] for each in events if each["ok"]
    }


HEAD = ("load", "kind", "bytes of its messages", "done", "p50 s", "p95 s", "worst s", "goal p95 s", "")


def cells(each: Timed) -> tuple[object, ...]:
    """One line of the table."""
    return (
        each.load.name + (f", {each.load.rate:g} messages/s each way" if each.load.rate else ""),
        each.kind,
        each.message_bytes,
        f"{len(each.seconds)}/{len(each.seconds) + len(each.failures)}",
        *(f"{percentile(each.seconds, share):.2f}" for share in (0.5, 0.95, 1.0)),
        f"{each.load.goal_s:g}" if each.kind == "ratchet" else "-",
        each.verdict,
    )


def page(results: Sequence[Timed], machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    text = f"# Fresh keys over a thin link\n\nWritten by `tools/run chaos/run ratchets --runs {options.runs} --jobs "
    text += (
        f"{options.jobs}`, over the laboratory's link: {LINK}, each way. A ratchet with fresh shares and a full rekey "
        f"of the default suite take turns in one session, 1 to 2 s apart; seconds from the drone's first message to "
        f"its new keys. Messages of {_MESSAGE_BYTES} bytes are sent both ways where there is a load; half of what the "
        f"link carries. The drone signs nothing.\n\n*{machine}*\n\n"
    )
    text += tables.markdown(HEAD, [cells(each) for each in results])
    reasons = sorted({reason for each in results for reason in each.failures[:3]})
    if reasons:
        text += "\nWhat failures say:\n\n" + "".join(f"* {reason}\n" for reason in reasons)
    return text
