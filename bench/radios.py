#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tunnel does over simulated telemetry radios: connecting, commands beside telemetry, waits in the radio.

``tools/run bench/radios.py [--runs 20] [--seconds 15] [--loss 0.05]``: in each run both ends connect, and then 226
messages a second are offered by the drone, and one PING a second by the ground, which counts as answered within a
second. Writes bench/results/radios.md; ``--output DIR`` writes elsewhere. The air is simulated (`pqcmav-sim-radio`).
"""

import argparse
import itertools
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES
from pqc_mav_sim.vehicle import Vehicle

RESULTS = Path(__file__).resolve().parent / "results"
RATE_HZ, ANSWER_S, CONNECT_S = 226, 1.0, 60.0
CASES = (("sik", ":mavlink"), ("sik-raw", ""))


@dataclass
class Run:
    """Figures of one run; times in ms."""

    connect: float
    answered: float  # share of the PINGs, %
    messages: float  # per second on the ground
    wait_p95: float  # in the drone's radio
    wait_most: float
    useful: float  # of what the drone's radio sent, %: plaintext that was delivered


def one(profile: str, more: str, options: argparse.Namespace, seed: int, keys: Path) -> Run:
    """A pair of radios, a tunnel over it, a flight."""
    terms = RadioTerms(PROFILES[profile], loss=options.loss, seed=seed)
    with RadioPorts(terms) as ports, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ground:
        ground.bind(("127.0.0.1", 0))
        ground.settimeout(0.01)
        baud = terms.profile.baud
        here = two_ends.gcs_config(keys, {"uav1": ground.getsockname()[1]}, control_socket="off")
        here["drone"]["uav1"]["radio"] = f"serial:{ports.ground}:{baud}{more}"
        gcs = pqc_mav_tunnel.Engine(here)
        there = two_ends.drone_config(keys, "uav1", 46011, suite="ML-768-AG-MD-65", control_socket="off")
        drone = pqc_mav_tunnel.Engine(there | {"peer": f"serial:{ports.air[0]}:{baud}{more}"})
        gcs.start()
        drone.start()
        try:
            events = (event for _ in itertools.count() for event in drone.wait_events(timeout_s=0.5))
            connected = next(event for event in events if event["type"] == "handshake" and event["ok"])
            wait_until(lambda: gcs.status()[0]["state"] == "UP", CONNECT_S)
            return fly(ports, gcs, drone, ground, options, connected["handshake_ms"])
        finally:
            drone.stop()
            gcs.stop()


def fly(ports: RadioPorts, gcs: Any, drone: Any, ground: socket.socket, options: argparse.Namespace, ms: float) -> Run:
    """Telemetry up, a PING a second down, and its answer."""
    own = resolve(f"127.0.0.1:{drone.ports()['plain']['uav1']}")
    to = ("127.0.0.1", gcs.ports()["plain"]["uav1"])
    vehicle = Vehicle(AutopilotConfig(rate_hz=RATE_HZ), any_port_towards(own), own)
    out, into = mavlink.MAVLink(None, srcSystem=255, srcComponent=190), mavlink.MAVLink(None)
    into.robust_parsing = True
    before = air_of(ports)
    vehicle.start()
    asked: dict[int, float] = {}
    answered = messages = size = 0
    begin = time.monotonic()
    while (now := time.monotonic()) < begin + options.seconds + ANSWER_S:
        if len(asked) < options.seconds and now >= begin + len(asked):
            asked[len(asked)] = now
            ground.sendto(bytes(out.ping_encode(0, len(asked) - 1, 0, 0).pack(out)), to)
            ground.sendto(bytes(out.heartbeat_encode(6, 8, 0, 0, 4).pack(out)), to)
        try:
            data = ground.recv(2048)
        except TimeoutError:
            continue
        size += len(data)
        for message in into.parse_buffer(data) or ():
            messages += 1
            if message.get_type() == "PING" and time.monotonic() - asked.get(message.seq, 0.0) <= ANSWER_S:
                answered += 1
    vehicle.stop()
    radio = air_of(ports)
    wait = radio["wait"]
    sent = radio["sent_bytes"] - before["sent_bytes"]
    lasted = time.monotonic() - begin
    share = 100 * answered / len(asked)
    return Run(ms, share, messages / lasted, wait["p95_us"] / 1e3, wait["max_us"] / 1e3, 100 * size / max(sent, 1))


def several(profile: str, more: str, options: argparse.Namespace, keys: Path) -> list[Run]:
    """All runs of a kind of radio."""
    out = []
    for seed in range(1, options.runs + 1):
        out.append(one(profile, more, options, seed, keys))
        print(profile, seed, out[-1], file=sys.stderr, flush=True)
    return out


def air_of(ports: RadioPorts) -> dict[str, Any]:
    """The drone's radio."""
    drone: dict[str, Any] = list(ports.summary()["radios"].values())[1]
    return drone


def page(results: dict[str, list[Run]], options: argparse.Namespace) -> str:
    """The results as Markdown."""
    lines = [
        "# Over simulated telemetry radios",
        "",
        f"Written by `tools/run bench/radios.py --runs {options.runs} --seconds {options.seconds} "
        f"--loss {options.loss:g}`. The radios are **simulated** (`pqcmav-sim-radio`: SiK's framing, turns, buffer and "
        "RADIO_STATUS at 57,600 baud, 64 kbit/s in the air, "
        f"none for {options.loss:.0%} of the time in bursts of 200 ms). ML-KEM-768 with ML-DSA-65. The drone is "
        f"offered {RATE_HZ} messages/s for {options.seconds} s, the ground sends a PING a second, once. "
        f"{options.runs} runs each; mean with its 95 % interval.",
        "",
        "| radio | connected in, ms (longest) | PINGs answered in 1 s, % | messages/s | wait in the radio p95, ms "
        "| longest, ms | plaintext of what was sent, % |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, runs in results.items():
        connect = [run.connect for run in runs]
        cells = [f"{shown(connect)} ({max(connect):.0f})"]
        cells += [shown([getattr(run, key) for run in runs]) for key in ("answered", "messages", "wait_p95")]
        cells += [f"{max(run.wait_most for run in runs):.0f}", shown([run.useful for run in runs])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def shown(values: Sequence[float]) -> str:
    """A mean and the half of its interval."""
    half = 2.09 * statistics.stdev(values) / len(values) ** 0.5  # Student's t for 20 runs
    return f"{statistics.mean(values):.0f} ± {half:.0f}"


def main() -> int:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--loss", type=float, default=0.05)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pqc_mav_tunnel.init_keys(folder, ["uav1"])
        with ProcessPoolExecutor(len(CASES)) as pool:  # the profiles side by side: they wait most of the time
            coming = {case: pool.submit(several, *case, options, Path(folder)) for case in CASES}
            results = {f"{profile}, {more or 'raw'}": coming[profile, more].result() for profile, more in CASES}
    (options.output / "radios.md").write_text(page(results, options), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
