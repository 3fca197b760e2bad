#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor time per packet of two builds of pqcmav-tunneld: ``tools/run bench/versus.py OLD NEW``.

OLD and NEW are folders with a pqcmav-tunneld. Both carry the same load in turns, so that what else the machine does
meets both. Prints the ratio new / old with its 95 % interval, for each end.
"""

import argparse
import socket
import statistics
import time
from pathlib import Path

import rig

from pqc_mav_bench.analysis.statistics import shown_mean

RATE, SIZE, RUN = 8000, 256, 32  # packets a second, bytes, packets at once
WARM, COUNTED = 800, 24_000  # packets
LATE_S = 1.0


def carry(pair: rig.Pair, count: int) -> int:
    """Send so many packets up; how many came."""
    came = 0
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ground,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot,
    ):
        ground.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        ground.bind(rig.place(pair.exit))
        begin = time.monotonic()
        for number in range(count):
            autopilot.sendto(bytes(SIZE), rig.place(pair.entry))
            if number % RUN == 0 and (wait := begin + number / RATE - time.monotonic()) > 0:
                time.sleep(wait)
        ground.settimeout(LATE_S)
        try:
            while came < count:
                ground.recv(2 * SIZE)
                came += 1
        except TimeoutError:
            pass
    return came


def cost_us(folder: Path) -> list[float]:
    """Microseconds per packet at the gcs and at the drone."""
    rig.PROGRAMS = (folder, *rig.PROGRAMS)
    try:
        with rig.tunnel_pair() as pair:
            carry(pair, WARM)
            before = [rig.cpu_ns([pid]) for pid in pair.pids]
            came = carry(pair, COUNTED)
            return [1e-3 * (rig.cpu_ns([pid]) - was) / came for pid, was in zip(pair.pids, before, strict=True)]
    finally:
        rig.PROGRAMS = rig.PROGRAMS[1:]


def main() -> None:
    """Measure in turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--repetitions", type=int, default=14)
    options = parser.parse_args()
    found: dict[Path, list[list[float]]] = {options.old: [], options.new: []}
    for number in range(options.repetitions):
        for folder in (options.old, options.new)[:: 1 if number % 2 == 0 else -1]:
            found[folder].append(cost_us(folder))
    for end, name in enumerate(("gcs", "drone")):
        old, new = ([each[end] for each in found[folder]] for folder in (options.old, options.new))
        ratios = [after / before for before, after in zip(old, new, strict=True)]
        print(
            f"{name}: {statistics.median(old):.2f} us before, {statistics.median(new):.2f} us now, "
            f"ratio {shown_mean(ratios, 3)}"
        )


if __name__ == "__main__":
    main()
