# SPDX-License-Identifier: Apache-2.0
"""`chaos/run handshakes`: how fast a drone gets its session over a link that loses packets (needs root)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import air
import pqc_mav_tunnel
import tables
from children import wait_until
from ends import End, drone_config, gcs_config
from laboratory import temporary_keys
from tally import percentile

SUITES = (
    "cs-mlkem768-aesgcm-mldsa65",
    "cs-hqc256-aesgcm-mldsa87",
    "cs-mlkem768-aesgcm-sphincs192s",
    "cs-classicmceliece348864-aesgcm-mldsa44",
)
LOSSES = (0, 10, 20, 30)
_LIMIT_S = 120.0


@dataclass(frozen=True)
class Connects:
    """All runs of one suite at one loss (percent): seconds until the session was up (None = not)."""

    suite: str
    loss: int
    seconds: tuple[float | None, ...]
    failed_attempts: int
    first_failure: str

    @property
    def completed(self) -> list[float]:
        """The times of the runs that got a session."""
        return [each for each in self.seconds if each is not None]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="connects of each suite at each loss")
    parser.add_argument("--suites", nargs="+", default=list(SUITES))
    parser.add_argument("--loss", nargs="+", type=int, default=list(LOSSES), help="percent, each way")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when every run got its session, 3 when this machine cannot."""
    reason = air.need_root()
    if reason:
        print(f"handshakes: this {reason}.")
        return 3
    machine = tables.machine()
    results = []
    for suite in (pqc_mav_tunnel.find_suite(name).id for name in options.suites):
        for loss in options.loss:
            results.append(connect_often(suite, loss, options.runs, options.seed))
            print("  ".join(str(cell) for cell in row(results[-1])), flush=True)
    text = page(results, machine)
    print("\n" + text)
    if options.output:
        tables.write_page(Path(options.output) / "handshakes_lossy.md", text)
        whole = {"machine": machine, "limit_s": _LIMIT_S, "results": [asdict(each) for each in results]}
        tables.write_json(Path(options.output) / "handshakes_lossy.json", whole)
    return 0 if all(len(each.completed) == len(each.seconds) for each in results) else 1


def connect_often(suite: str, loss: int, runs: int, seed: int) -> Connects:
    """Start a fresh drone `runs` times against one gcs over the lossy link, each until its session is up."""
    seconds: list[float | None] = []
    failures: list[str] = []
    with temporary_keys() as keys, air.Air(seed=seed) as network:
        assert network.joint is not None
        network.joint.impair({"loss": loss / 100})
        gcs = End(gcs_config(keys), network["gcs"].descriptor)
        try:
            for _ in range(runs):
                begin = time.monotonic()
                drone = End({**drone_config(keys, air.GCS), "suite": suite}, network["drone"].descriptor)
                try:
                    up = wait_until(lambda drone=drone: drone.status()["state"] == "UP", _LIMIT_S)
                    seconds.append(time.monotonic() - begin if up else None)
                    failures += [event["reason"] for event in drone.child.ask("handshakes") if not event["ok"]]
                finally:
                    drone.kill()
        finally:
            gcs.close()
    return Connects(suite, loss, tuple(seconds), len(failures), failures[0] if failures else "")


HEAD = ("suite", "loss each way", "connected", "p50 s", "p95 s", "worst s", "attempts that failed")


def row(each: Connects) -> tuple[object, ...]:
    """One line of the table."""
    done = each.completed
    times = [
        f"{value:.2f}" for value in (percentile(done, 0.5), percentile(done, 0.95), max(done, default=float("nan")))
    ]
    return (
        pqc_mav_tunnel.find_suite(each.suite).short_code,
        f"{each.loss} %",
        f"{len(done)}/{len(each.seconds)}",
        *times,
        each.failed_attempts,
    )


def page(results: Sequence[Connects], machine: str) -> str:
    """The results page."""
    text = "# Handshakes over a link that loses packets\n\nWritten by `tools/run chaos/run handshakes`. A fresh drone "
    text += (
        "connects over the laboratory's link, again and again; seconds from the start of its process until the session "
    )
    text += f"is up, back-off and further attempts included (limit {_LIMIT_S:g} s).\n\n*{machine}*\n\n"
    text += tables.markdown(HEAD, [row(each) for each in results])
    reasons = sorted({each.first_failure for each in results if each.first_failure})
    if reasons:
        text += "\nWhat failed attempts say:\n\n" + "".join(f"* {reason}\n" for reason in reasons)
    return text
