#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rekeys into and out of every core suite under traffic: nothing may be lost, doubled or spoiled, no gap may appear.

``tools/run bench/rekeys.py [--times 10] [--suites ID ...]`` runs two engines on loopback, 320 messages/s of 280 bytes
each way, and writes bench/results/rekeys.md and rekeys.json.gz. A gap is the time between two deliveries; those that
overlap a rekey (from its request to half a second after its end) are compared with the others of the same run.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pqc_mav_tunnel
import report
import rig

from pqc_mav_bench.json_text import as_lines
from pqc_mav_common import markdown, two_ends
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.free_ports import free_port

RESULTS = Path(__file__).resolve().parent / "results"
BASE = "cs-mlkem768-aesgcm-mldsa65"
BASE_PARTNER = "cs-mlkem768-chacha20poly1305-mldsa65"  # the way out of the base suite itself
AFTER_S = 0.5
PAUSE_S = 0.12
NEWCOMER_S = 2.2  # each load has a socket of its own, and the drone takes a new application after 2 s of silence


@dataclass
class Rekey:
    """One rekey on the monotonic clock."""

    begin_ns: int
    end_ns: int
    ok: bool
    message: str


class Tunnel:
    """A gcs and a drone engine in this process, joined over loopback."""

    def __init__(self, folder: str) -> None:
        pqc_mav_tunnel.init_keys(folder, ["bench"])
        self.ground = free_port()
        more = {"control_socket": "off", "handshakes_per_drone_s": 100.0}
        self.gcs = pqc_mav_tunnel.Engine(two_ends.gcs_config(folder, {"bench": self.ground}, **more))
        self.gcs.start()
        data = self.gcs.ports()["data"]
        config = two_ends.drone_config(folder, "bench", data, suite=BASE, control_socket="off")
        self.drone = pqc_mav_tunnel.Engine(config)
        self.drone.start()
        deadline = time.monotonic() + 10
        while any(e.status()[0]["state"] != "UP" for e in (self.drone, self.gcs)):
            if time.monotonic() > deadline:
                raise SystemExit(f"rekeys: no session: {self.drone.status()[0]['last_error']}")
            time.sleep(0.01)

    def rekey(self, suite: str) -> Rekey:
        """One rekey, asked for on the drone."""
        begin = time.monotonic_ns()
        outcome = self.drone.request_rekey("bench", suite, "bench", 120.0)
        return Rekey(begin, time.monotonic_ns(), outcome["ok"], outcome["message"])

    def drops(self) -> dict[str, int]:
        """Every drop counter of both ends that is not zero."""
        found: dict[str, int] = {}
        for name, engine in (("drone", self.drone), ("gcs", self.gcs)):
            for key, value in engine.stats()[0].items():
                if "drop" in key and not key.startswith("shape_") and value:
                    found[f"{name} {key}"] = value
        return found

    def stop(self) -> None:
        """Ends both engines."""
        self.drone.stop()
        self.gcs.stop()


def gaps_ms(log: Path, rekeys: list[Rekey]) -> tuple[float, float]:
    """Longest gap that overlaps a rekey, and longest that does not, of one direction's arrival log."""
    arrivals = [record[2] for record in struct.iter_unpack("=QQQ", log.read_bytes())]
    spans = [(r.begin_ns, r.end_ns + int(AFTER_S * 1e9)) for r in rekeys]
    during = outside = 0
    index = 0
    for before, after in itertools.pairwise(arrivals):
        while index < len(spans) and spans[index][1] < before:
            index += 1
        if index < len(spans) and spans[index][0] <= after:
            during = max(during, after - before)
        else:
            outside = max(outside, after - before)
    return during / 1e6, outside / 1e6


