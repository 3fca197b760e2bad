# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks measure: a pair of tunnel ends or of plain forwarders on loopback, and a load through either.

Every pair carries datagrams from ``Pair.entry`` (where an autopilot would send) to ``Pair.exit`` (where ground software
would listen).
"""

import json
import os
import platform
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pqc_mav_tunnel import Engine, host_info

from pqc_mav_bench.source import source
from pqc_mav_common import two_ends
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.child import Program, ProgramError, end
from pqc_mav_common.free_ports import free_ports

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
ENGINE = ROOT / "build" / "pqc_mav_tunnel"
# The load and the yardstick are built for 'make bench' and not installed; the daemon is.
PROGRAMS = (Path(os.environ.get("PQCMAV_BENCH_BIN", ENGINE / "micro_benchmarks")), ROOT / "install" / "bin")
HOST = "127.0.0.1"


@dataclass
class Pair:
    """Two running processes that forward UDP from entry to exit."""

    name: str
    entry: str
    exit: str
    processes: list[Program] = field(default_factory=list)
    #: What udp_load is told besides, such as the namespaces that the two ends of the load are in.
    where: list[str] = field(default_factory=list)

    @property
    def pids(self) -> list[int]:
        """Of both ends."""
        return [p.pid for p in self.processes]


def environment() -> dict[str, Any]:
    """When, of which sources and on what kind of machine a figure was taken; no names."""
    model = host_info()["cpu_model"] or platform.machine()
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {model}",
        "kernel": platform.release().split("-")[0],
        "load_average_at_start": round(os.getloadavg()[0], 2),
        "source": source(ROOT),
    }


def keep(path: Path, text: str) -> None:
    """Keep results; a folder that is new is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, text)


def write_page(path: Path, text: str) -> None:
    """Keep a page of results, and show it."""
    keep(path, text)
    print(text)


def place(text: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = text.rpartition(":")
    return host, int(port)


def listening(timeout_s: float, address: tuple[str, int] = (HOST, 0)) -> socket.socket:
    """A UDP socket that waits for each datagram this long."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(address)
    made.settimeout(timeout_s)
    return made


def running(stack: ExitStack, config: dict[str, Any]) -> Engine:
    """An engine in this process until the stack ends."""
    engine = Engine(config)
    engine.start()
    stack.callback(engine.stop)
    return engine


def cpu_ns(pids: Sequence[int]) -> int:
    """Time that the processes' threads were on a processor, by the scheduler's own count (proc(5), schedstat)."""
    return sum(
        int((task / "schedstat").read_text().split()[0]) for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()
    )


def tool(name: str) -> str:
    """Path of a built program."""
    for folder in PROGRAMS:
        if (folder / name).exists():
            return str(folder / name)
    raise SystemExit(f"bench: {name} is not built; run 'make bench', or 'tools/setup.sh analysis benchmarks' first.")


def run_json(name: str, *arguments: object, timeout: float = 300) -> dict[str, Any]:
    """The one JSON object a benchmark program prints."""
    result = subprocess.run(
        [tool(name), *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False
    )
    if result.returncode != 0:
        raise SystemExit(f"bench: {name} failed: {result.stderr.strip()}")
    return json.loads(result.stdout)


def started(command: Sequence[str], ready: str, limit_s: float = 20, **options: Any) -> Program:
    """A program that has said that it is ready."""
    program = Program(Path(command[0]).name, command, limit_s=limit_s, **options)
    try:
        program.wait_for(ready)
    except ProgramError as error:
        program.kill()
        raise SystemExit(f"bench: {error}") from None
    return program


def stop(programs: Sequence[Program]) -> None:
    """Ends the programs, by force after a while."""
    for program in programs:
        end(program.process)


@contextmanager
def forwarder_pair(busy_poll_us: int = 0) -> Iterator[Pair]:
    """Two plain forwarders, written with the engine's own batch classes, without crypto or GSO."""
    entry, air_a, air_b, back, out = free_ports(5)
    extra = ["--busy-poll-us", str(busy_poll_us)]
    pair = Pair("forwarder", f"{HOST}:{entry}", f"{HOST}:{out}")
    commands = [
        [f"{HOST}:{entry}", "-", f"{HOST}:{air_a}", f"{HOST}:{air_b}"],
        [f"{HOST}:{back}", f"{HOST}:{out}", f"{HOST}:{air_b}", f"{HOST}:{air_a}"],
    ]
    try:
        for plain, plain_peer, air, air_peer in commands:
            ends = ["--plain", plain, "--plain-peer", plain_peer, "--air", air, "--air-peer", air_peer]
            pair.processes.append(started([tool("plain_forwarder"), *ends, *extra], "ready"))
        yield pair
    finally:
        stop(pair.processes)


@contextmanager
def tunnel_pair(suite: str = "cs-mlkem768-aesgcm-mldsa65", gso: bool = True, busy_poll_us: int = 0) -> Iterator[Pair]:
    """A drone and a gcs, each its own pqcmav-tunneld, with fresh keys."""
    import pqc_mav_tunnel

    entry, out, drone_data, gcs_data = free_ports(4)
    pair = Pair(f"tunnel {suite}{'+gso' if gso else ''}", f"{HOST}:{entry}", f"{HOST}:{out}")
    common = {"gso": gso, "busy_poll_us": busy_poll_us}
    with tempfile.TemporaryDirectory(prefix="pqcmav-bench-") as folder:
        pqc_mav_tunnel.init_keys(folder, ["bench"], [pqc_mav_tunnel.find_suite(suite).sig_token, "mldsa65"])
        gcs = two_ends.gcs_config(folder, {"bench": out}, data_port=gcs_data)
        drone = two_ends.drone_config(
            folder, "bench", gcs_data, suite=suite, local_data_port=drone_data, plain_bind=pair.entry
        )
        try:
            for name, config, ready in (("gcs", gcs, "encrypted UDP port"), ("drone", drone, "-> UP")):
                path = two_ends.write(Path(folder, f"{name}.yaml"), config | common)
                pair.processes.append(started([tool("pqcmav-tunneld"), str(path)], ready))
            yield pair
        finally:
            stop(pair.processes)


@contextmanager
def processors(pair: Pair) -> Iterator[None]:
    """Gives the pair one processor and the load another.

    So the pair's cost is measured: its rate is one processor over its work per packet, as long as the load keeps
    up. On a machine with a single processor both are the same.
    """
    every = sorted(os.sched_getaffinity(0))
    if len(every) < 2:
        yield
        return
    os.sched_setaffinity(0, every[:1])
    for pid in pair.pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), every[1:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def load(pair: Pair, rate: float, size: int, seconds: float, trip: str = "one-way") -> dict[str, Any]:
    """Sends through the pair at a rate; counts and delays (one-way, or with trip "round" there and back) as udp_load
    prints them."""
    ends = ("--to", pair.entry, "--receive", pair.exit, *pair.where)
    return run_json("udp_load", *ends, "--trip", trip, "--rate", rate, "--size", size, "--seconds", seconds)
