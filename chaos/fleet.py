# SPDX-License-Identifier: Apache-2.0
"""`chaos/run fleet`: many drones on one gcs, all rekeying at random: no cross-talk, no loss, and what each costs."""

import argparse
import heapq
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import messages
import pqc_mav_tunnel
import tables
from accounting import SOFTNET, Account, EndCounts, Way, account, backlog_drops, summed
from children import Child, ChildError
from fleet_page import costs, page
from fleet_result import SLICE_S, SUITES, FleetResult, judge, summary
from priority import OF_DRONES, OF_GCS, OF_TRAFFIC, THREADS_OF_GCS, prefer, prefer_threads
from traffic import End, TrafficProcess, application_socket, compiled, total

from pqc_mav_common import two_ends
from pqc_mav_common.process_figures import cpu_seconds, memory_kib, pss_kib
from pqc_mav_common.waiting import wait_until

_CONNECT_S = 60.0
_REKEY_LIMIT_S = 60.0
_NICE_OF_DRONES = 5
_FIRST_REKEYS = 0.8  # of the time: by then every drone has begun one
_COUNTERS_S = 2.2  # the engines ask the kernel what it dropped once a second


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--drones", type=int, default=64)
    parser.add_argument("--rate", type=float, default=50.0, help="messages/s of each drone, each way")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--rekey-every", type=float, default=6.0, help="mean seconds between rekeys of one drone (exponential)"
    )
    parser.add_argument("--processes", type=int, default=4, help="processes that host the drones")
    parser.add_argument("--data-threads", type=int, default=1, help="of the gcs")
    parser.add_argument(
        "--ahead", action="store_true", help="real-time priority for all processes, on a machine that has other work"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--perf",
        metavar="FILE",
        help="record where the gcs' packet threads spend their time (for 'perf report -i FILE')",
    )
    parser.add_argument("--also", type=int, nargs="*", default=[], help="smaller fleets to fly first, for comparison")
    parser.add_argument("--also-seconds", type=float, default=15.0, help="how long each of those flies")


def run(options: argparse.Namespace) -> int:
    """Fly the fleet, print and write; 0 when nothing was lost or mixed up and every rekey succeeded."""
    if (
        options.drones < 1
        or options.processes < 1
        or options.data_threads < 1
        or options.seconds <= 0
        or options.rate <= 0
        or options.rekey_every <= 0
    ):
        print("fleet: all numbers must be above 0.")
        return 2
    machine = tables.machine()
    if options.ahead and not prefer(os.getpid(), OF_GCS):
        print("fleet: --ahead needs the right to real-time priority (root, or an RLIMIT_RTPRIO).")
        return 2
    if options.perf and not shutil.which("perf"):
        print("fleet: --perf needs the program perf (Debian: linux-perf).")
        return 2
    try:
        smaller = [
            fly(
                argparse.Namespace(**{**vars(options), "drones": drones, "seconds": options.also_seconds, "perf": None})
            )
            for drones in options.also
        ]
        result = fly(options)
    except ChildError as error:
        print(f"fleet: {error}")
        return 1
    found = judge(result)
    text = page(result, found, options, machine)
    if smaller:
        text += costs([*smaller, result])
    tables.publish(options.output, "fleet", text, summary(result, found, options, machine))
    return 1 if found else 0


