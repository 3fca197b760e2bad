#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A drone with LTE and a telemetry radio in good and bad conditions: each alone, and both as paths of one session.

``tools/run bench/paths.py [--runs 10] [--seconds 60] [--jobs 4] [--conditions both ...] [--ways "LTE, radio" ...]``:
LTE takes 30 ms each way and loses 1 %; the radio is a simulated SiK; the bad times are the same for each way. The drone
offers 226 messages a second. A command a second counts as answered if its COMMAND_ACK is on the ground within a second.
Other systems fly too if their programs are there and this is root (paths_beside.py). Writes bench/results/paths.md;
``--output DIR`` writes elsewhere.
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
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import paths_beside
import pqc_mav_tunnel
import rig
from peers.room import Room
from radios import DEFAULT, PATIENCE_S, RATE_HZ, Ground, plain_of, vehicle_of

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common import two_ends
from pqc_mav_common.markdown import table
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES
from pqc_mav_sim.vehicle import Vehicle

WAYS: dict[str, dict[str, Any]] = {
    "LTE alone": {"paths": ["lte"]},
    "radio alone": {"paths": ["radio"]},
    "LTE, radio": {"paths": ["lte", "radio"]},
    "radio, LTE metered": {"paths": ["radio", "lte"], "use": "metered"},
}
BESIDE = tuple(paths_beside.WAYS)
CONDITIONS = {  # and which ways are flown in each
    "calm": ("LTE, radio", "radio, LTE metered", *BESIDE),
    "outages of LTE": (*WAYS, *BESIDE),
    "fades of the radio": ("LTE, radio", "radio, LTE metered", *BESIDE),
    "both": ("LTE, radio", "radio, LTE metered", *BESIDE),
    "LTE holds packets back": ("LTE, radio", *BESIDE),
    "each direction by itself": ("LTE, radio",),
    "hiccups of LTE": ("LTE, radio",),
}
LTE = {"delay_ms": 30.0, "loss": 0.01}
PAUSE_S, OUTAGE_S, FADE_S, FADED = 15.0, (0.5, 8.0), (3.0, 10.0), 0.9
HICCUP_PAUSE_S, HICCUP_S = 5.0, (0.2, 0.45)
LATE_S = 3.0


@dataclass
class Run:
    """Figures of one run."""

    answered: float  # share of the commands within a second, %
    late: float  # commands that came to the vehicle more than LATE_S late
    p95: float  # of the time from a command to its arrival, of those that came, ms
    heartbeat: float  # the longest time between two on the ground, s
    attitude: float
    messages: float  # per second on the ground
    again: float  # share of them that had come before, %
    lte: float  # what the drone sent by it, kB/s
    handshakes: float = 1  # first ones; others than the tunnel do not tell


class Weather:
    """What happens to LTE and the radio during a flight; its times depend on the seed alone."""

    def __init__(self, condition: str, lte: Relay | Room, radio: RadioPorts, seed: int) -> None:
        self._lte, self._radio, self._over = lte, radio, threading.Event()
        outage, fade = self._outage, self._fade
        happens: dict[str, list[Callable[[random.Random], None]]] = {
            "calm": [],
            "outages of LTE": [outage],
            "fades of the radio": [fade],
            "both": [outage, fade],
            "LTE holds packets back": [self._hold],
            "each direction by itself": [
                *(partial(outage, directions=(way,)) for way in (A_TO_B, B_TO_A)),
                *(partial(fade, radios=(number,)) for number in (0, 1)),
            ],
            "hiccups of LTE": [partial(self._hold, pause_s=HICCUP_PAUSE_S, lasts_s=HICCUP_S)],
        }
        self._threads = [
            threading.Thread(target=self._repeat, args=(each, random.Random(f"{seed} {condition} {number}")))
            for number, each in enumerate(happens[condition])
        ]

    def __enter__(self) -> None:
        for each in self._threads:
            each.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in self._threads:
            each.join()

    def _repeat(self, what: Callable[[random.Random], None], chance: random.Random) -> None:
        while not self._over.is_set():
            what(chance)

    def _outage(self, chance: random.Random, directions: tuple[str, ...] = (A_TO_B, B_TO_A)) -> None:
        self._over.wait(chance.expovariate(1 / PAUSE_S))
        self._lte.impair({"down": True}, directions)
        self._over.wait(chance.uniform(*OUTAGE_S))
        self._lte.impair({"down": False}, directions)

    def _fade(self, chance: random.Random, radios: tuple[int, ...] = (0, 1)) -> None:
        self._over.wait(chance.expovariate(1 / PAUSE_S))
        for number in radios:
            self._radio.fade(number, FADED)
        self._over.wait(chance.uniform(*FADE_S))
        for number in radios:
            self._radio.fade(number, 0.0)

    def _hold(self, chance: random.Random, pause_s: float = PAUSE_S, lasts_s: tuple[float, float] = OUTAGE_S) -> None:
        """What comes meanwhile waits behind the first packet, and all of it leaves at once."""
        self._over.wait(chance.expovariate(1 / pause_s))
        lasts = chance.uniform(*lasts_s)
        self._lte.impair({"delay_ms": LTE["delay_ms"] + 1e3 * lasts})
        self._over.wait(min(0.1, lasts / 2))
        self._lte.impair({"delay_ms": LTE["delay_ms"]})
        self._over.wait(lasts)


