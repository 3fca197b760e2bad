#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a scrape of ``pqcmav metrics`` costs: the exporter, the gcs that it asks, and the time that Prometheus waits.

``tools/run bench/metrics_cost.py [--drones 1 1000] [--scrapes 20] [--pause 3]`` runs a gcs as pqcmav-tunneld with so
many drones, all of them up, and scrapes the exporter of that gcs again and again. After each window with scrapes comes
one as long without; what the processes use then is taken off. With few drones a window has several scrapes, or the
kernel's clock of 10 ms would see none of them. Writes bench/results/metrics_cost.md; ``--output DIR`` writes elsewhere.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "chaos"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import rig
from children import Child

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.process_figures import cpu_seconds, memory_kib

RESULTS = Path(__file__).resolve().parent / "results"
HOSTS = 4  # processes for the drones
CONNECT_S = 300.0
SCRAPE_EVERY_S = 15.0
BURST = 100
CONTENT = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}  # as Prometheus asks


@dataclass
class Scrape:
    """One scrape, or the mean of a window's; CPU is what was used beyond that of an equal time without."""

    exporter_cpu_s: float
    gcs_cpu_s: float
    took_s: float
    size: int
    samples: int


@dataclass
class Case:
    """All scrapes with so many drones."""

    drones: int
    rows: list[Scrape]
    exporter_rss_kib: int