def fly(options: argparse.Namespace) -> FleetResult:
    """Start the gcs, the drones and the traffic, rekey at random, and measure."""
    result = FleetResult(options.drones, options.seconds)
    names = [f"drone{i:03}" for i in range(options.drones)]
    backlog, load = backlog_drops(SOFTNET.read_text(encoding="ascii")), os.getloadavg()[0]
    with ExitStack() as stack:
        keys = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-fleet-"))
        pqc_mav_tunnel.init_keys(keys, names)
        sockets = [stack.enter_context(application_socket()) for _ in range(2 * options.drones)]
        vehicles, grounds = sockets[: options.drones], sockets[options.drones :]
        ground_ports = {name: end.getsockname()[1] for name, end in zip(names, grounds, strict=True)}

        result.pss_gcs_one_kib = _memory_of_gcs(keys, dict(list(ground_ports.items())[:1]))
        gcs = _child(stack)
        threads = options.data_threads
        config = two_ends.gcs_config(keys, ground_ports, max_handshakes=64, data_threads=threads)
        (ports,) = gcs.ask("start", configs=[config])
        # In the field they have processors of their own: here they do not take those of the gcs.
        hosts = [_child(stack, _NICE_OF_DRONES) for _ in range(options.processes)]
        if options.ahead:
            prefer_threads(gcs.pid, THREADS_OF_GCS)
            for host in hosts:
                prefer(host.pid, OF_DRONES)
        result.rss_drone_process_empty_kib = sum(_settled_memory(host) for host in hosts)
        begin = time.monotonic()
        applications = {name: end.getsockname()[1] for name, end in zip(names, vehicles, strict=True)}
        where = _start_drones(hosts, keys, applications, ports)
        if not wait_until(lambda: _states([gcs, *hosts]) == {"UP": 2 * options.drones}, _CONNECT_S, 0.1):
            raise ChildError(f"states after {_CONNECT_S:g} s: {dict(_states([gcs, *hosts]))}")
        result.connect_s = time.monotonic() - begin

        ends = []
        for i, name in enumerate(names):
            port = where[name][2]
            ends.append(End(vehicles[i], i, messages.DOWN, port, options.rate))
            ends.append(End(grounds[i], i, messages.UP, ports["plain"][name], options.rate))
        traffic = TrafficProcess(ends, program=compiled())
        stack.callback(traffic.close)
        if options.ahead:
            prefer(traffic.pid, OF_TRAFFIC)
        time.sleep(1.0)
        before = pss_kib(gcs.pid)
        clock, cpu = time.monotonic(), _cpu(gcs, hosts, traffic)
        with _slices(gcs.pid, result.cpu_gcs_slices), _perf(gcs.pid, options):
            _rekey_at_random(where, options, result)
        took = time.monotonic() - clock
        used = [100 * (now - then) / took for now, then in zip(_cpu(gcs, hosts, traffic), cpu, strict=True)]
        result.cpu_gcs, result.cpu_drones, result.cpu_traffic = used
        result.seconds = took
        result.pss_gcs_kib = (before, pss_kib(gcs.pid))
        result.rss_drones_kib = sum(memory_kib(host.pid) for host in hosts)
        result.counts = traffic.stop(quiet_s=1.0, limit_s=30.0)
        time.sleep(_COUNTERS_S)
        result.states = _states([gcs, *hosts])
        result.drops = _drops([gcs, *hosts])
        result.accounts = _accounts(gcs, hosts, result.counts)
        result.backlog_drops = backlog_drops(SOFTNET.read_text(encoding="ascii")) - backlog
        result.load = (load, os.getloadavg()[0])
        return result


@contextmanager
def _slices(pid: int, into: list[float]) -> Iterator[None]:
    """Meanwhile, the processor time of a process in percent of one core, every few seconds."""
    over = threading.Event()

    def look() -> None:
        then, used = time.monotonic(), cpu_seconds(pid)
        while not over.wait(SLICE_S):
            now, more = time.monotonic(), cpu_seconds(pid)
            into.append(100 * (more - used) / (now - then))
            then, used = now, more

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _perf(pid: int, options: argparse.Namespace) -> Iterator[None]:
    """Meanwhile, but for the first third, samples of the packet threads, where asked for."""
    if not options.perf:
        yield
        return
    tasks = Path(f"/proc/{pid}/task").iterdir()
    threads = ",".join(task.name for task in tasks if (task / "comm").read_text().strip() == "pqc-data")
    command = ["perf", "record", "-q", "-g", "-F", "997", "-t", threads, "-o", options.perf]
    command += ["-D", f"{1000 * options.seconds / 3:.0f}", "--", "sleep", f"{options.seconds * 2 / 3:g}"]
    with subprocess.Popen(command) as perf:
        yield
        perf.send_signal(signal.SIGINT)


def _child(stack: ExitStack, nice: int = 0) -> Child:
    child = Child("engine_host.py", prefix=("nice", "-n", str(nice)) if nice else ())
    stack.callback(child.close)
    child.ask("time")
    return child


def _settled_memory(child: Child) -> int:
    child.ask("time")
    return memory_kib(child.pid)


def _memory_of_gcs(keys: str, grounds: dict[str, int]) -> int:
    with ExitStack() as stack:
        gcs = _child(stack)
        gcs.ask("start", configs=[two_ends.gcs_config(keys, grounds)])
        return pss_kib(gcs.pid)


