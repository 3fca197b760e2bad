# SPDX-License-Identifier: Apache-2.0
"""The libraries that compute KEMs and signatures, side by side, in builds that one process cannot have together.

Each build has a process of its own (this file, as a program), and all take turns: in a turn every library computes
every operation of one algorithm, one library after the other in an order that changes. What the machine does besides
falls on all alike, and the clock is the processor time of the thread. A ratio is taken within a turn.
"""

import itertools
import json
import math
import os
import random
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pqc_mav_tunnel

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_bench.primitives.operations import Operation, kem_operations, sig_operations

#: Lines of the table: algorithms, each beside the edition that it took the place of.
LINES = (
    *(("KEM", (token,)) for token in ("mlkem512", "mlkem768", "mlkem1024")),
    *(("KEM", pair) for pair in (("hqc128", "hqc1"), ("hqc192", "hqc3"), ("hqc256", "hqc5"))),
    *(("SIG", (token,)) for token in ("mldsa44", "mldsa65", "mldsa87")),
    *(("SIG", (f"sphincs{size}s", f"slhdsa{size}s")) for size in (128, 256)),
    ("SIG", ("sphincs128fsha2", "slhdsa128f")),
)
LIBRARIES = ("liboqs", "openssl")
#: A sample lasts at least this long [us], unless one call already does; a turn has SAMPLES of those.
SHORTEST_US, SAMPLES = 500.0, 3
#: An algorithm that takes a library longer [s] gets a fifth of the turns.
SLOW_S = 0.2


@dataclass(frozen=True)
class Build:
    """A workspace that was set up, folders of libraries that it is to load before its own, and more environment."""

    name: str
    workspace: Path
    libraries: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()


def build_of(text: str) -> Build:
    """Of `NAME=WORKSPACE[:FOLDER | :VARIABLE=VALUE]...`. Raises ValueError."""
    name, _, rest = text.partition("=")
    place, *more = rest.split(":")
    workspace = Path(place).resolve()
    if not place or not (workspace / "tools" / "run").is_file():
        raise ValueError(f"{text}: NAME=WORKSPACE[:FOLDER...], and the workspace has tools/run")
    folders = tuple(Path(each).resolve() for each in more if "=" not in each)
    return Build(name, workspace, folders, tuple(each for each in more if "=" in each))


class Worker:
    """A build's process, which answers one question at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, **question: object) -> dict[str, Any]:
        """The answer. Raises SystemExit when the process has ended."""
        assert self._process.stdin and self._process.stdout
        print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("bench: a build's process ended; its words are above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def worker(build: Build) -> Iterator[Worker]:
    """The process of a build, in its own environment."""
    folders = ":".join(map(str, build.libraries))
    path = f"LD_LIBRARY_PATH={shlex.quote(folders)}:$LD_LIBRARY_PATH exec" if folders else "exec"
    command = ["env", *build.variables, "bash", "-c", f"{path} python {shlex.quote(str(Path(__file__).resolve()))}"]
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    with subprocess.Popen(
        [str(build.workspace / "tools" / "run"), *command],
        env=clean, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield Worker(process)
        finally:
            process.kill()


def measure(builds: Sequence[Build], turns: int, seed: int = 1) -> list[dict[str, Any]]:
    """A row for each algorithm: by variant the median of each operation [us], and the sum over the first's."""
    dice, rows = random.Random(seed), []
    with ExitStack() as stack:
        workers = [(build, stack.enter_context(worker(build))) for build in builds]
        for kind, tokens in LINES:
            variants: dict[str, tuple[Worker, dict[str, str]]] = {}
            slowest = 0.0
            for library, token in itertools.product(LIBRARIES, tokens):
                for build, process in workers:
                    question = {"kind": kind, "token": token, "provider": library}
                    first = process.ask(**question)
                    if "us" in first:
                        variants.setdefault(f"{first['title']}, {build.name}", (process, question))
                        slowest = max(slowest, sum(first["us"].values()) / 1e6)
            if not variants:
                continue
            taken: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
            for _ in range(turns if slowest < SLOW_S else max(2, turns // 5)):
                for name in dice.sample(list(variants), len(variants)):
                    process, question = variants[name]
                    taken[name].append(process.ask(**question)["us"])
            asked = {question["token"] for _, question in variants.values()}
            rows.append(row(", ".join(_title(kind, token) for token in tokens if token in asked), taken))
            print(json.dumps(rows[-1]), flush=True)
    return rows


def row(algorithm: str, taken: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """What the turns of an algorithm come to; medians with their 95 % intervals by order statistics."""
    sums = {name: [sum(turn.values()) for turn in turns] for name, turns in taken.items()}
    base = next(iter(sums.values()))
    return {
        "algorithm": algorithm,
        "turns": len(base),
        "us": {
            name: {operation: _median([turn[operation] for turn in turns]) for operation in turns[0]}
            for name, turns in taken.items()
        },
        "over_first": {
            name: _median([each / first for each, first in zip(values, base, strict=True)])
            for name, values in sums.items()
        },
    }


def _median(values: Sequence[float]) -> dict[str, float]:
    low, high = median_interval(values)
    named = {"median": statistics.median(values), "low": low, "high": high}
    return {name: float(f"{value:.4g}") for name, value in named.items()}


def _title(kind: str, token: str) -> str:
    known = {(each["kind"], each["token"]): str(each["display"]) for each in pqc_mav_tunnel.preflight()}
    return known[kind, token]


def serve() -> None:
    """Answer questions on standard input until it ends."""
    known: dict[tuple[str, str], tuple[str, list[tuple[Operation, int]]]] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        key = (asked["token"], asked["provider"])
        try:
            if key not in known:
                known[key] = _prepared(asked["kind"], *key)
        except pqc_mav_tunnel.TunnelError as error:
            print(json.dumps({"missing": str(error)}), flush=True)
            continue
        title, operations = known[key]
        times = {operation.name: _turn(operation, inner) for operation, inner in operations}
        print(json.dumps({"title": title, "us": times}), flush=True)


def _prepared(kind: str, token: str, provider: str) -> tuple[str, list[tuple[Operation, int]]]:
    """What a library is called here, and its operations with the calls that make a sample."""
    make = kem_operations if kind == "KEM" else sig_operations
    operations = make(token, token, provider)
    title = next(each for each in pqc_mav_tunnel.providers().split(", ") if each.lower().startswith(provider))
    shortest = {each: min(_sample(each, 1) for _ in range(3)) for each in operations}
    return title, [(each, max(1, math.ceil(SHORTEST_US / took))) for each, took in shortest.items()]


def _turn(operation: Operation, inner: int) -> float:
    return statistics.median(_sample(operation, inner) for _ in range(SAMPLES if inner > 1 else 1))


def _sample(operation: Operation, inner: int) -> float:
    """Processor time of a call [us]."""
    loop = operation.prepare(inner)
    began = time.thread_time_ns()
    loop()
    return (time.thread_time_ns() - began) / 1e3 / inner


if __name__ == "__main__":
    serve()