def scrapes(drones: int, count: int, pause_s: float) -> Case:
    """Start everything, wait until all drones are up, and scrape."""
    import pqc_mav_tunnel

    names = [f"drone{i:04}" for i in range(drones)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-")))
        pqc_mav_tunnel.init_keys(str(folder), names, ["mldsa65"])
        (data,) = free_ports(1)
        socket = folder / "gcs.sock"
        gcs_file = folder / "gcs.yaml"
        gcs_file.write_text(
            json.dumps({
                "role": "gcs", "keys": f"{folder}/gcs", "drones": names, "bind": rig.HOST, "data_port": data,
                "control_socket": str(socket), "max_handshakes": 64,
                "drone": {name: {"plain_bind": f"{rig.HOST}:0"} for name in names},
            })
        )  # fmt: skip
        gcs = subprocess.Popen([rig.tool("pqcmav-tunneld"), str(gcs_file)], stderr=subprocess.PIPE, text=True)
        stack.callback(rig.stop, [gcs])
        rig.wait_for_line(gcs, "encrypted UDP port", gcs.stderr, 60)
        threading.Thread(target=gcs.communicate, daemon=True).start()  # what else it says
        hosts = []
        for number in range(min(HOSTS, drones)):
            host = Child("engine_host.py")
            stack.callback(host.close)
            hosts.append((host, names[number :: min(HOSTS, drones)]))
        waits = [
            host.begin("start", configs=[
                {"role": "drone", "keys": f"{folder}/drones/{name}", "drone_id": name, "peer": rig.HOST,
                 "bind": rig.HOST, "data_port": data, "local_data_port": 0, "plain_bind": f"{rig.HOST}:0"}
                for name in share
            ])
            for host, share in hosts
        ]  # fmt: skip
        for wait in waits:
            wait(CONNECT_S)
        exporter = subprocess.Popen(
            ["pqcmav", "metrics", "--listen", f"{rig.HOST}:0", "--socket", str(socket)],
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.callback(rig.stop, [exporter])
        assert exporter.stdout is not None
        url = next(word for word in exporter.stdout.readline().split() if word.startswith("http")).rstrip(";")
        wait_until_up(url, drones)
        burst = max(1, BURST // drones)
        rows = [one_window(url, exporter.pid, gcs.pid, pause_s, burst) for _ in range(count + 1)][1:]
        return Case(drones, rows, memory_kib(exporter.pid))


def wait_until_up(url: str, drones: int) -> None:
    """Until the page says so of every drone."""
    end = time.monotonic() + CONNECT_S
    while True:
        up = [line for line in fetched(url).splitlines() if line.startswith("pqcmav_state{") and 'state="UP"' in line]
        if sum(line.endswith(" 1.0") for line in up) == drones:
            return
        if time.monotonic() > end:
            raise SystemExit(f"bench: {len(up)} of {drones} drones are up after {CONNECT_S:g} s.")
        time.sleep(2)


def fetched(url: str) -> str:
    """The page."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=CONTENT), timeout=60) as answer:  # noqa: S310
        return str(answer.read().decode())


def one_window(url: str, exporter: int, gcs: int, pause_s: float, burst: int) -> Scrape:
    """A window with so many scrapes at its beginning, and one as long without."""
    before = [cpu_seconds(pid) for pid in (exporter, gcs)]
    began = time.monotonic()
    for _ in range(burst):
        text = fetched(url)
    took = (time.monotonic() - began) / burst
    time.sleep(pause_s)
    with_it, window = [cpu_seconds(pid) for pid in (exporter, gcs)], time.monotonic() - began
    time.sleep(window)
    without = [cpu_seconds(pid) for pid in (exporter, gcs)]
    used = [(2 * middle - first - last) / burst for first, middle, last in zip(before, with_it, without, strict=True)]
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    row = Scrape(used[0], used[1], took, len(text), len(lines))
    print(row, flush=True)
    return row


def spread(values: list[float], scale: float, unit: str, digits: int = 0) -> str:
    """Median and range."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle * scale:,.{digits}f} {unit} ({low * scale:,.{digits}f} to {high * scale:,.{digits}f})"


def page(cases: list[Case], command: str, environment: dict[str, Any]) -> str:
    """The result for people."""
    lines = [
        "# What a scrape of the metrics costs", "",
        f"Written by `{command}`. A gcs as `pqcmav-tunneld` on loopback, all of its drones up and without traffic, and "
        "`pqcmav metrics`, asked as Prometheus asks. Median of N windows (least to most) of one scrape each, or of "
        f"{BURST} in a row with one drone, whose mean counts. The processor time is what the process used beyond an "
        "equal window without a scrape, counted by the kernel in steps of 10 ms.", "",
        f"*{environment['date']}, {environment['machine']}, Linux {environment['kernel']}, load at the start "
        f"{environment['load_average_at_start']}*", "",
        f"| drones | N | page | processor time of the exporter | of the gcs | both, every {SCRAPE_EVERY_S:g} s "
        "| Prometheus waits | memory of the exporter |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for case in cases:
        rows = case.rows
        share = 100 * statistics.median(row.exporter_cpu_s + row.gcs_cpu_s for row in rows) / SCRAPE_EVERY_S
        lines.append(
            f"| {case.drones:,} | {len(rows)} | {rows[-1].samples:,} samples, {rows[-1].size / 1024:,.0f} KiB "
            f"| {spread([row.exporter_cpu_s for row in rows], 1e3, 'ms', 1)} "
            f"| {spread([max(0.0, row.gcs_cpu_s) for row in rows], 1e3, 'ms', 1)} | {share:.2f} % of a core "
            f"| {spread([row.took_s for row in rows], 1e3, 'ms')} | {case.exporter_rss_kib / 1024:.0f} MiB |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drones", type=int, nargs="+", default=[1, 1000])
    parser.add_argument("--scrapes", type=int, default=20, help="with each number of drones (default 20)")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds after each (default 3)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for metrics_cost.md")
    options = parser.parse_args()
    environment = rig.environment()
    numbers = " ".join(map(str, options.drones))
    command = (
        f"tools/run bench/metrics_cost.py --drones {numbers} --scrapes {options.scrapes} --pause {options.pause:g}"
    )
    cases = [scrapes(number, options.scrapes, options.pause) for number in options.drones]
    rig.write_page(options.output / "metrics_cost.md", page(cases, command, environment))
    return 0


if __name__ == "__main__":
    sys.exit(main())
