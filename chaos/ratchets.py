# SPDX-License-Identifier: Apache-2.0
"""`chaos/run ratchets`: how long fresh keys take over 64 kbit/s, by a ratchet and by a full rekey (needs root)."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import air
import messages
import tables
from children import ChildError
from ends import DEFAULT_SUITE, DRONE_PLAIN, GCS_PLAIN, GROUND, End, drone_config, gcs_config
from laboratory import temporary_keys
from links import Link
from tally import percentile
from traffic import End as TrafficEnd
from traffic import TrafficProcess, application_socket

from pqc_mav_common.waiting import wait_until

LINK = Link(loss=0.0, rate_kbit_s=64, queue_bytes=16_000)
KINDS = ("ratchet", "rekey")
_MESSAGE_BYTES = 40
_CONNECT_S, _LIMIT_S, _WARM_UP_S = 30.0, 60.0, 5.0


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
    """Measure, print and write; 0 when nothing failed, 3 when this machine cannot."""
    reason = air.need_root()
    if reason:
        print(f"ratchets: this {reason}.")
        return 3
    machine = tables.machine()
    # processes, not threads: a child is bound to the life of the thread that starts it
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        tasks = [(load, options.runs, options.seed) for load in LOADS]
        results = [timed for both in pool.map(measure, tasks) for timed in both]
    text = page(results, machine, options)
    print(text)
    if options.output:
        tables.write_page(Path(options.output) / "ratchets.md", text)
        rows = [asdict(each) for each in results]
        tables.write_json(Path(options.output) / "ratchets.json.gz", {"machine": machine, "results": rows})
    return 0 if all(each.verdict != "FAILED" for each in results) else 1


def measure(task: tuple[Load, int, int]) -> list[Timed]:
    """One load, in a process of its own: a ratchet and a full rekey by turns."""
    load, runs, seed = task
    generator = random.Random(seed)
    with temporary_keys() as keys, air.Air(seed=seed) as network, ExitStack() as stack:
        assert network.joint is not None
        vehicle = stack.enter_context(network["drone"].call(application_socket))
        ground = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND)))
        stack.callback(End(gcs_config(keys), network["gcs"].descriptor).close)
        network.joint.impair(LINK.impairment())
        config = {**drone_config(keys, air.GCS), "suite": DEFAULT_SUITE, "rekey_interval_s": 0.0}
        drone = End(config, network["drone"].descriptor)
        stack.callback(drone.close)
        if not wait_until(lambda: drone.status()["state"] == "UP", _CONNECT_S):
            raise ChildError(f"no session within {_CONNECT_S:g} s: {drone.status()['last_error']}")
        if load.rate:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-chaos-")))
            ways = [
                TrafficEnd(vehicle, 0, messages.DOWN, DRONE_PLAIN, load.rate),
                TrafficEnd(ground, 0, messages.UP, GCS_PLAIN, load.rate),
            ]
            stack.callback(TrafficProcess(ways, folder / "arrivals", [_MESSAGE_BYTES]).close)
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
