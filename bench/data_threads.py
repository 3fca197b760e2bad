#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a gcs empties full sockets with one data thread, with two, and as two processes: ratios within rounds.

``tools/run bench/data_threads.py [--drones 64] [--pairs 12] [--rounds 5] [--each 500]`` connects drones to a gcs. Then,
again and again: the gcs is stopped (SIGSTOP), its sockets are filled with datagrams of all drones in turn, everything
else is stopped, the gcs continues, and the time is taken until its sockets are empty. All the processors are the gcs'
then, and what it gets is the same each time. Everything is counted where it arrives: a round that loses a datagram ends
the program. Writes bench/results/data_threads.md; ``--output DIR`` writes elsewhere.

Two processes, each with half of the drones, share nothing but the machine: what they reach is what two threads could.
"""

import argparse
import os
import signal
import socket
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "chaos"))

import pqc_mav_tunnel
import rig
from borrowed import thread_times, udp_sockets, waiting_bytes
from children import Child
from priority import prefer

from pqc_mav_bench.analysis.intervals import run_median
from pqc_mav_common import two_ends
from pqc_mav_common.markdown import table
from pqc_mav_common.waiting import wait_until

HOSTS = 2  # processes for the drones
CONNECT_S = 120.0
SIZE = 64  # bytes of a datagram: between MAVLink's commonest
BUFFER_KIB = 65_536  # of every socket of the tunnel: the most that it may be
SINK_BYTES = 16 << 20
POLL_S = 0.0005
LIMIT_S = 30.0
CHUNK = 4  # datagrams of each drone before the drones' engines are given a moment
RUN = 50  # datagrams of one drone in one call, on the way to the drones
UP = 4  # times as many on the way to the drones: what waits at a socket of its own is read in batches, which is quicker
UDP_SEGMENT = 103
_SO_RCVBUFFORCE = 33
# Real-time priorities, so that nothing else on the machine takes their time: of the tunnel, and of what looks at it.
AHEAD, ABOVE = 5, 6
#: Name, processes, data threads of each.
ARMS = (("one", 1, 1), ("two", 1, 2), ("apart", 2, 1))
WAYS = ("to the ground", "to the drones")


@dataclass
class Round:
    """One emptying of the sockets."""

    seconds: float
    cpu_s: float  # of all data threads together
    waited_s: float  # of all data threads together: for a processor that something else had
    packets: int

    @property
    def rate(self) -> float:
        """Datagrams/s."""
        return self.packets / self.seconds


class Fleet:
    """A gcs, in one or two processes, and the processes with its drones; all of them can be stopped."""

    def __init__(self, stack: ExitStack, processes: int, threads: int, drones: int) -> None:
        self.names = [f"drone{i:03}" for i in range(drones)]
        keys = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-"))
        pqc_mav_tunnel.init_keys(keys, self.names, ["mldsa65"])
        self.grounds = [self._application(stack) for _ in self.names]
        self.vehicles = [self._application(stack) for _ in self.names]
        grounds = {name: end.getsockname()[1] for name, end in zip(self.names, self.grounds, strict=True)}
        more = {"socket_buffer_kib": BUFFER_KIB}
        self.to_ground: dict[str, int] = {}
        self.to_vehicle: dict[str, int] = {}
        self.gcs, self.hosts = [], []
        configs: list[list[dict[str, Any]]] = [[] for _ in range(HOSTS)]
        for number in range(processes):
            own = self.names[number::processes]
            gcs = self._child(stack, self.gcs)
            config = two_ends.gcs_config(
                keys, {name: grounds[name] for name in own}, max_handshakes=64, data_threads=threads, **more
            )
            (ports,) = gcs.ask("start", configs=[config])
            self.to_vehicle |= ports["plain"]
            # Without runs: a fleet's packets come one by one, from many.
            for i, name in enumerate(own):
                configs[i % HOSTS].append(two_ends.drone_config(keys, name, ports["data"], gso=False, **more))
        for each in configs:
            host = self._child(stack, self.hosts)
            for own in host.ask("start", CONNECT_S, configs=each):
                self.to_ground |= own["plain"]
        if not wait_until(lambda: all(each["state"] == "UP" for each in self._of_gcs("status")), CONNECT_S, 0.2):
            raise SystemExit(f"bench: not all drones are up after {CONNECT_S:g} s.")

    @staticmethod
    def _application(stack: ExitStack) -> socket.socket:
        end = stack.enter_context(rig.listening(0.0))
        try:
            end.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, SINK_BYTES)
        except PermissionError:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SINK_BYTES)
        return end

    @staticmethod
    def _child(stack: ExitStack, among: list[Child]) -> Child:
        child = Child("engine_host.py")
        prefer(child.pid, AHEAD)  # before its threads begin: they inherit it
        stack.callback(child.close)
        stack.callback(os.kill, child.pid, signal.SIGCONT)
        among.append(child)
        return child

    def _of_gcs(self, what: str) -> list[dict[str, Any]]:
        return [each for gcs in self.gcs for each in gcs.ask(what)]

    @contextmanager
    def stopped(self, children: Sequence[Child]) -> Iterator[None]:
        """Stop processes, and continue them afterwards."""
        for child in children:
            os.kill(child.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for child in children:
                os.kill(child.pid, signal.SIGCONT)

    def _sent_by_drones(self) -> int:
        return sum(each["plain_rx_packets"] for host in self.hosts for each in host.ask("every_stats"))

    def _delivered(self, way: str) -> int:
        if way == "to the ground":
            return sum(each["delivered_datagrams"] for each in self._of_gcs("stats"))
        return sum(each["delivered_datagrams"] for host in self.hosts for each in host.ask("every_stats"))

    def _fill(self, way: str, each: int) -> int:
        """Give every drone's tunnel so many datagrams (or as many times more), in turns; returns how many it were."""
        if way != "to the ground":
            self._fill_in_runs(UP * each // RUN)
            return len(self.names) * (UP * each // RUN) * RUN
        to = [(end, (rig.HOST, self.to_ground[name])) for end, name in zip(self.vehicles, self.names, strict=True)]
        payload, wanted = bytes(SIZE), self._sent_by_drones() + each * len(to)
        for turn in range(each):
            for end, address in to:
                end.sendto(payload, address)
            if turn % CHUNK == CHUNK - 1:
                time.sleep(0.001)  # the drones' engines seal them meanwhile
        if not wait_until(lambda: self._sent_by_drones() == wanted, LIMIT_S, 0.02):
            raise SystemExit("bench: the drones have not taken everything.")
        return each * len(to)

    def _fill_in_runs(self, runs: int) -> None:
        """Each drone's socket at the gcs in one go; from all processors in turn, for memory is given back quicker on
        the one that it was taken on.
        """
        ancillary = [(socket.SOL_UDP, UDP_SEGMENT, struct.pack("H", SIZE))]
        processors = sorted(os.sched_getaffinity(0))
        try:
            for number, (end, name) in enumerate(zip(self.grounds, self.names, strict=True)):
                # in pairs: a data thread has every other drone
                os.sched_setaffinity(0, {processors[number // 2 % len(processors)]})
                for _ in range(runs):
                    end.sendmsg([bytes(SIZE * RUN)], ancillary, 0, (rig.HOST, self.to_vehicle[name]))
        finally:
            os.sched_setaffinity(0, processors)

    def drain(self, way: str, each: int) -> Round:
        """Fill the sockets of the gcs, and take the time until they are empty."""
        before = self._delivered(way)
        with ExitStack() as stack:
            sockets = [end for gcs in self.gcs for end in udp_sockets(gcs.pid, stack)]
            with self.stopped(self.hosts):
                with self.stopped(self.gcs):
                    if way == "to the ground":
                        for host in self.hosts:
                            os.kill(host.pid, signal.SIGCONT)
                    packets = self._fill(way, each)
                    for host in self.hosts:
                        os.kill(host.pid, signal.SIGSTOP)
                    time.sleep(0.02)
                    ran, waited = self._times()
                    began = time.monotonic()
                for end in sockets:
                    while waiting_bytes(end):
                        if time.monotonic() - began > LIMIT_S:
                            raise SystemExit("bench: the gcs does not empty its sockets.")
                        time.sleep(POLL_S)
                took = time.monotonic() - began
                time.sleep(0.005)  # what is in work
                ran, waited = (now - then for now, then in zip(self._times(), (ran, waited), strict=True))
        if not wait_until(lambda: self._delivered(way) == before + packets, LIMIT_S, 0.02):
            raise SystemExit(f"bench: {before + packets - self._delivered(way)} of {packets} datagrams are missing.")
        self._empty_applications()
        return Round(took, ran, waited, packets)

    def _times(self) -> tuple[float, float]:
        each = [times for gcs in self.gcs for times in thread_times(gcs.pid, "pqc-data")]
        return sum(ran for ran, _ in each), sum(waited for _, waited in each)

    def _empty_applications(self) -> None:
        for end in (*self.grounds, *self.vehicles):
            try:
                while True:
                    end.recv(2048)
            except BlockingIOError:
                continue


def one_run(processes: int, threads: int, drones: int, rounds: int, each: int) -> dict[str, list[Round]]:
    """Connect, then empty the sockets so many times each way; the first time of each is not counted."""
    with ExitStack() as stack:
        fleet = Fleet(stack, processes, threads, drones)
        time.sleep(0.5)
        return {way: [fleet.drain(way, each) for _ in range(rounds + 1)][1:] for way in WAYS}


def ratio(above: list[list[Round]], below: list[list[Round]]) -> tuple[float, float, float]:
    """Median of the pairs' ratios of rates, and its 95 % interval."""
    pairs = [
        [b.rate / a.rate for a, b in zip(lower, upper, strict=True)] for lower, upper in zip(below, above, strict=True)
    ]
    return run_median(pairs)


def median_of(runs: list[list[Round]], figure: Any, digits: int) -> str:
    """Median of the runs' medians with its interval."""
    middle, low, high = run_median([[figure(each) for each in run] for run in runs])
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


TITLES = {"one": "one data thread", "two": "two data threads", "apart": "two processes, one thread each"}


def page(runs: dict[str, dict[str, list[list[Round]]]], options: argparse.Namespace, about: dict[str, Any]) -> str:
    """The result for people. `runs`: by arm, by way, the rounds of each run."""
    count, first = len(next(iter(runs["one"].values()))), runs["one"][WAYS[0]][0]
    filled = "; ".join(f"{runs['one'][way][0][0].packets:,} {way}" for way in WAYS)
    lines = [
        "# Data threads", "",
        f"Written by `{command(options)}`. {options.drones} drones on one gcs, on loopback; AES-256-GCM; "
        f"datagrams of {SIZE} bytes. They fill the sockets of the gcs while it is stopped ({filled}). Then the rest "
        "of the fleet is stopped, so that both processors are the gcs', and the time is taken until its sockets are "
        f"empty: {len(first)} times in each run and each way, {count} runs of each kind in turn. Median with its 95 % "
        "interval over the runs. All datagrams were counted where they arrived: none was "
        "lost. All processes have a real-time priority, so that nothing else takes their time; how long the data "
        "threads waited for a processor is in the table.", "",
        f"*{about['date']}, {about['machine']}, Linux {about['kernel']}, load at the start "
        f"{about['load_average_at_start']}*", "",
    ]  # fmt: skip
    for way in WAYS:
        rows = []
        for arm, _, _ in ARMS:
            own = runs[arm][way]
            over = ratio(own, runs["one"][way])
            said = "1" if arm == "one" else f"**{over[0]:.2f}** ({over[1]:.2f} to {over[2]:.2f})"
            rate = median_of(own, lambda each: each.rate, 0)
            cpu = median_of(own, lambda each: 1e6 * each.cpu_s / each.packets, 2)
            waited = median_of(own, lambda each: 100 * each.waited_s / (each.waited_s + each.cpu_s), 1)
            rows.append((TITLES[arm], rate, cpu, f"{waited} %", said))
        of_apart = ratio(runs["two"][way], runs["apart"][way])
        head = ("gcs", "datagrams/s", "CPU a datagram, us", "waited for a processor", "over one data thread")
        lines += [
            f"## {way[0].upper()}{way[1:]}",
            "",
            table(head, rows),
            f"Two threads over two processes: {of_apart[0]:.2f} ({of_apart[1]:.2f} to {of_apart[2]:.2f}).",
            "",
        ]
    lines += [
        "Two processes share nothing but the machine, so they are what two threads can reach here. The time includes "
        "handing each datagram to the socket of its application (to the ground) or drone, which the kernel does in the "
        "sending thread: the plaintext side is part of the path, and each thread has its own.", "",
        "To the ground the packets come from all drones in turn, each by itself, as a fleet's do. To the drones each "
        "drone's datagrams wait at a socket of its own and are read and sent in batches: a drone that is sent one "
        "message at a time costs more for each. Datagrams that waited have left the processor's caches, unlike those "
        "in flight.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def command(options: argparse.Namespace) -> str:
    """How it was called."""
    return (
        f"tools/run bench/data_threads.py --drones {options.drones} --pairs {options.pairs} --rounds {options.rounds} "
        f"--each {options.each}"
    )


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drones", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=12, help="runs of each kind (default 12)")
    parser.add_argument("--rounds", type=int, default=5, help="of each run and way (default 5)")
    parser.add_argument("--each", type=int, default=500, help="datagrams of each drone in a round (default 500)")
    parser.add_argument("--output", type=Path, default=rig.RESULTS, help="folder for data_threads.md")
    options = parser.parse_args()
    about = rig.environment()
    prefer(0, ABOVE)
    runs: dict[str, dict[str, list[list[Round]]]] = {arm: {way: [] for way in WAYS} for arm, _, _ in ARMS}
    for number in range(options.pairs):
        for arm, processes, threads in ARMS if number % 2 == 0 else reversed(ARMS):
            for way, rounds in one_run(processes, threads, options.drones, options.rounds, options.each).items():
                runs[arm][way].append(rounds)
                rate = statistics.median(each.rate for each in rounds)
                print(f"{number + 1:3} {arm:6} {way:14} {rate:10,.0f}/s", flush=True)
    rig.write_page(options.output / "data_threads.md", page(runs, options, about))
    return 0


if __name__ == "__main__":
    sys.exit(main())
