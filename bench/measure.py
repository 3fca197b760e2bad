# SPDX-License-Identifier: Apache-2.0
"""The engine's figures, each as a ratio within one run; plain dictionaries with the units in their keys."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import rig

from pqc_mav_common.process_figures import cpu_seconds, memory_kib

SIZES = (64, 256, 1200)


def lossless_rate(pair: rig.Pair, size: int, seconds: float, guess: float, step: float = 1.2) -> float:
    """Packets per second that get through without losing one, to 3 %: from a guess up or down, then by halving.

    A rate counts when all packets arrived and the last one did not come late (filling buffers is not throughput); the
    result is what was carried. A rate may fail once by bad luck.
    """

    def carried(rate: float) -> float:
        for _ in range(2):
            result = rig.load(pair, rate, size, seconds)
            if result["lost"] == 0 and result["rate_carried"] >= 0.97 * rate:
                return float(result["rate_carried"])
        return 0.0

    rig.load(pair, 0.3 * guess, size, 0.2)
    low, high, best = 0.0, float("inf"), 0.0
    rate = guess
    while high > 1.03 * low and rate > 1000:
        got = carried(rate)
        if got > 0:
            low, best = rate, max(best, got)
        else:
            high = rate
        if low == 0:
            rate = high / step
        elif high == float("inf"):
            rate = low * step
        else:
            rate = (low * high) ** 0.5
    return best


Variants = dict[str, Callable[[], AbstractContextManager[rig.Pair]]]

#: The yardstick first. Without 'gso' the tunnel sends single encrypted datagrams, but still delivers in runs.
AGAINST_FORWARDER: Variants = {
    "forwarder": rig.forwarder_pair,
    "tunnel": partial(rig.tunnel_pair, gso=False),
    "tunnel_gso": rig.tunnel_pair,
}


def throughput(variants: Variants, repetitions: int, seconds: float) -> list[dict[str, Any]]:
    """Lossless packets/s of each variant and size: medians of alternating searches, each from near the last result."""
    runs: dict[int, dict[str, list[float]]] = {size: {name: [] for name in variants} for size in SIZES}
    guess = dict.fromkeys(variants, 150_000.0)
    for _ in range(repetitions):
        for size, of_size in runs.items():
            for name, make in variants.items():
                with make() as pair, rig.processors(pair):
                    rate = lossless_rate(pair, size, seconds, guess[name])
                of_size[name].append(rate)
                guess[name] = max(0.97 * rate, 20_000.0)
    rows = []
    for size, of_size in runs.items():
        medians = {name: statistics.median(values) for name, values in of_size.items()}
        base = medians[next(iter(variants))]
        rows.append(
            {
                "size_bytes": size,
                "packets_per_s": {name: round(value) for name, value in medians.items()},
                "over_first": {name: round(value / base, 3) for name, value in medians.items()},
                "runs": {name: [round(v) for v in values] for name, values in of_size.items()},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def latency(repetitions: int, seconds: float) -> list[dict[str, Any]]:
    """One-way delay through each pair, and what the tunnel adds per hop (a pair has two)."""
    variants = {
        "forwarder": lambda: rig.forwarder_pair(),
        "tunnel": lambda: rig.tunnel_pair(),
        "forwarder_busy": lambda: rig.forwarder_pair(busy_poll_us=20_000),
        "tunnel_busy": lambda: rig.tunnel_pair(busy_poll_us=20_000),
    }
    rows = []
    for rate in (320, 4000):
        delays: dict[str, dict[str, list[float]]] = {name: {"p50": [], "p99": []} for name in variants}
        lost = dict.fromkeys(variants, 0)
        for _ in range(repetitions):
            for name, make in variants.items():
                with make() as pair:
                    result = rig.load(pair, rate, 256, seconds)
                lost[name] += result["lost"]
                for q in ("p50", "p99"):
                    delays[name][q].append(result["delay_us"][q])
        median = {name: {q: round(statistics.median(v), 1) for q, v in each.items()} for name, each in delays.items()}
        rows.append(
            {
                "rate_per_s": rate,
                "one_way_us": median,
                "lost": lost,
                "added_per_hop_us": {
                    q: round((median["tunnel"][q] - median["forwarder"][q]) / 2, 1) for q in ("p50", "p99")
                },
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def handshakes(rounds: int, suites: list[str]) -> list[dict[str, Any]]:
    """Handshake over floor for every suite without the key pool, and with it for some whose key generation it hides."""
    rows = []
    for arguments in ([], ["--pool"]):
        chosen = suites
        if arguments and not suites:
            chosen = [f"cs-{kem}-aesgcm-{sig}" for kem, sig in POOLED]
        output = subprocess.run(
            [rig.tool("handshake_benchmark"), "--rounds", str(rounds), *arguments, *chosen],
            stdout=subprocess.PIPE, text=True, check=True, timeout=3600,
        ).stdout  # fmt: skip
        rows += [json.loads(line) for line in output.splitlines()]
    return rows


POOLED = [
    ("classicmceliece348864", "mldsa44"),
    ("classicmceliece460896", "mldsa65"),
    ("classicmceliece8192128", "mldsa87"),
    ("hqc256", "mldsa87"),
    ("mlkem768", "mldsa65"),
]


def footprint(repetitions: int, seconds: float) -> list[dict[str, Any]]:
    """CPU share of one core, RSS and private memory of each end at 320 packets/s one way, beside the forwarder's."""
    variants: Variants = {
        "forwarder": rig.forwarder_pair,
        "tunnel": rig.tunnel_pair,
        "tunnel_busy": partial(rig.tunnel_pair, busy_poll_us=20_000),
    }
    shares: dict[str, list[float]] = {name: [] for name in variants}
    memory: dict[str, dict[str, list[int]]] = {}
    lost = dict.fromkeys(variants, 0)
    for _ in range(repetitions):
        for name, make in variants.items():
            with make() as pair:
                rig.load(pair, 320, 256, 1)
                cpu, clock = sum(map(cpu_seconds, pair.pids)), time.monotonic()
                lost[name] += rig.load(pair, 320, 256, seconds)["lost"]
                shares[name].append((sum(map(cpu_seconds, pair.pids)) - cpu) / (time.monotonic() - clock) * 100)
                memory[name] = {
                    "rss_kib_each": [memory_kib(pid, "VmRSS") for pid in pair.pids],
                    "private_kib_each": [memory_kib(pid, "RssAnon") for pid in pair.pids],
                }
    rows = [
        {
            "pair": name,
            "cpu_percent_both_ends": round(statistics.median(shares[name]), 2),
            "runs": [round(share, 2) for share in shares[name]],
            **memory[name],
            "lost": lost[name],
        }
        for name in variants
    ]
    print(json.dumps(rows), flush=True)
    return rows


def endurance(packets: int, rate: float = 100_000) -> dict[str, Any]:
    """RSS of both ends before and after many packets: it must not grow."""
    with rig.tunnel_pair() as pair:
        rig.load(pair, rate, 256, 5)
        before = [memory_kib(pid, "VmRSS") for pid in pair.pids]
        done = received = 0
        while done < packets:
            result = rig.load(pair, rate, 256, min(20.0, (packets - done) / rate))
            done += result["sent"]
            received += result["received"]
        after = [memory_kib(pid, "VmRSS") for pid in pair.pids]
    return {"packets": done, "received": received, "rss_kib_before": before, "rss_kib_after": after}