def _start_drones(
    hosts: list[Child], keys: str, applications: dict[str, int], ports: dict[str, Any]
) -> dict[str, tuple[Child, int, int]]:
    """Start every drone's engine in one of the processes; returns process, number in it and plaintext port by name.

    `applications`: the port of each drone's application; a drone that had to learn it could not deliver what comes
    before that has spoken.
    """

    def config(name: str) -> dict[str, Any]:
        return two_ends.drone_config(keys, name, ports["data"], plain_peer=f"{two_ends.HOST}:{applications[name]}")

    where = {}
    shares = [list(applications)[i :: len(hosts)] for i in range(len(hosts))]
    waits = []
    for host, share in zip(hosts, shares, strict=True):
        waits.append(host.begin("start", watch=False, configs=[config(name) for name in share]))
    for host, share, wait in zip(hosts, shares, waits, strict=True):
        for number, (name, own) in enumerate(zip(share, wait(_CONNECT_S), strict=True)):
            where[name] = (host, number, own["plain"][name])
    return where


def _states(children: list[Child]) -> Counter[str]:
    states: Counter[str] = Counter()
    gcs, *hosts = children
    states.update(each["state"] for each in gcs.ask("status"))
    for host in hosts:
        states.update(each["state"] for each in host.ask("every_status"))
    return states


def _drops(children: list[Child]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    gcs, *hosts = children
    for stats in (gcs.ask("stats"), *(host.ask("every_stats") for host in hosts)):
        for each in stats:
            drops = {key: value for key, value in each.items() if "drop" in key and value}
            # Shaping counts by class.
            sums.update({key: sum(value) if isinstance(value, list) else int(value) for key, value in drops.items()})
    return dict(sums)


def _accounts(gcs: Child, hosts: list[Child], counts: dict[str, Any]) -> dict[str, Account]:
    """What became of the messages of each direction."""

    def end(stats: list[list[dict[str, Any]]], totals: list[list[dict[str, int]]]) -> EndCounts:
        return summed([each for part in stats for each in part], [each for part in totals for each in part])

    ground = end([gcs.ask("stats")], [gcs.ask("every_totals")])
    drones = end([host.ask("every_stats") for host in hosts], [host.ask("every_totals") for host in hosts])

    def way(number: int) -> Way:
        def of(key: str) -> int:
            return total(counts, key, lambda stream: stream["way"] == number)

        return Way(of("sent"), of("send_errors"), of("received") + of("duplicates"), of("kernel_dropped"))

    return {
        "to the ground": account(way(messages.DOWN), drones, ground, runs=True),
        "to the drones": account(way(messages.UP), ground, drones, runs=True),
    }


def _cpu(gcs: Child, hosts: list[Child], traffic: TrafficProcess) -> tuple[float, float, float]:
    drones = sum(cpu_seconds(host.pid) for host in hosts)
    return cpu_seconds(gcs.pid), drones, cpu_seconds(traffic.pid)


def _rekey_at_random(
    where: dict[str, tuple[Child, int, int]], options: argparse.Namespace, result: FleetResult
) -> None:
    """Each drone rekeys to a random suite after random times, one at a time, until the time is up."""
    generator = random.Random(options.seed)
    begin = time.monotonic()
    # the first within the mean time, and before the end, so that every drone rekeys
    within = min(options.rekey_every, _FIRST_REKEYS * options.seconds)
    plan = [(begin + generator.uniform(0, within), name) for name in where]
    heapq.heapify(plan)
    done: Counter[str] = Counter()
    running: list[tuple[str, Callable[[float], Any]]] = []
    while plan[0][0] < begin + options.seconds:
        at, name = plan[0]
        time.sleep(max(0.0, at - time.monotonic()))
        host, engine, _ = where[name]
        suite = generator.choice(SUITES)
        running.append((name, host.begin("rekey", engine=engine, drone_id=name, suite=suite, timeout_s=_REKEY_LIMIT_S)))
        # at least half a second apart: a drone that is still busy would rightly refuse
        heapq.heapreplace(plan, (at + 0.5 + generator.expovariate(1 / options.rekey_every), name))
    time.sleep(max(0.0, begin + options.seconds - time.monotonic()))
    for name, wait in running:
        answer = wait(_REKEY_LIMIT_S)
        if answer["ok"]:
            result.rekeys_ok += 1
            result.rekey_ms.append(answer["rekey_ms"])
            done[name] += 1
        else:
            result.rekeys_refused[answer["message"]] += 1
    result.least_rekeys = min(done[name] for name in where)
