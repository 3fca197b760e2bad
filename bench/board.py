#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon `pqcmav dashboard --fleet` shows thousands of drones in Chromium, and what it costs beside that.

``tools/run bench/board.py [--drones 10000] [--times 20]`` runs a nats-server, two stations that are **simulated** (they
tell the registry of drones whose figures change, in the form of real ones) and the dashboard, and opens its page that
often. Writes bench/results/board.json; ``--output DIR`` writes elsewhere. nats-server, chromium and chromedriver have
to be on the path.
"""

import argparse
import asyncio
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "src" / "pqc_mav_dashboard" / "test"))

import psutil
import rig
from browser import Page
from webdriver import opened

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_cli.fleet import entry, store
from pqc_mav_cli.fleet.identity import Operator, Station, write_secret
from pqc_mav_cli.fleet.view import Key, View, row_of, sealed
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.child import Program
from pqc_mav_common.free_ports import free_ports

STATIONS = ("north", "south")
TELL_S, COST_S = 2.0, 20.0
COMMAND = [sys.executable, "-c", "from pqc_mav_cli.entry import run; run()", "dashboard", "--fleet", "--port", "0"]


def rows(station: int, drones: int, chance: random.Random) -> list[dict[str, Any]]:
    """Of one station: every twentieth drone is down."""
    made = []
    for number in range(station, drones, len(STATIONS)):
        up = number % 20 != 0
        status = {"drone_id": f"drone{number:05}", "state": "UP" if up else "DOWN", "epoch": number % 256}
        status |= {"suite": "cs-mlkem768-aesgcm-mldsa65" if up else "", "key_age_s": chance.uniform(0, 3600)}
        status |= {"silence_s": 0.1, "last_error": "" if up else "The drone has not come yet.", "hybrid": True}
        status |= {"handshakes_ok": 1, "handshakes_failed": 0, "rekeys_ok": 3}
        side = {"loss": chance.uniform(0, 0.02), "gap_p95_ms": chance.uniform(40, 60), "longest_silence_ms": 70.0}
        rates = {f"{way}_bytes_per_s": chance.uniform(1000, 5000) for way in ("tx", "rx")}
        rates |= {f"{way}_packets_per_s": chance.uniform(10, 50) for way in ("tx", "rx")}
        link = {"rtt_ms": chance.uniform(10, 90), "rtt_min_ms": 9.5, "local": side, "peer": side}
        made.append(row_of(status, rates, link if up else {}))
    return made


@contextmanager
def stations(operator: Operator, url: str, drones: int) -> Iterator[list[int]]:
    """Both tell of their drones, as often as real ones. Gives the bytes of what they told."""
    over, told, sizes = threading.Event(), threading.Event(), []

    async def tell() -> None:
        chance = random.Random(1)
        async with store.registry(url) as registry:
            while not over.is_set():
                for index, name in enumerate(STATIONS):
                    key = Key("drone.d", 1, entry.receipt_key(operator, name, "drone.d", 1))
                    view = View(time.time_ns() // 1_000_000, rows(index, drones, chance))
                    value = await asyncio.to_thread(sealed, key, name, view)
                    sizes.append(len(value))
                    await registry.put(f"view.{name}", value)
                told.set()
                await asyncio.sleep(TELL_S)

    teller = threading.Thread(target=lambda: asyncio.run(tell()))
    teller.start()
    try:
        if not told.wait(60):
            raise SystemExit("bench: nothing came to the registry within 60 s.")
        yield sizes
    finally:
        over.set()
        teller.join()


def measured(drones: int, times: int) -> dict[str, Any]:
    """Seconds from opening the page until it shows all drones; the dashboard's part of a core; bytes of a view."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-")))
        operator = Operator.make()
        (folder / "fleet" / "stations").mkdir(parents=True)
        write_secret(folder / "fleet" / "operator.pem", operator.pem())
        for name in STATIONS:
            atomic_write(folder / "fleet" / "stations" / f"{name}.pub", Station.make().public.pem())
        (port,) = free_ports(1)
        url = f"nats://{rig.HOST}:{port}"
        server = Program("nats-server", ["nats-server", "-a", rig.HOST, "-p", str(port), "-js", "-sd", str(folder)])
        stack.callback(rig.stop, [server])
        server.wait_for("Server is ready")
        sizes = stack.enter_context(stations(operator, url, drones))
        board = Program("dashboard", [*COMMAND, "--registry", url, "--root", str(folder)])
        stack.callback(rig.stop, [board])
        address = board.wait_for(r"http://\S+").group()
        browser = stack.enter_context(opened("chromium"))
        browser.size(1280, 900)
        page, seconds = Page(browser), []
        for _ in range(times):
            browser.go("about:blank")
            time.sleep(7.0)  # nobody looks any more, and the dashboard rests
            begin = time.monotonic()
            browser.go(address)
            page.until(
                f"document.querySelector('.summary')?.textContent.includes('{drones:,} drones')", what="all drones"
            )
            seconds.append(time.monotonic() - begin)
        process = psutil.Process(board.process.pid)
        before = process.cpu_times()
        time.sleep(COST_S)
        after = process.cpu_times()
        core = (after.user + after.system - before.user - before.system) / COST_S
        return {"seconds": seconds, "core": core, "rss": process.memory_info().rss, "view_bytes": sizes}


def main() -> int:
    """Measures, and writes what came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drones", type=int, default=10_000, help="of both stations together")
    parser.add_argument("--times", type=int, default=20, help="that the page is opened")
    parser.add_argument("--output", type=Path, default=rig.RESULTS, help="folder for board.json")
    options = parser.parse_args()
    if missing := [name for name in ("nats-server", "chromium", "chromedriver") if shutil.which(name) is None]:
        print(f"bench: not on the path: {', '.join(missing)}.", file=sys.stderr)
        return 3
    found = measured(options.drones, options.times)
    low, high = median_interval(found["seconds"])
    print(f"{options.drones:,} drones: shown after {statistics.median(found['seconds']):.2f} ({low:.2f}-{high:.2f}) s")
    print(f"the dashboard takes {found['core']:.1%} of a core and {found['rss'] >> 20} MiB; a view has up to "
          f"{max(found['view_bytes']):,} bytes")  # fmt: skip
    results = {**rig.environment(), "simulated": "stations and drones", "drones": options.drones, **found}
    rig.keep(options.output / "board.json", json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
