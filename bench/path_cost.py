#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What paths cost at 320 messages a second: processor time of both engines' threads, and memory of the process.

``tools/run bench/path_cost.py [--rounds 10] [--seconds 10]``: no ``paths``, one and two over loopback take turns, each
time in a new process; a heartbeat and a COMMAND_ACK a second are among the messages. Prints means with 95 % intervals
of the rounds, and of the difference to the drone without ``paths``.
"""

import argparse
import itertools
import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pqc_mav_tunnel
import rig
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until

RATE_HZ, SETTLED_S = 320, 2.0
PATHS: dict[str, list[str]] = {"no paths": [], "one path": ["lte"], "two paths": ["lte", "mesh"]}
VIA = {"lte": "127.0.0.1", "mesh": "127.0.0.2"}


def messages() -> Iterator[bytes]:
    """A second of telemetry, again and again; numbers go on as they would."""
    out = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    wanted = [out.heartbeat_encode(2, 12, 0, 0, 4), out.command_ack_encode(400, 0)]
    wanted += [out.attitude_encode(1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)] * (RATE_HZ - len(wanted))
    return itertools.cycle([bytes(each.pack(out)) for each in wanted])


def ran_s() -> float:
    """Processor time of all of this process' threads but this one."""
    own = str(os.getpid())
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != own]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def private_kib() -> int:
    """Memory that goes with this process."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def one(way: str, seconds: float) -> tuple[float, float]:
    """Processor time of both ends, us a message, and private memory, KiB."""
    with ExitStack() as stack:
        keys = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-paths-"))
        pqc_mav_tunnel.init_keys(keys, ["uav1"])
        ground = stack.enter_context(rig.listening(None))
        gcs = rig.running(stack, two_ends.gcs_config(keys, {"uav1": ground.getsockname()[1]}))
        port = gcs.ports()["data"]
        names = PATHS[way]
        more = {"paths": names, "path": {name: {"via": VIA[name], "peer": f"127.0.0.1:{port}"} for name in names}}
        drone = rig.running(stack, two_ends.drone_config(keys, "uav1", port, **(more if names else {})))
        if not wait_until(lambda: all(end.status()[0]["state"] == "UP" for end in (gcs, drone)), 20.0):
            raise SystemExit(f"path_cost: {way}: the ends do not connect")
        vehicle = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        vehicle.connect(("127.0.0.1", drone.ports()["plain"]["uav1"]))
        telemetry, sent, begin, before = messages(), 0, time.monotonic(), 0.0
        while (passed := time.monotonic() - begin) < SETTLED_S + seconds:
            if not before and passed >= SETTLED_S:
                before, sent = ran_s(), 0
            vehicle.send(next(telemetry))
            sent += 1
            time.sleep(1 / RATE_HZ)
        ran = ran_s() - before
        lives = [path["state"] for path in drone.status()[0].get("paths", [])]
        if len(lives) != len(names) or "dead" in lives:
            raise SystemExit(f"path_cost: {way}: {lives}")
        return ran * 1e6 / sent, private_kib()


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    print(rig.environment())
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in PATHS}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for _ in range(options.rounds):
            for way, runs in found.items():
                runs.append(pool.apply(one, (way, options.seconds)))
    base = found["no paths"]
    for way, runs in found.items():
        for unit, number in (("us of processor a message", 0), ("KiB", 1)):
            more = [100 * (run[number] / was[number] - 1) for run, was in zip(runs, base, strict=True)]
            by = [run[number] - was[number] for run, was in zip(runs, base, strict=True)]
            print(f"{way}: {shown_mean([run[number] for run in runs])} {unit}", end="")
            print(f"; {shown_mean(more)} % more, {shown_mean(by)} {unit}" if way != "no paths" else "")


if __name__ == "__main__":
    main()
