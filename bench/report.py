"""engine.json as a page for people: what was measured, against what, and whether the goal was met."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

#: Lossless packets/s at 256 bytes and handshake times of other systems, measured once on a 2-core machine of this kind.
OTHERS = [
    ("plain forwarder pair", "119 k (mmsg 140 k)", "-"),
    ("WireGuard in user space (boringtun)", "81-98 k", "0.57 ms"),
    ("nebula", "90 k", "-"),
    ("DTLS", "76 k", "-"),
    ("OpenVPN", "62 k", "2.8 ms"),
    ("wireguard-go", "59 k", "0.83 ms"),
    ("rosenpass (handshake only)", "-", "8.2 ms"),
    ("the published Python proxy", "24 k", "4.4-5.1 ms"),
]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


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
    ratios = [r["ratio"] for r in cold]
    over = [r["suite"] for r in cold if r["ratio"] > 1.2]
    text = (
        "Floor = the suite's primitives, each timed alone, plus a bare TCP exchange of the same message sizes, "
        "measured round by round in the same run. Hybrid with X25519.\n\n"
        f"{len(cold)} suites: ratio median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}. "
        f"Goal <= 1.2 for every suite: {verdict(not over)}{' (' + ', '.join(over) + ')' if over else ''}.\n\n"
    )
    body = [(r["suite"], ms(r["handshake_us"]), ms(r["floor_us"]), f"{r['ratio']:.2f}", r["rounds"]) for r in cold]
    text += table(("suite", "handshake ms", "floor ms", "ratio", "rounds"), body)
    if pooled:
        text += "\nWith the key pool (key generation done ahead; the floor is without key generation):\n\n"
        text += table(
            ("suite", "handshake ms", "floor ms", "key generation hidden ms"),
            [(r["suite"], ms(r["handshake_us"]), ms(r["floor_us"]), ms(r["keygen_us"])) for r in pooled],
        )
    return text


def render_throughput(rows: list[dict[str, Any]]) -> str:
    """The section on throughput."""
    names = list(rows[0]["packets_per_s"])
    text = (
        "Highest rate of single datagrams that crosses the pair without losing one; sender, both ends and receiver "
        "share the machine. The forwarder pair is written with the same batch classes, without crypto or GSO.\n\n"
    )
    text += table(
        ("bytes", *names),
        [
            (r["size_bytes"], *(f"{r['packets_per_s'][n] / 1e3:.0f} k ({r['over_forwarder'][n]:.2f})" for n in names))
            for r in rows
        ],
    )
    plain = min(r["over_forwarder"]["tunnel"] for r in rows)
    gso = min(r["over_forwarder"]["tunnel_gso"] for r in rows)
    text += f"\nAES-256-GCM over the forwarder, smallest ratio {plain:.2f}, goal >= 0.95: {verdict(plain >= 0.95)}. "
    text += f"With UDP GSO/GRO {gso:.2f}, goal >= 2: {verdict(gso >= 2)}.\n"
    return text


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
    return text + "`busy` is the low-latency mode `busy_poll_us`.\n"


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
    return text + f"\nLargest ratio {worst:.2f}, goal <= 1.15: {verdict(worst <= 1.15)}. Ascon-128a has no peer here.\n"


def render_footprint(rows: list[dict[str, Any]]) -> str:
    """The section on footprint."""
    text = "320 packets/s of 256 bytes, one way; CPU in percent of one core for both ends together.\n\n"
    return text + table(
        ("pair", "CPU % both ends", "RSS KiB each", "lost"),
        [(r["pair"], r["cpu_percent_both_ends"], " / ".join(map(str, r["rss_kib_each"])), r["lost"]) for r in rows],
    )


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
    text += "\n## Other systems, for scale\n\n"
    text += "Measured once on a 2-core machine of this kind, 256-byte packets, not in these runs.\n\n"
    return text + table(("system", "lossless packets/s", "handshake"), OTHERS)
