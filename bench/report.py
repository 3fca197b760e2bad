# SPDX-License-Identifier: Apache-2.0
"""engine.json.gz as a page for people: what was measured, against what, and whether the goal was met."""

import statistics
from collections.abc import Callable, Iterable
from typing import Any

import pqc_mav_tunnel

from pqc_mav_bench.export import pair_of
from pqc_mav_common.markdown import table

HANDSHAKE_GOAL = 1.1


def code(suite: str) -> str:
    """What a person calls a suite."""
    return str(pqc_mav_tunnel.find_suite(suite).short_code)


def by_pair(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Rows of suites by KEM and signature (`ML-512-*-MD-44`), then by cipher; the short codes say which is which."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        name = code(row["suite"])
        found.setdefault(pair_of(name), {})[name.split("-")[2]] = row
    return found


def verdict(met: bool) -> str:
    """A goal's outcome in a word."""
    return "met" if met else "**not met**"


def ms(us: float) -> str:
    """Microseconds as milliseconds."""
    return f"{us / 1e3:.3f}"


def render_handshake(rows: list[dict[str, Any]]) -> str:
    """The section on handshake."""
    cold = [r for r in rows if not r["pool"]]
    pooled = [r for r in rows if r["pool"]]
    text = (
        "Floor = the suite's primitives, each timed alone, plus a bare UDP exchange of the same datagrams "
        "(with the acknowledgement that the gcs waits for where M2 is more than three times M1), measured round by "
        "round in the same run; medians. Hybrid with X25519. Classic McEliece repeats its key "
        "generation until it succeeds, so that medians of few rounds differ by chance: `same keygen` takes the key "
        "generation of each handshake out of that very handshake and puts one median on both sides.\n\n"
    )
    for key, name in (("ratio", "Ratio"), ("ratio_same_keygen", "With the same key generation on both sides")):
        ratios = [r[key] for r in cold]
        over = sum(ratio > HANDSHAKE_GOAL for ratio in ratios)
        text += (
            f"{name}, {len(cold)} suites: median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}. "
            f"Goal <= {HANDSHAKE_GOAL} for every suite: {verdict(not over)}{f' by {over}' if over else ''}.\n\n"
        )
    text += "The cipher has no part in a handshake: medians of the three suites of a pair (lowest-highest).\n\n"

    def middle(rows: list[dict[str, Any]], key: str) -> float:
        return statistics.median(r[key] for r in rows)

    lines = []
    for pair, by_cipher in by_pair(cold).items():
        same = list(by_cipher.values())
        times = [r["handshake_us"] / 1e3 for r in same]
        ratios = [f"{middle(same, key):.2f}" for key in ("ratio", "ratio_same_keygen")]
        spread = f"{statistics.median(times):.3g} ({min(times):.3g}-{max(times):.3g})"
        lines.append((pair, spread, *ratios, min(r["rounds"] for r in same)))
    text += table(("suites", "ms", "over its floor", "same keygen", "rounds, at least"), lines)
    if pooled:
        text += (
            "\nWith the key pool (key generation done ahead; the floor is without it). Each end hashes the ServerHello "
            "twice, which counts where it holds a public key of a megabyte; `hashing` is that alone:\n\n"
        )
        text += table(
            ("suite", "handshake ms", "floor ms", "hashing ms", "key generation hidden ms"),
            [
                (code(r["suite"]), *(ms(r[key]) for key in ("handshake_us", "floor_us", "hashing_us", "keygen_us")))
                for r in pooled
            ],
        )
    return text


def rate_table(rows: list[dict[str, Any]]) -> str:
    """Packets/s of each variant and size, over the first variant, with the lowest and highest of the runs."""
    names = list(rows[0]["packets_per_s"])

    def cell(row: dict[str, Any], name: str) -> str:
        rate, ratio, runs = row["packets_per_s"][name], row["over_first"][name], row["runs"][name]
        return f"{rate / 1e3:.0f} k ({ratio:.2f}; {min(runs) / 1e3:.0f}-{max(runs) / 1e3:.0f})"

    return table(("bytes", *names), [(r["size_bytes"], *(cell(r, name) for name in names)) for r in rows])


def rate_verdict(rows: list[dict[str, Any]]) -> str:
    """Both goals, by the size that does worst."""
    plain = min(r["over_first"]["tunnel"] for r in rows)
    gso = min(r["over_first"]["tunnel_gso"] for r in rows)
    return (
        f"\nAES-256-GCM over the forwarder, smallest ratio {plain:.2f}, goal >= 0.95: {verdict(plain >= 0.95)}. "
        f"With UDP GSO/GRO {gso:.2f}, goal >= 2: {verdict(gso >= 2)}.\n"
    )


def render_throughput(rows: list[dict[str, Any]]) -> str:
    """The section on throughput with a processor for the pair."""
    text = (
        "Highest rate of single datagrams that crosses the pair without losing one and without filling buffers: median "
        "(over the forwarder; lowest-highest run). Both ends share one processor, sender and receiver another, so the "
        "rate is what one processor can carry through both ends, unless the load's processor ends first. `forwarder` "
        "is a pair of plain forwarders written with the same batch classes (epoll, recvmmsg, sendmmsg), without crypto "
        "or GSO; `tunnel` sends single encrypted datagrams (`gso: false`), `tunnel_gso` is the default. Both deliver "
        "runs towards the local socket, which the kernel takes apart into single datagrams.\n\n"
    )
    return text + rate_table(rows) + rate_verdict(rows)


def render_latency(rows: list[dict[str, Any]]) -> str:
    """The section on latency."""
    names = list(rows[0]["one_way_us"])
    text = table(
        ("packets/s", *(f"{n} p50 / p99 us" for n in names), "added per hop p50 / p99 us"),
        [
            (
                r["rate_per_s"],
                *(f"{r['one_way_us'][n]['p50']} / {r['one_way_us'][n]['p99']}" for n in names),
                f"{r['added_per_hop_us']['p50']} / {r['added_per_hop_us']['p99']}",
            )
            for r in rows
        ],
    )
    worst = max(r["added_per_hop_us"]["p50"] for r in rows)
    text += f"\nAdded p50 per hop, largest {worst} us, goal <= 10 us: {verdict(worst <= 10)}. "
    return text + (
        "`busy` is the low-latency mode, `busy_poll_us: 20000`. Here two ends that never sleep share the processors "
        "with the load: the median is lower, but on two processors the tail is a time slice. On its own machine, "
        "an end keeps one processor busy while traffic flows.\n"
    )


def render_aead(rows: dict[str, Any]) -> str:
    """The section on aead."""
    names = ("aead_seal", "aead_open", "frame_seal", "frame_open")
    text = table(
        ("AEAD", "bytes", *(f"{name.replace('_', ' ')} ns (ratio)" for name in names)),
        [
            (
                r["aead"],
                r["payload_bytes"],
                *(
                    f"{r[f'engine_{name}_ns']:.0f}" + (f" ({r[f'ratio_{name}']:.2f})" if f"ratio_{name}" in r else "")
                    for name in names
                ),
            )
            for r in rows["results"]
        ],
    )
    worst = max(r.get(f"ratio_{name}") or 0 for r in rows["results"] for name in names)
    text += f"\nLargest ratio {worst:.2f}, goal <= 1.15: {verdict(worst <= 1.15)}. "
    return text + "Ascon-128a has nothing to be compared with here.\n"


# Of each family one: the others say no more about a library.
SHOWN = ("ML-KEM-768", "HQC-192", "HQC-3", "ML-DSA-65", "SPHINCS+-SHA2-128s", "SLH-DSA-SHA2-128s")


def render_providers(rows: list[dict[str, Any]]) -> str:
    """The section on the libraries side by side."""
    variants = list(dict.fromkeys(name for row in rows for name in row["us"]))
    lines = [
        (row["algorithm"], *(_provider(row, name) if name in row["us"] else "-" for name in variants))
        for row in rows
        if row["algorithm"].startswith(SHOWN)
    ]
    turns = sorted({row["turns"] for row in rows})
    return (
        "us of processor time for key generation / encapsulation / decapsulation, or key generation / signing / "
        f"verifying; medians of {' or '.join(map(str, turns))} turns. In brackets all three over the first library "
        "that has the algorithm: median within a turn and 95 % interval. `AVX2` is what a library chooses on this "
        "processor (Debian 13's OpenSSL has ML-KEM and ML-DSA in C), `plain` what is built for any x86-64, with "
        "OPENSSL_ia32cap=0. engine.json.gz has the other levels.\n\n"
    ) + table(("algorithm", *variants), lines)


def _provider(row: dict[str, Any], name: str) -> str:
    medians = [each["median"] for each in row["us"][name].values()]
    times = " / ".join(f"{us:,.0f}" if us >= 100 else f"{us:.3g}" for us in medians)
    over = row["over_first"][name]
    if over["low"] == over["high"] == 1:
        return times
    return f"{times} ({over['median']:.2g}; {over['low']:.2g}-{over['high']:.2g})"


def render_footprint(rows: list[dict[str, Any]]) -> str:
    """The section on footprint."""
    text = (
        "320 packets/s of 256 bytes, one way; CPU in percent of one core for both ends together (median; "
        "lowest-highest run). RSS counts the pages of libcrypto and liboqs, which processes share; private is a "
        "process's own.\n\n"
    )

    def cells(row: dict[str, Any]) -> tuple[object, ...]:
        cpu = f"{row['cpu_percent_both_ends']} ({min(row['runs'])}-{max(row['runs'])})"
        memory = (" / ".join(map(str, row[key])) for key in ("rss_kib_each", "private_kib_each"))
        return (row["pair"], cpu, *memory, row["lost"])

    head = ("pair", "CPU % both ends", "RSS KiB each", "private KiB each", "lost")
    return text + table(head, [cells(r) for r in rows])


def render_endurance(rows: dict[str, Any]) -> str:
    """The section on endurance."""
    return (
        f"{rows['packets']:,} packets sent, {rows['received']:,} received. RSS of drone and gcs in KiB before: "
        f"{rows['rss_kib_before']}, after: {rows['rss_kib_after']}.\n"
    )


SECTIONS: list[tuple[str, str, Callable[[Any], str]]] = [
    ("handshake", "Handshake over its floor", render_handshake),
    ("throughput", "Lossless packets per second", render_throughput),
    ("latency", "One-way latency, 256 bytes", render_latency),
    ("aead", "AEAD per packet over the bare OpenSSL call", render_aead),
    ("providers", "The libraries side by side", render_providers),
    ("footprint", "CPU and memory", render_footprint),
    ("endurance", "Memory over many packets", render_endurance),
]


def render(results: dict[str, Any]) -> str:
    """The whole page; parts that were not measured are left out."""
    text = "# Engine benchmark\n\nWritten by `make bench`. Figures are ratios within one run; "
    text += "absolute numbers belong to the machine named.\n"
    for key, title, section in SECTIONS:
        if key not in results:
            continue
        e = results[key]["environment"]
        load = f"load average at start {e['load_average_at_start']:.1f}"
        text += f"\n## {title}\n\n*{e['date']}, {e['machine']}, Linux {e['kernel']}, {load}*\n\n"
        text += section(results[key]["rows"])
    return text + "\n## Other systems\n\nWireGuard, OpenVPN, nebula, DTLS and rosenpass: [peers.md](peers.md).\n"