def one(way: str, condition: str, options: argparse.Namespace, seed: int) -> Run:
    """Both ends, the ways between them, and what flies through them."""
    if way in BESIDE:
        with contextlib.ExitStack() as stack:
            beside = stack.enter_context(paths_beside.flight(way, LTE, seed))
            stack.enter_context(Weather(condition, beside.lte, beside.radio, seed))
            return fly(beside.vehicle, beside.ground, beside.to, beside.sent_by_lte, options.seconds)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        algorithm = pqc_mav_tunnel.find_suite(DEFAULT).sig_token
        pqc_mav_tunnel.init_keys(str(folder / "keys"), ["uav1"], [algorithm])
        radio = stack.enter_context(RadioPorts(RadioTerms(PROFILES["sik"], loss=0.05, seed=seed), folder / "radio"))
        ground = stack.enter_context(rig.listening(0.01))
        here = two_ends.gcs_config(folder / "keys", {"uav1": ground.getsockname()[1]}, control_socket="off")
        here["drone"]["uav1"]["radio"] = f"serial:{radio.ground}:57600:mavlink"
        gcs = rig.running(stack, here)
        lte = Relay(gcs.ports()["data"], seed=seed).start()
        stack.callback(lte.stop)
        lte.impair(LTE)
        via = {
            "lte": {"via": "127.0.0.1", "peer": f"127.0.0.1:{lte.port}", "use": WAYS[way].get("use", "always")},
            "radio": {"via": f"serial:{radio.air[0]}:57600:mavlink"},
        }
        there = two_ends.drone_config(folder / "keys", "uav1", 46011, suite=DEFAULT, control_socket="off")
        paths = WAYS[way]["paths"]
        drone = rig.running(stack, there | {"paths": paths, "path": {name: via[name] for name in paths}})
        if not wait_until(lambda: all(end.status()[0]["state"] == "UP" for end in (gcs, drone)), PATIENCE_S):
            raise RuntimeError("the ends did not connect")
        stack.enter_context(Weather(condition, lte, radio, seed))
        run = fly(vehicle_of(drone), ground, plain_of(gcs), partial(sent_by_lte, drone), options.seconds)
        return replace(run, handshakes=drone.status()[0]["handshakes_ok"])


def fly(
    vehicle: Vehicle, ground: socket.socket, to: tuple[str, int], sent_by_lte: Callable[[], int], seconds: int
) -> Run:
    """What the ground station hears of the flight, and when."""
    heard, before, begin = Ground(), sent_by_lte(), time.monotonic()
    came = {"HEARTBEAT": [begin], "ATTITUDE": [begin]}
    for message in heard.hear(vehicle, ground, to, seconds):
        if (name := message.get_type()) in came:
            came[name].append(time.monotonic())
    lasted = time.monotonic() - begin
    gaps = [max(b - a for a, b in itertools.pairwise([*times, begin + lasted])) for times in came.values()]
    lte_kb_s = (sent_by_lte() - before) / 1e3 / lasted
    there = sorted(heard.there)
    return Run(
        100 * heard.answered / heard.sent,
        sum(each > LATE_S for each in there),
        1e3 * there[int(0.95 * len(there))] if there else float("nan"),
        gaps[0],
        gaps[1],
        heard.messages * (1 - heard.twice) / lasted,
        100 * heard.twice,
        lte_kb_s,
    )


