#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why an operation takes longer in the running tunnel than alone: in a loop, after a rest, and after other work.

    tools/run bench/rested.py [--times 300] [--output bench/results/rested.md]

In a loop, code and data stay in the processor's caches and its predictors know the way. In flight, milliseconds of rest
or of other work lie between two packets and seconds between two handshakes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pqc_mav_tunnel

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_bench.primitives import operations
from pqc_mav_bench.report.numbers import number
from pqc_mav_bench.source import source, words
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.host_info import host_info

REST_S = 0.003  # between two messages at 320 a second
LOOP = 100
OTHER_WORK_BYTES = 64 << 20  # written to: more than the caches hold
KEMS = (("mlkem512", "ML-KEM-512"), ("mlkem768", "ML-KEM-768"), ("mlkem1024", "ML-KEM-1024"))


def chosen() -> list[operations.Operation]:
    """An empty call, key generation of ML-KEM, and sealing 64 bytes with each cipher."""
    ciphers = dict.fromkeys((suite.aead_token, suite.aead) for suite in pqc_mav_tunnel.suites(view="core"))
    return [
        operations.overhead(),
        *(operations.kem_operations(token, name)[0] for token, name in KEMS),
        *(operations.aead_operations(token, name, 64)[0] for token, name in ciphers),
    ]


def three_ways(operation: operations.Operation, times: int) -> tuple[list[float], list[float], list[float]]:
    """Times in a loop (the mean of LOOP), after a rest, and after a rest and other work, in turn [us]."""
    one, loop = operation.prepare(1), operation.prepare(LOOP)
    memory = np.zeros(OTHER_WORK_BYTES, np.uint8)
    loop()
    looped, rested, interrupted = [], [], []
    for _ in range(times):
        looped.append(_us(loop) / LOOP)
        time.sleep(REST_S)
        rested.append(_us(one))
        time.sleep(REST_S)
        memory += 1
        interrupted.append(_us(one))
    return looped, rested, interrupted


def _us(call: Callable[[], None]) -> float:
    began = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - began) / 1e3


def _cell(values: Sequence[float]) -> str:
    low, high = median_interval(values)
    return f"{number(statistics.median(values))} ({number(low)} to {number(high)})"


def _row(label: str, looped: Sequence[float], *others: Sequence[float]) -> str:
    base = statistics.median(looped)
    cells = [f"{_cell(each)}, {number(statistics.median(each) / base, 2)} times" for each in others]
    return f"| {label} | {' | '.join([_cell(looped), *cells])} |"


def page(times: int) -> str:
    """Measures, and returns the page."""
    rows = [_row(operation.label, *three_ways(operation, times)) for operation in chosen()]
    machine = host_info()
    return "\n".join(
        [
            "# The same operation in a loop, after a rest and after other work",
            "",
            f"Medians in us with their 95 % intervals, N = {times} each way, in turn; in a loop: the mean of "
            f"{LOOP} in a row; after a rest: one call after {1e3 * REST_S:g} ms of sleep; after other work: after that "
            f"sleep {OTHER_WORK_BYTES >> 20} MB are written to as well. All have the call from Python in them, which "
            "the first row shows alone.",
            f"{date.today()}, `tools/run bench/rested.py --times {times}` on {machine['cpu_model']}, "
            f"{machine['cpu_count']} processors, {words(source())}.",
            "",
            "| operation | in a loop | after a rest | after other work |",
            "|---|---|---|---|",
            *rows,
            "",
            "The times of the primitive benchmark are loops: what an algorithm costs. In the running tunnel each call "
            "comes after rest or other work, and code, data and the processor's clock have to come back first.",
            "",
        ]
    )


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description="Operations in a loop and after a rest.")
    parser.add_argument("--times", type=int, default=300, help="samples each way")
    parser.add_argument("--output", type=Path, default=Path("bench/results/rested.md"))
    options = parser.parse_args()
    text = page(options.times)
    atomic_write(options.output, text)
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
