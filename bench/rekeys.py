#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rekeys into and out of every core suite under traffic: nothing may be lost, doubled or spoiled, no gap may appear.

``tools/run bench/rekeys.py [--times 10] [--suites ID ...]`` runs two engines on loopback, 320 messages/s of 280 bytes
each way, and writes bench/results/rekeys.md and rekeys.json.gz. A gap is the time between two deliveries; those that
overlap a rekey (from its request to half a second after its end) are compared with the others of the same run.
"""

import argparse
import gzip
import itertools
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "chaos"))

import messages
import pqc_mav_tunnel
import report
import rig
from pair import Pair, on_loopback
from tally import Arrival

from pqc_mav_bench.export import CIPHERS
from pqc_mav_bench.json_text import as_lines
from pqc_mav_common import markdown
from pqc_mav_common.atomic_file import atomic_write

BASE = "cs-mlkem768-aesgcm-mldsa65"
BASE_PARTNER = "cs-mlkem768-chacha20poly1305-mldsa65"  # the way out of the base suite itself
RATE, SIZE = 320.0, 280  # messages/s each way, bytes
AFTER_S = 0.5
PAUSE_S = 0.12
LIMIT_S = 120.0

Span = tuple[int, int]  # of a rekey on the monotonic clock [ns]


def rekey(pair: Pair, suite: str) -> tuple[Span, dict[str, Any]]:
    """One rekey, asked for on the drone: when it was under way, and its answer."""
    begin = time.monotonic_ns()
    answer = pair.drone.begin_rekey(suite, LIMIT_S)(LIMIT_S + 5)
    return (begin, time.monotonic_ns()), answer


def drops(pair: Pair) -> dict[str, int]:
    """Every drop counter of both ends that is not zero."""
    return {
        f"{name} {key}": int(value)
        for name, end in (("drone", pair.drone), ("gcs", pair.gcs))
        for key, value in end.stats().items()
        if "drop" in key and not key.startswith("shape_") and value
    }


def gaps_ms(arrivals: list[Arrival], way: int, rekeys: list[Span]) -> tuple[float, float]:
    """Longest gap that overlaps a rekey, and longest that does not, of what arrived one way."""
    times = [each.arrived_ns for each in arrivals if each.way == way]
    spans = [(begin, end + int(AFTER_S * 1e9)) for begin, end in rekeys] + [(1 << 63, 1 << 63)]
    longest = {True: 0, False: 0}
    index = 0
    for before, after in itertools.pairwise(times):
        while spans[index][1] < before:
            index += 1
        inside = spans[index][0] <= after
        longest[inside] = max(longest[inside], after - before)
    return longest[True] / 1e6, longest[False] / 1e6


def measure(pair: Pair, suite: str, times: int) -> dict[str, Any]:
    """``times`` rekeys into the suite and as many out of it, under load, and an equally long time without one."""
    partner = BASE_PARTNER if suite == BASE else BASE
    if suite == BASE:
        rekey(pair, partner)
    done: list[tuple[Span, dict[str, Any]]] = []
    with ExitStack() as stack:
        own = Pair(pair.ends, pair.vehicle, pair.ground, pair.drone_plain, pair.gcs_plain, stack)
        load = own.traffic(RATE, RATE, log=own.log(), sizes=[SIZE])
        time.sleep(1.0)
        for _ in range(times):
            for target in (suite, partner):
                done.append(rekey(pair, target))
                time.sleep(PAUSE_S)
        time.sleep(2.0)
        counts, arrivals = load.stop(), load.arrivals()
    spans = [span for span, _ in done]
    ways = [gaps_ms(arrivals, way, spans) for way in (messages.DOWN, messages.UP)]
    streams = {
        key: sum(each[key] for each in counts["streams"]) for key in ("sent", "received", "duplicates", "reordered")
    }
    durations = sorted((end - begin) / 1e6 for begin, end in spans[0::2])
    return {
        "suite": suite,
        "rekeys_ok": sum(answer["ok"] for _, answer in done),
        "rekeys": len(done),
        "sent": streams["sent"],
        "lost": streams["sent"] - streams["received"],
        "duplicates": streams["duplicates"],
        "corrupted": counts["corrupted"] + counts["misdelivered"],
        "overtaken": streams["reordered"],
        "rekey_into_ms_median": round(durations[len(durations) // 2], 2),
        "gap_during_ms": round(max(way[0] for way in ways), 2),
        "gap_outside_ms": round(max(way[1] for way in ways), 2),
        "failures": [answer["message"] for _, answer in done if not answer["ok"]],
    }


def render(rows: list[dict[str, Any]], drops: dict[str, int], machine: str) -> str:
    """The table with its summary."""
    total = {
        key: sum(row[key] for row in rows) for key in ("rekeys", "rekeys_ok", "sent", "lost", "duplicates", "corrupted")
    }
    during, outside = max(r["gap_during_ms"] for r in rows), max(r["gap_outside_ms"] for r in rows)
    text = (
        "# Rekeys under traffic\n\nWritten by `tools/run bench/rekeys.py`. Two engines on loopback, 320 messages/s of "
        f"280 bytes each way; every suite {rows[0]['rekeys'] // 2} times in and as many times out.\n\n*{machine}*\n\n"
        f"{len(rows)} suites, {total['rekeys_ok']} of {total['rekeys']} rekeys done; {total['sent']:,} "
        f"messages sent: **{total['lost']} lost, {total['duplicates']} duplicated, {total['corrupted']} corrupted**. "
        f"Longest gap between two deliveries during a rekey {during} ms, outside one {outside} ms. "
        f"Drop counters of both ends: {drops or 'all zero'}.\n\n"
    )
    lines, pairs = [], report.by_pair(rows)
    ciphers = [cipher for cipher in CIPHERS if any(cipher in row for row in pairs.values())]
    for pair, row in pairs.items():
        kinds = list(row.values())
        spoiled = sum(r[key] for r in kinds for key in ("lost", "duplicates", "corrupted"))
        lines.append(
            (
                pair, f"{sum(r['rekeys_ok'] for r in kinds)}/{sum(r['rekeys'] for r in kinds)}",
                sum(r["sent"] for r in kinds), spoiled,
                " / ".join(str(row[each]["rekey_into_ms_median"]) if each in row else "-" for each in ciphers),
                max(r["gap_during_ms"] for r in kinds), max(r["gap_outside_ms"] for r in kinds),
            )
        )  # fmt: skip
    head = (
        "suite",
        "rekeys",
        "sent",
        "lost, twice, corrupted",
        f"median rekey into it with {' / '.join(ciphers)}, ms",
        "longest gap during ms",
        "outside ms",
    )
    return text + markdown.table(head, lines)


def main() -> int:
    """Runs the suites and writes the results; 1 when anything was lost, doubled, spoiled or refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="rekeys into each suite, and out of it")
    parser.add_argument("--suites", nargs="+", help="suite ids or short codes (default: the 72 core suites)")
    parser.add_argument("--output", type=Path, default=rig.RESULTS, help="folder for rekeys.md and rekeys.json.gz")
    options = parser.parse_args()
    chosen = options.suites or [s.id for s in pqc_mav_tunnel.suites(only_available=True)]
    suites = [pqc_mav_tunnel.find_suite(name).id for name in chosen]
    rows = []
    with ExitStack() as stack:
        pair = on_loopback(stack, gcs={"handshakes_per_drone_s": 100.0})
        for suite in suites:
            rows.append(measure(pair, suite, options.times))
            print(json.dumps(rows[-1]), flush=True)
        lost = drops(pair)
    environment = rig.environment()
    machine = f"{environment['date']}, {environment['machine']}, Linux {environment['kernel']}"
    raw = as_lines({"environment": environment, "rows": rows}, 2) + "\n"
    rig.write_page(options.output / "rekeys.md", render(rows, lost, machine))
    atomic_write(options.output / "rekeys.json.gz", gzip.compress(raw.encode(), mtime=0))
    clean = all(r["rekeys_ok"] == r["rekeys"] and not (r["lost"] or r["duplicates"] or r["corrupted"]) for r in rows)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