def sent_by_lte(drone: Any) -> int:
    """Bytes so far, without IP and UDP."""
    return sum(int(path["tx_bytes"]) for path in drone.status()[0]["paths"] if path["name"] == "lte")


def page(runs: dict[tuple[str, str], list[Run]], options: argparse.Namespace) -> str:
    """The results as Markdown."""
    keys = ("answered", "p95", "heartbeat", "attitude", "messages", "lte")
    late = {way: sum(run.late for (_, of), each in runs.items() if of == way for run in each) for _, way in runs}
    twice = {way: [run.again for (_, of), each in runs.items() if of == way for run in each] for _, way in runs}
    twice_words = ", ".join(f"{way} {statistics.mean(each):.1f} %" for way, each in twice.items() if any(each))
    late_words = ", ".join(f"{way} {count:g}" for way, count in late.items() if count) or "none"
    again = ", ".join(way for (_, way), each in runs.items() if any(run.handshakes > 1 for run in each)) or "no way"
    lines = [
        "# LTE and a radio, each alone and both as paths of one session",
        "",
        f"`tools/run bench/paths.py --runs {options.runs} --jobs {options.jobs}`; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[1]:.0f}. **Simulated**: LTE with 30 ms each way and 1 % of loss; a SiK radio with 5 % of "
        f"the time lost in bursts; {RATE_HZ} messages/s up, one command/s down, {options.seconds} s. Every "
        f"{PAUSE_S:g} s LTE is out, or holds packets back, for {OUTAGE_S[0]:g}-{OUTAGE_S[1]:g} s, or the radio loses "
        f"{100 * FADED:g} % for {FADE_S[0]:g}-{FADE_S[1]:g} s; hiccups of {HICCUP_S[0]:g}-{HICCUP_S[1]:g} s come "
        f"every {HICCUP_PAUSE_S:g} s. {options.runs} runs, 95 % interval. Commands that came to the vehicle more than "
        f"{LATE_S:g} s late: {late_words}. Messages delivered twice: {twice_words or 'none'}. "
        f"A second first handshake was needed by: {again}. "
        "mavlink-router has both in a group; engarde sends all by both, the radio being an interface (SLIP).",
        "",
    ]
    head = ("", "`paths`", "answered in 1 s, %", "there, p95 ms", "longest gap, s: heartbeat", "attitude")
    rows = [
        (
            condition if way == CONDITIONS[condition][0] else "",
            way,
            *(shown_mean([getattr(run, key) for run in each]) for key in keys),
        )
        for (condition, way), each in runs.items()
    ]
    return "\n".join([*lines, table((*head, "messages/s", "LTE up, kB/s"), rows)])


def main() -> int:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=4, help="runs at once; they wait most of the time")
    parser.add_argument("--conditions", nargs="+", choices=CONDITIONS, default=list(CONDITIONS))
    parser.add_argument("--ways", nargs="+", choices=[*WAYS, *BESIDE])
    parser.add_argument("--output", type=Path, default=rig.RESULTS)
    options = parser.parse_args()
    if options.ways is None:
        lacking = {way: paths_beside.missing(way) for way in BESIDE}
        options.ways = [*WAYS, *(way for way, why in lacking.items() if not why)]
        for way, why in lacking.items():
            if why:
                print(f"paths: '{way}' does not fly: {why}", file=sys.stderr)
    cells = [(each, way) for each in options.conditions for way in CONDITIONS[each] if way in options.ways]
    with ProcessPoolExecutor(options.jobs) as pool:
        flying = {
            (condition, way): [pool.submit(one, way, condition, options, seed) for seed in range(1, options.runs + 1)]
            for condition, way in cells
        }
        runs = {}
        for cell, each in flying.items():
            runs[cell] = [run.result() for run in each]
            print(cell, *runs[cell], sep="\n", file=sys.stderr, flush=True)
    rig.write_page(options.output / "paths.md", page(runs, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