def measure(tunnel: Tunnel, suite: str, times: int, folder: Path) -> dict[str, Any]:
    """``times`` rekeys into the suite and as many out of it, under load, and an equally long time without one."""
    partner = BASE_PARTNER if suite == BASE else BASE
    if suite == BASE:
        tunnel.rekey(partner)
    drone_port = tunnel.drone.ports()["plain"]["bench"]
    gcs_port = tunnel.gcs.ports()["plain"]["bench"]
    log = folder / "log"
    time.sleep(NEWCOMER_S)
    load = subprocess.Popen(
        [
            rig.tool("duplex_load"), "--drone", f"{rig.HOST}:{drone_port}", "--ground", f"{rig.HOST}:{tunnel.ground}",
            "--gcs", f"{rig.HOST}:{gcs_port}", "--log", str(log), "--seconds", "900",
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    rekeys: list[Rekey] = []
    try:
        time.sleep(1.0)
        for _ in range(times):
            for target in (suite, partner):
                rekeys.append(tunnel.rekey(target))
                time.sleep(PAUSE_S)
        time.sleep(2.0)
    finally:
        load.send_signal(signal.SIGTERM)
        output, _ = load.communicate(timeout=30)
    counts = json.loads(output)
    down, up = gaps_ms(log.with_suffix(".down"), rekeys), gaps_ms(log.with_suffix(".up"), rekeys)
    durations = sorted((r.end_ns - r.begin_ns) / 1e6 for r in rekeys[0::2])
    return {
        "suite": suite,
        "rekeys_ok": sum(r.ok for r in rekeys),
        "rekeys": len(rekeys),
        "sent": counts["down"]["sent"] + counts["up"]["sent"],
        **{key: counts["down"][key] + counts["up"][key] for key in ("lost", "duplicates", "corrupted", "overtaken")},
        "rekey_into_ms_median": round(durations[len(durations) // 2], 2),
        "gap_during_ms": round(max(down[0], up[0]), 2),
        "gap_outside_ms": round(max(down[1], up[1]), 2),
        "failures": [r.message for r in rekeys if not r.ok],
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
    lines = []
    for pair, row in report.by_pair(rows).items():
        kinds = list(row.values())
        spoiled = sum(r[key] for r in kinds for key in ("lost", "duplicates", "corrupted"))
        lines.append(
            (
                pair, f"{sum(r['rekeys_ok'] for r in kinds)}/{sum(r['rekeys'] for r in kinds)}",
                sum(r["sent"] for r in kinds), spoiled,
                " / ".join(report.of_ciphers(row, lambda r: str(r["rekey_into_ms_median"]))),
                max(r["gap_during_ms"] for r in kinds), max(r["gap_outside_ms"] for r in kinds),
            )
        )  # fmt: skip
    head = (
        "suite",
        "rekeys",
        "sent",
        "lost, twice, corrupted",
        f"median rekey into it with {' / '.join(report.CIPHERS)}, ms",
        "longest gap during ms",
        "outside ms",
    )
    return text + markdown.table(head, lines)


def main() -> int:
    """Runs the suites and writes the results; 1 when anything was lost, doubled, spoiled or refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="rekeys into each suite, and out of it")
    parser.add_argument("--suites", nargs="+", help="suite ids or short codes (default: the 72 core suites)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for rekeys.md and rekeys.json.gz")
    options = parser.parse_args()
    chosen = options.suites or [s.id for s in pqc_mav_tunnel.suites(only_available=True)]
    suites = [pqc_mav_tunnel.find_suite(name).id for name in chosen]
    rows = []
    with tempfile.TemporaryDirectory(prefix="pqcmav-rekeys-") as folder:
        tunnel = Tunnel(folder)
        try:
            for suite in suites:
                rows.append(measure(tunnel, suite, options.times, Path(folder)))
                print(json.dumps(rows[-1]), flush=True)
            drops = tunnel.drops()
        finally:
            tunnel.stop()
    environment = rig.environment()
    machine = f"{environment['date']}, {environment['machine']}, Linux {environment['kernel']}"
    raw = as_lines({"environment": environment, "rows": rows}, 2) + "\n"
    rig.write_page(options.output / "rekeys.md", render(rows, drops, machine))
    atomic_write(options.output / "rekeys.json.gz", gzip.compress(raw.encode(), mtime=0))
    clean = all(r["rekeys_ok"] == r["rekeys"] and not (r["lost"] or r["duplicates"] or r["corrupted"]) for r in rows)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
