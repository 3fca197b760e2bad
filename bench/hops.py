#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to reach the ground through other drones: directly, through one that passes on, and through two.

``tools/run bench/hops.py [--rounds 20] [--seconds 3]``: engines on loopback, and a round of echoes for each number of
hops in turn. A relay's processor time is that of its thread. Writes bench/results/hops.md; ``--output DIR`` elsewhere.
"""

import argparse
import os
import socket
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import rig
from borrowed import thread_times

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common import markdown, two_ends
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.waiting import wait_until

RATE_HZ, SIZE = 320.0, 200
ANSWER_S = 0.5
RELAYS = ("near", "third")
whole = partial(shown_mean, digits=0)
WAYS = ("direct", "one", "two")  # the drone's ids, by how many pass on for it


@dataclass
class Hops:
    """The rounds of one number of hops."""

    median_us: list[float] = field(default_factory=list)
    p95_us: list[float] = field(default_factory=list)
    lost: int = 0
    sent: int = 0
    relay_us: list[float] = field(default_factory=list)  # of the relays' threads, for a datagram that one passes on


class Drone:
    """An engine at a drone and its autopilot."""

    def __init__(self, stack: ExitStack, keys: str, name: str, port: int, relay_port: int = 0) -> None:
        relay = {"relay_port": relay_port, "relay_from": ["127.0.0.0/8"], "relay_kbit": 100_000} if relay_port else {}
        self.engine = rig.running(stack, two_ends.drone_config(keys, name, port, **relay))
        self.vehicle = stack.enter_context(rig.listening(ANSWER_S))
        self.vehicle.connect((rig.HOST, self.engine.ports()["plain"][name]))
        up = wait_until(lambda: self.engine.picture("status")[0]["state_name"] == "UP", 20.0)
        if not up:
            raise SystemExit(f"hops: {name} does not connect: {self.engine.picture('status')[0]['last_error']}")


def relay_seconds() -> float:
    """Processor time of all relays' threads of this process."""
    return sum(ran for ran, _ in thread_times(os.getpid(), "pqc-relay"))


def passed(engines: list[Any]) -> int:
    """Datagrams that these have passed on."""
    return sum(sum(engine.totals()[f"relay_{way}"] for way in ("up", "down")) for engine in engines)


def measure(drone: Drone, ground: socket.socket, seconds: float, relays: list[Any], out: Hops) -> None:
    """A round of echoes."""
    times = []
    began, before = relay_seconds(), passed(relays)
    due = time.monotonic()
    for number in range(int(seconds * RATE_HZ)):
        message = number.to_bytes(4, "big") * (SIZE // 4)
        at = time.perf_counter()
        drone.vehicle.send(message)
        try:
            data, source = ground.recvfrom(2048)
            ground.sendto(data, source)
            while drone.vehicle.recv(2048) != message:
                pass
            times.append((time.perf_counter() - at) * 1e6)
        except TimeoutError:
            out.lost += 1
        out.sent += 1
        due += 1 / RATE_HZ
        time.sleep(max(0.0, due - time.monotonic()))
    out.median_us.append(statistics.median(times))
    out.p95_us.append(statistics.quantiles(times, n=20)[-1])
    if more := passed(relays) - before:
        out.relay_us.append((relay_seconds() - began) * 1e6 / more)


def render(found: dict[str, Hops], machine: str) -> str:
    """The page."""
    rows = []
    for hops, one in enumerate(found.values()):
        extra = whole([a - b for a, b in zip(one.median_us, found["direct"].median_us, strict=True)])
        rows.append(
            (hops, whole(one.median_us), whole(one.p95_us), extra if hops else "", f"{one.lost} of {one.sent:,}",
             whole(one.relay_us) if hops else "")
        )  # fmt: skip
    head = (
        "relays",
        "round trip, us",
        "p95, us",
        "more than directly, us",
        "lost",
        "a relay's processor, us a datagram",
    )
    rounds = len(found["direct"].median_us)
    return (
        "# Through other drones\n\nWritten by `tools/run bench/hops.py`: echoes of "
        f"{SIZE} bytes over loopback, {RATE_HZ:.0f} a second at most, {rounds} rounds of each in turn, means of rounds "
        "with 95 % intervals. No radio is in it: each hop of a real one adds its own delay and loss. "
        f"A relay sends each datagram once.\n\n*{machine}*\n\n" + markdown.table(head, rows)
    )


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="of each number of hops, 2 or more")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a round")
    parser.add_argument("--output", type=Path, default=rig.RESULTS)
    options = parser.parse_args()
    environment = rig.environment()
    with ExitStack() as stack:
        keys = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-hops-"))
        pqc_mav_tunnel.init_keys(keys, [*RELAYS, *WAYS])
        ground = stack.enter_context(rig.listening(ANSWER_S))
        peers = dict.fromkeys((*RELAYS, *WAYS), ground.getsockname()[1])
        gcs = rig.running(stack, two_ends.gcs_config(keys, peers))
        near_port, third_port = free_ports(2)
        near = Drone(stack, keys, "near", gcs.ports()["data"], near_port)
        third = Drone(stack, keys, "third", near_port, third_port)
        drones = {
            name: Drone(stack, keys, name, port)
            for name, port in zip(WAYS, (gcs.ports()["data"], near_port, third_port), strict=True)
        }
        relays = [near.engine, third.engine]
        found = {name: Hops() for name in WAYS}
        for _ in range(options.rounds):
            for name, drone in drones.items():
                measure(drone, ground, options.seconds, relays, found[name])
    machine = f"{environment['date']}, {environment['machine']}, Linux {environment['kernel']}"
    machine += f", load {environment['load_average_at_start']:.1f}"
    rig.write_page(options.output / "hops.md", render(found, machine))
    return 0


if __name__ == "__main__":
    sys.exit(main())
