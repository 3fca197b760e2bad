# SPDX-License-Identifier: Apache-2.0
"""Times every operation: warm-up, blocks in randomised order, all samples kept, the machine's state recorded.

Samples are taken in blocks of BLOCK; the blocks of all operations are shuffled together, so that slow changes of the
machine affect all operations equally, while within a block caches are as warm as in use. Operations faster than
SHORTEST_US are timed several at once; a sample then is their mean.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import psutil

from pqc_mav_bench.collectors.environment import environment
from pqc_mav_bench.collectors.governor import FOLDER, governor
from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.primitives.cycles import CycleCounter
from pqc_mav_bench.primitives.energy import EnergyMeter
from pqc_mav_bench.primitives.operations import MESSAGE_BYTES, Operation
from pqc_mav_bench.primitives.result import signed
from pqc_mav_bench.primitives.samples import describe
from pqc_mav_bench.source import source

RESULT_VERSION = "1.0"
BLOCK = 10
WARM_UP = 2
SHORTEST_US = 50.0
ENERGY_S = 1.0
ROUND = 32768  # operations prepared at once: packets of this many fit into memory


@dataclass
class Timed:
    """Samples of one operation."""

    operation: Operation
    inner: int
    samples_us: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    joules: float | None = None


def clock_mhz() -> float | None:
    """Mean clock of the cores now; None where the kernel shows none."""
    frequency = psutil.cpu_freq()
    return float(frequency.current) if frequency and frequency.current else None


def calibrate(operation: Operation) -> int:
    """How many calls make one sample, after a warm-up."""
    loop = operation.prepare(1)
    loop()
    began = time.perf_counter_ns()
    operation.prepare(1)()
    took_us = max(0.05, (time.perf_counter_ns() - began) / 1e3)
    return max(1, math.ceil(SHORTEST_US / took_us))


def blocks(count: int, n: int, seed: int) -> list[tuple[int, int]]:
    """(operation's index, samples) of every block, shuffled."""
    sizes = [BLOCK] * (n // BLOCK) + ([n % BLOCK] if n % BLOCK else [])
    order = [(index, size) for index in range(count) for size in sizes]
    random.Random(seed).shuffle(order)
    return order


def take_block(timed: Timed, size: int, counter: CycleCounter) -> None:
    """`size` samples of one operation, after a warm-up that is not kept."""
    inner = timed.inner
    for _ in range(WARM_UP):
        timed.operation.prepare(inner)()
    for _ in range(size):
        loop = timed.operation.prepare(inner)
        cycles = counter.read()
        began = time.perf_counter_ns()
        loop()
        took = time.perf_counter_ns() - began
        cycles = counter.read() - cycles
        timed.samples_us.append(took / 1e3 / inner)
        if not counter.status:
            timed.cycles.append(cycles / inner)


def take_energy(timed: Timed, meter: EnergyMeter, idle_w: float) -> None:
    """Energy per operation above idle, over ENERGY_S of nothing but it; what a round needs is prepared outside."""
    per_call_s = max(1e-7, float(describe(timed.samples_us)["median"]) / 1e6)
    wanted = max(1, math.ceil(ENERGY_S / per_call_s))
    size = min(wanted, ROUND)
    joules = took = 0.0
    rounds = math.ceil(wanted / size)
    for _ in range(rounds):
        loop = timed.operation.prepare(size)
        began = time.monotonic()
        meter.begin()
        loop()
        joules += meter.end()
        took += time.monotonic() - began
    timed.joules = max(0.0, joules - idle_w * took) / (rounds * size)


def idle_watts(meter: EnergyMeter) -> float:
    """Power of the machine when nothing is timed."""
    meter.begin()
    time.sleep(ENERGY_S)
    return meter.end() / ENERGY_S


def take_energies(timed: Sequence[Timed], meter: EnergyMeter | None) -> tuple[float | None, str]:
    """Of all operations or, when the sensor fails, of none. Returns the idle power and what the file says of it."""
    if meter is None:
        return None, "no sensor measures energy here"
    try:
        idle_w = idle_watts(meter)
        for one in timed:
            take_energy(one, meter, idle_w)
    except (BenchError, OSError) as error:
        for one in timed:
            one.joules = None
        return None, f"the sensor failed: {error}"
    return idle_w, f"measured by {meter.source}, idle power taken off"


def measure(
    operations: Sequence[Operation],
    n: int,
    seed: int,
    meter: EnergyMeter | None,
    on_progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Times everything. Returns the result document. `on_progress(done, total, label)` is called before each block."""
    started, clock_before = datetime.now(timezone.utc), clock_mhz()
    timed = [Timed(operation, calibrate(operation)) for operation in operations]
    counter = CycleCounter()
    order = blocks(len(timed), n, seed)
    clocks: list[float] = []
    try:
        for done, (index, size) in enumerate(order):
            on_progress(done, len(order), timed[index].operation.label)
            take_block(timed[index], size, counter)
            if done % 50 == 0 and (clock := clock_mhz()) is not None:
                clocks.append(clock)
    finally:
        counter.close()
    idle_w, energy_status = take_energies(timed, meter)
    on_progress(len(order), len(order), "")
    document: dict[str, Any] = {
        "result_version": RESULT_VERSION,
        "started_at": started.isoformat(timespec="seconds"),
        "duration_s": round((datetime.now(timezone.utc) - started).total_seconds(), 1),
        "environment": environment(),
        "source": source(),
        "clock_mhz": {"before": clock_before, "during": sorted(clocks), "after": clock_mhz()},
        "governor": governor(FOLDER / "cpu0") or None,
        "method": {
            "n": n,
            "block": BLOCK,
            "warm_up_per_block": WARM_UP,
            "order": "blocks of all operations shuffled together",
            "seed": seed,
            "shortest_sample_us": SHORTEST_US,
            "outliers": "kept",
            "interval": "95 % by order statistics",
            "signed_message_bytes": MESSAGE_BYTES,
        },
        "cycles_status": counter.status or "measured",
        "energy_status": energy_status,
        "idle_w": idle_w,
        "operations": [entry(one) for one in timed],
    }
    return signed(document)


def entry(timed: Timed) -> dict[str, Any]:
    """One operation of the result document."""
    operation = timed.operation
    times = {f"{name}_us" if name != "n" else "n": value for name, value in describe(timed.samples_us).items()}
    return {
        "kind": operation.kind,
        "algorithm": operation.algorithm,
        "token": operation.token,
        "operation": operation.name,
        "payload_bytes": operation.payload_bytes,
        "inner": timed.inner,
        **times,
        "cycles_median": describe(timed.cycles)["median"] if timed.cycles else None,
        "energy_uj": None if timed.joules is None else timed.joules * 1e6,
        "samples_us": [float(f"{sample:.6g}") for sample in timed.samples_us],
    }
