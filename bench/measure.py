"""The engine's figures, each as a ratio within one run; plain dictionaries with the units in their keys."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from typing import Any

import rig

SIZES = (64, 256, 1200)


def lossless_rate(pair: rig.Pair, size: int, seconds: float = 1.0, low: float = 20_000, high: float = 600_000) -> float:
    """Packets per second that get through without losing one: bisection to 4 %; a rate may fail once by bad luck."""

    def passes(rate: float) -> bool:
        for _ in range(2):
            result = rig.load(pair, rate, size, seconds)
            # A sender that the machine does not let reach the rate proves nothing about the rate.
            if result["lost"] == 0 and result["rate_achieved"] >= 0.97 * rate:
                return True
        return False

    if not passes(low):
        return 0.0
    best = low
    step = low * 2
    while step < high and passes(step):
        best, step = step, step * 1.6
    worst = step
    while worst / best > 1.04:
        middle = (best * worst) ** 0.5
        if passes(middle):
            best = middle
        else:
            worst = middle
    return best


def throughput(repetitions: int, seconds: float) -> list[dict[str, Any]]:
    """Lossless packets/s of the tunnel over the plain forwarder pair; the variants alternate, medians are compared."""
    variants = {
        "forwarder": lambda: rig.forwarder_pair(),
        "tunnel": lambda: rig.tunnel_pair(gso=False),
        "tunnel_gso": lambda: rig.tunnel_pair(gso=True),
        "tunnel_gso_ascon": lambda: rig.tunnel_pair("cs-mlkem768-ascon128a-mldsa65", gso=True),
        "tunnel_gso_chacha": lambda: rig.tunnel_pair("cs-mlkem768-chacha20poly1305-mldsa65", gso=True),
    }
    rows = []
    for size in SIZES:
        runs: dict[str, list[float]] = {name: [] for name in variants}
        for _ in range(repetitions):
            for name, make in variants.items():
                with make() as pair:
                    runs[name].append(lossless_rate(pair, size, seconds))
        medians = {name: statistics.median(values) for name, values in runs.items()}
        rows.append(
            {
                "size_bytes": size,
                "packets_per_s": {name: round(value) for name, value in medians.items()},
                "over_forwarder": {name: round(value / medians["forwarder"], 3) for name, value in medians.items()},
                "runs": {name: [round(v) for v in values] for name, values in runs.items()},
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
            [rig.tool("handshake_bench"), "--rounds", str(rounds), *arguments, *chosen],
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


def footprint(seconds: float) -> list[dict[str, Any]]:
    """CPU share of one core and RSS of each end at 320 packets/s one way, beside the forwarder's."""
    rows = []
    for name, make in (
        ("forwarder", rig.forwarder_pair),
        ("tunnel", rig.tunnel_pair),
        ("tunnel_busy", lambda: rig.tunnel_pair(busy_poll_us=20_000)),
    ):
        with make() as pair:
            rig.load(pair, 320, 256, 1)
            cpu, clock = rig.cpu_seconds(pair.pids), time.monotonic()
            result = rig.load(pair, 320, 256, seconds)
            share = (rig.cpu_seconds(pair.pids) - cpu) / (time.monotonic() - clock)
            rows.append(
                {
                    "pair": name,
                    "cpu_percent_both_ends": round(share * 100, 2),
                    "rss_kib_each": [rig.rss_kib(pid) for pid in pair.pids],
                    "lost": result["lost"],
                }
            )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def endurance(packets: int, rate: float = 100_000) -> dict[str, Any]:
    """RSS of both ends before and after many packets: it must not grow."""
    with rig.tunnel_pair() as pair:
        rig.load(pair, rate, 256, 5)
        before = [rig.rss_kib(pid) for pid in pair.pids]
        done = received = 0
        while done < packets:
            result = rig.load(pair, rate, 256, min(20.0, (packets - done) / rate))
            done += result["sent"]
            received += result["received"]
        after = [rig.rss_kib(pid) for pid in pair.pids]
    return {"packets": done, "received": received, "rss_kib_before": before, "rss_kib_after": after}
