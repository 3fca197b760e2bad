#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a gcs seals with one and with two data threads: the ratio within pairs of runs.

``tools/run bench/data_threads.py [--drones 64] [--pairs 10] [--seconds 4]`` connects drones to a gcs, then stops their
processes, so that all the machine has is the gcs' and the generator's, and gives the gcs more plaintext than it can
carry: runs of datagrams by UDP GSO, at a lower priority. What leaves the gcs is counted by the gcs. Nothing takes it:
the drones' sockets are full. Writes bench/results/data_threads.md; ``--output DIR`` writes elsewhere.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import socket
import statistics
import struct
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "chaos"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import loopback
import pqc_mav_tunnel
import rig
from children import Child

from pqc_mav_bench.analysis.statistics import mean_interval
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.process_figures import cpu_seconds
from pqc_mav_common.waiting import wait_until

RESULTS = Path(__file__).resolve().parent / "results"
HOSTS = 2  # processes for the drones
CONNECT_S = 120.0
SIZE = 256  # bytes of a datagram
RUN = 64  # datagrams in one call
NICE = 5  # of the generator: what a data thread wants it gets
UDP_SEGMENT = 103
THREADS = (1, 2)


@dataclass
class Sealed:
    """One run: what left the gcs, and what it cost."""

    packets_per_s: float
    cpu_cores: float
    cpu_us_each: float
    least_share: float  # of the packets: what the data thread with the fewest sent, over an equal part


def one_run(threads: int, drones: int, seconds: float) -> Sealed:
    """Connect, stop the drones, and load the gcs."""
    names = [f"drone{i:03}" for i in range(drones)]
    with ExitStack() as stack:
        keys = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-"))
        pqc_mav_tunnel.init_keys(keys, names, ["mldsa65"])
        source = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        source.bind((rig.HOST, 0))
        gcs = Child("engine_host.py")
        stack.callback(gcs.close)
        grounds = dict.fromkeys(names, source.getsockname()[1])
        config = loopback.gcs_config(keys, grounds, max_handshakes=64, data_threads=threads)
        (ports,) = gcs.ask("start", configs=[config])
        hosts = [Child("engine_host.py") for _ in range(HOSTS)]
        for number, host in enumerate(hosts):
            stack.callback(host.close)
            share = names[number::HOSTS]
            host.ask("start", CONNECT_S, configs=[loopback.drone_config(keys, name, ports) for name in share])
        if not wait_until(lambda: all(each["state"] == "UP" for each in gcs.ask("status")), CONNECT_S, 0.2):
            raise SystemExit(f"bench: not all drones are up after {CONNECT_S:g} s.")
        time.sleep(1.0)
        for host in hosts:
            os.kill(host.pid, signal.SIGSTOP)
            stack.callback(os.kill, host.pid, signal.SIGCONT)
        load(source, [ports["plain"][name] for name in names], 0.5)  # sockets fill, memory is touched
        before, cpu, clock = sent_by_link(gcs), cpu_seconds(gcs.pid), time.monotonic()
        load(source, [ports["plain"][name] for name in names], seconds)
        took, used = time.monotonic() - clock, cpu_seconds(gcs.pid) - cpu
        each = [now - then for now, then in zip(sent_by_link(gcs), before, strict=True)]
        total = sum(each)
        if not total:
            raise SystemExit("bench: the gcs sent nothing.")
        least = min(sum(each[number::threads]) for number in range(threads))
        return Sealed(total / took, used / took, 1e6 * used / total, least * threads / total)


def sent_by_link(gcs: Child) -> list[int]:
    """Encrypted packets that went out or were refused by the kernel, by drone."""
    return [link["enc_tx_packets"] + link["enc_dropped_send"] for link in gcs.ask("stats")]


def load(source: socket.socket, ports: list[int], seconds: float) -> None:
    """Plaintext for every drone in turn, from a process of its own with a lower priority."""
    generator = multiprocessing.get_context("fork").Process(target=send, args=(source, ports, seconds))
    generator.start()
    generator.join()
    if generator.exitcode != 0:
        raise SystemExit("bench: the generator of the load has failed.")


def send(source: socket.socket, ports: list[int], seconds: float) -> None:
    """As fast as it can."""
    os.nice(NICE)
    payload = bytes(SIZE * RUN)
    ancillary = [(socket.SOL_UDP, UDP_SEGMENT, struct.pack("H", SIZE))]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for port in ports:
            source.sendmsg([payload], ancillary, 0, (rig.HOST, port))


def spread(values: list[float], digits: int = 2) -> str:
    """Mean and its 95 % interval."""
    mean, half = mean_interval(values)
    return f"{mean:,.{digits}f} ({mean - half:,.{digits}f} to {mean + half:,.{digits}f})"


def page(runs: dict[int, list[Sealed]], command: str, drones: int, environment: dict[str, Any]) -> str:
    """The result for people."""
    one, two = (runs[threads] for threads in THREADS)
    ratios = [b.packets_per_s / a.packets_per_s for a, b in zip(one, two, strict=True)]
    lines = [
        "# Data threads", "",
        f"Written by `{command}`. {drones} drones connected to one gcs on loopback and then stopped; plaintext "
        f"datagrams of {SIZE} bytes for all of them, more than the gcs can carry; AES-256-GCM. Counted is what the gcs "
        f"sealed and gave to the kernel. {len(ratios)} pairs of runs, one data thread and two in turn; mean and 95 % "
        "interval.", "",
        f"*{environment['date']}, {environment['machine']}, Linux {environment['kernel']}, load at the start "
        f"{environment['load_average_at_start']}*", "",
        "| data threads | packets/s | cores the gcs used | CPU a packet, us | packets of the thread with the fewest, "
        "over an equal part |",
        "|---|---|---|---|---|",
    ]  # fmt: skip
    for threads, rows in runs.items():
        least = statistics.median(row.least_share for row in rows)
        lines.append(
            f"| {threads} | {spread([row.packets_per_s for row in rows], 0)} "
            f"| {spread([row.cpu_cores for row in rows])} | {spread([row.cpu_us_each for row in rows])} | {least:.2f} |"
        )
    lines += [
        "", f"**Two threads over one: {spread(ratios)}.**", "",
        "The machine has two cores, and the generator needs a part of one: two data threads share what it leaves, so "
        "twice the packets cannot be shown here. What can: that a second thread takes up the rest of the machine, and "
        "what a packet costs more or less with it.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drones", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=10, help="pairs of runs (default 10)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of load in each run (default 4)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for data_threads.md")
    options = parser.parse_args()
    environment = rig.environment()
    runs: dict[int, list[Sealed]] = {threads: [] for threads in THREADS}
    for number in range(options.pairs):
        for threads in THREADS if number % 2 == 0 else reversed(THREADS):
            runs[threads].append(one_run(threads, options.drones, options.seconds))
            print(threads, runs[threads][-1], flush=True)
    command = (
        f"tools/run bench/data_threads.py --drones {options.drones} --pairs {options.pairs} "
        f"--seconds {options.seconds:g}"
    )
    text = page(runs, command, options.drones, environment)
    options.output.mkdir(parents=True, exist_ok=True)
    atomic_write(options.output / "data_threads.md", text.encode())
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
