#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A drone with LTE and a telemetry radio, in outages of LTE: each alone, and both as paths of one session.

``tools/run bench/paths.py [--runs 10] [--seconds 60] [--jobs 4]``: LTE takes 30 ms each way, loses 1 % and, every 15 s
on average, everything for 0.5 to 8 s, the same times in each scene; the radio is a simulated SiK. The drone offers 226
messages a second. A command a second counts as answered if its COMMAND_ACK is on the ground within a second. Writes
bench/results/paths.md; ``--output DIR`` writes elsewhere.
"""

import argparse
import contextlib
import itertools
import os
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
from radios import DEFAULT, PATIENCE_S, RATE_HZ, RESULTS, Ground

from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES

SCENES = {
    "LTE alone": ["lte"],
    "radio alone": ["radio"],
    "LTE, radio": ["lte", "radio"],
    "radio, LTE": ["radio", "lte"],
}
LTE = {"delay_ms": 30.0, "loss": 0.01}
PAUSE_S, SHORTEST_S, LONGEST_S = 15.0, 0.5, 8.0
STUDENT = {5: 2.78, 6: 2.57, 10: 2.26, 20: 2.09}  # for so many runs, 95 %


@dataclass
class Run:
    """Figures of one run."""

    answered: float  # share of the commands, %
    heartbeat: float  # the longest time between two on the ground, s
    attitude: float
    messages: float  # per second on the ground
    lte: float  # what the drone sent by it, kB/s
    handshakes: float


def one(paths: list[str], options: argparse.Namespace, seed: int) -> Run:
    """Both ends, the ways between them, and what flies through them."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        algorithm = pqc_mav_tunnel.find_suite(DEFAULT).sig_token
        pqc_mav_tunnel.init_keys(str(folder / "keys"), ["uav1"], [algorithm])
        radio = stack.enter_context(RadioPorts(RadioTerms(PROFILES["sik"], loss=0.05, seed=seed), folder / "radio"))
        ground = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        ground.bind(("127.0.0.1", 0))
        ground.settimeout(0.01)
        here = two_ends.gcs_config(folder / "keys", {"uav1": ground.getsockname()[1]}, control_socket="off")
        here["drone"]["uav1"]["radio"] = f"serial:{radio.ground}:57600:mavlink"
        gcs = pqc_mav_tunnel.Engine(here)
        gcs.start()
        stack.callback(gcs.stop)
        lte = Relay(gcs.ports()["data"], seed=seed).start()
        stack.callback(lte.stop)
        lte.impair(LTE)
        via = {
            "lte": {"via": "127.0.0.1", "peer": f"127.0.0.1:{lte.port}"},
            "radio": {"via": f"serial:{radio.air[0]}:57600:mavlink"},
        }
        there = two_ends.drone_config(folder / "keys", "uav1", 46011, suite=DEFAULT, control_socket="off")
        drone = pqc_mav_tunnel.Engine(there | {"paths": paths, "path": {name: via[name] for name in paths}})
        drone.start()
        stack.callback(drone.stop)
        if not wait_until(lambda: all(end.status()[0]["state"] == "UP" for end in (gcs, drone)), PATIENCE_S):
            raise RuntimeError("the ends did not connect")
        stack.enter_context(outages(lte, random.Random(seed)))
        return fly(gcs, drone, ground, options.seconds)


@contextlib.contextmanager
def outages(lte: Relay, chance: random.Random) -> Any:
    """In a thread of their own."""
    over = threading.Event()

    def go() -> None:
        while not over.wait(chance.expovariate(1 / PAUSE_S)):
            lte.impair({"down": True})
            over.wait(chance.uniform(SHORTEST_S, LONGEST_S))
            lte.impair({"down": False})

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def fly(gcs: Any, drone: Any, ground: socket.socket, seconds: int) -> Run:
    """What the ground station hears of the flight, and when."""
    heard, before, begin = Ground(), sent_by_lte(drone), time.monotonic()
    came = {"HEARTBEAT": [begin], "ATTITUDE": [begin]}
    for message in heard.hear(gcs, drone, ground, seconds):
        if (name := message.get_type()) in came:
            came[name].append(time.monotonic())
    lasted = time.monotonic() - begin
    gaps = [max(b - a for a, b in itertools.pairwise([*times, begin + lasted])) for times in came.values()]
    lte_kb_s = (sent_by_lte(drone) - before) / 1e3 / lasted
    answered = 100 * heard.answered / heard.sent
    return Run(answered, *gaps, heard.messages / lasted, lte_kb_s, drone.status()[0]["handshakes_ok"])


def sent_by_lte(drone: Any) -> int:
    """Bytes so far, without IP and UDP."""
    return sum(int(path["tx_bytes"]) for path in drone.status()[0]["paths"] if path["name"] == "lte")


def page(runs: dict[str, list[Run]], options: argparse.Namespace) -> str:
    """The results as Markdown."""
    keys = ("answered", "heartbeat", "attitude", "messages", "lte", "handshakes")
    lines = [
        "# LTE and a radio in outages of LTE",
        "",
        f"`tools/run bench/paths.py --runs {options.runs} --jobs {options.jobs}`; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[1]:.0f}. **Simulated**: LTE with outages of {SHORTEST_S:g}-{LONGEST_S:g} s every "
        f"{PAUSE_S:g} s, a SiK radio; {RATE_HZ} messages/s up, one command/s down, {options.seconds} s. "
        f"{options.runs} runs, 95 % interval.",
        "",
        "| `paths` | commands answered in 1 s, % | longest gap, s: heartbeat | attitude | messages/s | LTE up, kB/s | "
        "first handshakes |",
        "|" + "---|" * (len(keys) + 1),
    ]
    for name, each in runs.items():
        lines.append(f"| {name} | {' | '.join(shown([getattr(run, key) for run in each]) for key in keys)} |")
    return "\n".join([*lines, ""])


def shown(values: Sequence[float]) -> str:
    """A mean and the half of its interval."""
    if len(values) < 2:
        return f"{values[0]:.1f}"
    half = STUDENT.get(len(values), 2.0) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.1f} ± {half:.1f}"


def main() -> int:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=4, help="runs at once; they wait most of the time")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        flying = {
            name: [pool.submit(one, paths, options, seed) for seed in range(1, options.runs + 1)]
            for name, paths in SCENES.items()
        }
        runs = {}
        for name, each in flying.items():
            runs[name] = [run.result() for run in each]
            print(name, *runs[name], sep="\n", file=sys.stderr, flush=True)
    (options.output / "paths.md").write_text(page(runs, options), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
