# SPDX-License-Identifier: Apache-2.0
"""What a fleet run measured, and what is wrong with it."""

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from accounting import Account
from traffic import total

from pqc_mav_bench.json_text import counted

SUITES = (
    "cs-mlkem512-aesgcm-mldsa44",
    "cs-mlkem768-aesgcm-mldsa65",
    "cs-mlkem768-chacha20poly1305-mldsa65",
    "cs-mlkem1024-ascon128a-mldsa87",
    "cs-mlkem512-chacha20poly1305-falcon512",
    "cs-hqc128-aesgcm-falcon512",
    "cs-hqc192-ascon128a-mldsa65",
)
SLICE_S = 5.0  # of which the gcs' processor time is known


@dataclass
class FleetResult:
    """What the fleet run measured; CPU in percent of one core, memory in KiB."""

    drones: int
    seconds: float
    counts: dict[str, Any] = field(default_factory=dict)
    rekeys_ok: int = 0
    rekeys_refused: Counter[str] = field(default_factory=Counter)
    rekey_ms: list[float] = field(default_factory=list)
    connect_s: float = 0.0
    cpu_gcs: float = 0.0
    cpu_gcs_slices: list[float] = field(default_factory=list)
    cpu_drones: float = 0.0
    cpu_traffic: float = 0.0
    pss_gcs_one_kib: int = 0
    pss_gcs_kib: tuple[int, int] = (0, 0)
    rss_drones_kib: int = 0
    rss_drone_process_empty_kib: int = 0
    drops: dict[str, int] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    backlog_drops: int = 0
    load: tuple[float, float] = (0.0, 0.0)
    states: Counter[str] = field(default_factory=Counter)
    least_rekeys: int = 0


def judge(result: FleetResult) -> list[str]:
    """Return what is wrong, in words."""
    counts = result.counts
    found = []
    lost = total(counts, "sent") - total(counts, "received")
    if total(counts, "sent") == 0:
        found.append("nothing was sent")
    for number, what in (
        (lost, "lost"),
        (total(counts, "duplicates"), "doubled"),
        (counts["corrupted"], "spoiled"),
        (counts["misdelivered"], "delivered to the wrong drone or ground station"),
    ):
        if number:
            found.append(f"{number} messages {what}")
    if unexplained(result):
        found.append(f"{unexplained(result)} messages lost without a counter")
    if result.rekeys_refused:
        found.append("rekeys refused: " + "; ".join(f"{count} x {why}" for why, count in result.rekeys_refused.items()))
    if not result.rekeys_ok or not result.least_rekeys:
        found.append("not every drone has rekeyed")
    if result.states != Counter({"UP": result.drones * 2}):
        found.append(f"states at the end: {dict(result.states)}")
    return found


def unexplained(result: FleetResult) -> int:
    """Messages that neither arrived nor show in a counter of the engines, the sockets or the kernel."""
    return max(0, sum(each.unexplained for each in result.accounts.values()) - result.backlog_drops)


def summary(result: FleetResult, found: list[str], options: argparse.Namespace, machine: str) -> dict[str, Any]:
    """The figures of the page, ready for JSON; each drone's own too. A counter that is not named is 0."""
    counts = {**result.counts, "streams": [counted(stream) for stream in result.counts["streams"]]}
    accounts = {name: vars(each) for name, each in result.accounts.items()}
    figures = {**vars(result), "counts": counts, "accounts": accounts, "unexplained": unexplained(result)}
    return {"machine": machine, "rate": options.rate, "problems": found, **figures}


def message_us(result: FleetResult) -> float:
    """Processor time of the gcs for each message that it passed on, in us; rekeys and all else included."""
    return 1e4 * result.cpu_gcs * result.seconds / max(total(result.counts, "received"), 1)


def memory_of_each(result: FleetResult) -> float:
    """What each drone but the first adds to the gcs, in KiB."""
    return (result.pss_gcs_kib[0] - result.pss_gcs_one_kib) / max(result.drones - 1, 1)
