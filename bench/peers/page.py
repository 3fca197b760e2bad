# SPDX-License-Identifier: Apache-2.0
"""peers.json.gz as a page: tables with intervals, reasons for what is missing, and where PQC-MAV stands."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from peers.ends import System
from peers.figures import (
    AHEAD,
    BEHIND,
    COMPARED_FROM,
    FIGURES,
    LIMIT_S,
    OWN,
    PARTS,
    SETTLED_S,
    TIE,
    Cell,
    Figure,
    cells,
    verdict,
)
from pqc_mav_bench.source import words
from pqc_mav_common.markdown import table

#: Systems that PQC-MAV is not compared with in sentences: they do not encrypt, or are PQC-MAV itself.
YARDSTICKS = ("none", "forwarder")
OWN_VARIANTS = ("pqcmav_no_gso",)
TITLES = {
    "rate": ("Lossless rate", "Highest rate of single datagrams, in thousands a second, that crosses without losing "
             "one and with at least 97 % of it carried to the last arrival. "
             "The processes of both ends share one processor; sender and receiver have the other, which ends "
             "first where a system comes near `no tunnel`."),
    "delay": ("Delay", "256-byte datagrams, each sent at its own time; median and 99th percentile of each run. Round "
              "trips: the ground's application sends each datagram back."),
    "cost": ("CPU and memory", "All processes of both ends together, in percent of one core and as PSS in MB, one way: "
             "320 and 4,000 datagrams/s of 256 bytes, and 8 Mb/s of 1,200. The kernel's work for a network interface "
             "in the application's own calls is not counted. At 320/s a datagram takes two to four times the processor "
             "time that it takes at 4,000/s, with every system: it finds cold caches. The loads begin "
             f"{SETTLED_S:g} s after the first datagram, with every system: 5 s after a handshake, PQC-MAV lets go of "
             "the code that only handshakes use, and a rekey brings it back for that long (`just connected`)."),
    "connect": ("Connecting", "The handshake is what goes over the link before the first datagram with data, from its "
                "first datagram on; bytes both ways with IP and UDP headers. The time from the start begins with the "
                "drone's process; the ground's runs already. The application sends every 0.25 ms."),
    "loss": ("Connecting over a bad link", "The same time where each way loses that share of the frames, at random. "
             "With loss all systems at the same time: they wait for timers. "
             f"Runs that took longer than {LIMIT_S:g} s count as {LIMIT_S:g} s and are named."),
    "recovery": ("After a kill -9 of the ground's end", "It starts again 50 ms later; how long nothing arrives. All "
                 "systems at the same time: they wait for timers. The "
                 "drone sends 100 datagrams/s, nothing comes back but what the system itself sends. "
                 f"Runs that took longer than {LIMIT_S:g} s count as {LIMIT_S:g} s and are named."),
    "rekey": ("Changes of keys under traffic", "200 datagrams/s of 256 bytes for 135 s, all systems at the same "
              "time. Only runs count in which the system changed its keys, by its own account: PQC-MAV and OpenVPN "
              "every 10 s, WireGuard after its 120 s."),
}  # fmt: skip


def number(value: float, digits: int) -> str:
    """With thousands marked."""
    return f"{value:,.{digits}f}"


def show(found: Cell, figure: Figure) -> str:
    """Median and interval, if it has one."""
    if math.isnan(found.low):
        return number(found.median, figure.digits)
    return f"{number(found.median, figure.digits)} ({span(found, figure)})"


def span(found: Cell, figure: Figure) -> str:
    """The interval alone."""
    return f"{number(found.low, figure.digits)}-{number(found.high, figure.digits)}"


def _late(values: Sequence[float], figure: Figure) -> str:
    late = sum(value >= LIMIT_S for value in values) if figure.unit == "s" else 0
    return f"; {late} of {len(values)} took longer" if late else ""


def machine(part: Mapping[str, Any]) -> str:
    """On what a part was measured."""
    first = part["sessions"][0]
    return f"{first['machine']}, Linux {first['kernel']}"


def where(part: Mapping[str, Any]) -> str:
    """When a part was measured, and of which sources."""
    first = part["sessions"][0]
    commits = "; ".join(dict.fromkeys(words(each.get("source") or {}) for each in part["sessions"]))
    return f"{first['date']}, {commits}"


def part_section(name: str, parts: Mapping[str, Any], systems: Sequence[System]) -> str:
    """One part's table with the reasons for its dashes."""
    title, text = TITLES[name]
    part = parts[name]
    figures = [figure for figure in FIGURES if figure.part == name]
    found = {figure.key: cells(parts, figure) for figure in figures}
    rows, reasons = [], dict[str, list[str]]()
    for system in systems:
        compared = {gso_verdict(found[each.key], each) for each in figures if found[each.key]}
        if system.key in OWN_VARIANTS and compared == {TIE}:
            continue  # "What GSO changes" has said so
        row = [system.title]
        for figure in figures:
            if system.key in found[figure.key]:
                values = part["values"][figure.key][system.key]
                row.append(show(found[figure.key][system.key], figure) + _late(values, figure))
                continue
            row.append("-")
            failures = part["failures"].get(system.key, [])
            why = system.no.get(figure.key) or (f"it failed: {failures[-1][:120]}" if failures else "not measured")
            if system.key not in YARDSTICKS and why not in reasons.setdefault(system.title, []):
                reasons[system.title].append(why)
        if set(row[1:]) != {"-"}:
            rows.append(row)
    counts = sorted({each.n for of_figure in found.values() for each in of_figure.values()}) or [0]
    repeated = dict.fromkeys((counts[0], counts[-1]))
    sessions = len(part["sessions"])
    loads = ", ".join(f"{each['load_average_at_start']:.1f}" for each in part["sessions"])
    busy = [value for values in part["notes"].get("busy_percent", {}).values() for value in values]
    others = f"processors in use before it: {share:.0f} %; " if busy and (share := statistics.median(busy)) >= 1 else ""
    again = f"{sessions} sessions; " if sessions > 1 else ""
    place = f"{machine(part)}; " if len(set(map(machine, parts.values()))) > 1 else ""
    text = (
        f"\n## {title}\n\n{text}\n\n"
        f"*{where(part)}; {place}load average at start {loads}; {again}{others}"
        f"N = {' to '.join(map(str, repeated))}*\n\n"
    )
    text += table(["system", *(figure.title for figure in figures)], rows)
    if reasons := {name: why for name, why in reasons.items() if why}:
        text += "\n" + "\n".join(f"- {name}: {'; '.join(why)}." for name, why in reasons.items()) + "\n"
    failed = {name: why for name, why in part["failures"].items() if why}
    if failed:
        text += f"\nRepetitions without a value: {', '.join(f'{name} {len(why)}' for name, why in failed.items())}.\n"
    return text


def behind(parts: Mapping[str, Any], systems: Sequence[System]) -> dict[Figure, list[str]]:
    """Per figure the keys of the systems that PQC-MAV is behind."""
    result: dict[Figure, list[str]] = {}
    compared = [each.key for each in systems if each.key not in (OWN, *YARDSTICKS, *OWN_VARIANTS)]
    for figure in FIGURES:
        found = cells(parts, figure)
        if OWN not in found:
            continue
        for key in compared:
            compares = key in found and min(found[key].n, found[OWN].n) >= COMPARED_FROM
            if compares and verdict(found[OWN], found[key], figure.more_is_better) == BEHIND:
                result.setdefault(figure, []).append(key)
    return result


def verdicts(parts: Mapping[str, Any], systems: Sequence[System]) -> str:
    """Where PQC-MAV is behind."""
    titles = {system.key: system.title for system in systems}
    text = (
        "\nPQC-MAV with its default settings (GSO on) beside each system that encrypts. Two figures are told apart "
        "only when their 95 % intervals do not touch; fewer than "
        f"{COMPARED_FROM} repetitions are not compared. In everything else it is a tie, or PQC-MAV is ahead.\n"
        "\n### Where PQC-MAV is behind\n\n"
    )
    lines = dict[str, list[str]]()  # figures with the same reason, or the same systems, are told together
    for figure, keys in behind(parts, systems).items():
        others = ", ".join(titles[key] for key in keys)
        if figure.why:
            lines.setdefault(f". {figure.why}", []).append(f"{figure.sentence} ({others})")
        else:
            lines.setdefault(f" ({others})", []).append(figure.sentence)
    told = [f"- {'; '.join(names)}{end}" for end, names in lines.items()]
    text += "\n".join(told) + "\n" if told else "It is behind in nothing that these intervals can tell apart.\n"
    return text + gso_cost(parts)


def gso_verdict(found: Mapping[str, Cell], figure: Figure) -> str:
    """How the default of sending in runs stands to `gso: false`; empty if they are not compared."""
    own, other = found.get(OWN), found.get(OWN_VARIANTS[0])
    compared = own and other and min(own.n, other.n) >= COMPARED_FROM
    return verdict(own, other, figure.more_is_better) if own and other and compared else ""


def gso_cost(parts: Mapping[str, Any]) -> str:
    """What the default of sending in runs changes against `gso: false`, where intervals tell."""
    lines = []
    for figure in FIGURES:
        found = cells(parts, figure)
        if (outcome := gso_verdict(found, figure)) in (AHEAD, BEHIND):
            word = "better" if outcome == AHEAD else "worse"
            with_gso, without = show(found[OWN], figure), show(found[OWN_VARIANTS[0]], figure)
            lines.append(f"- {figure.sentence}: {word} with GSO, {with_gso} against {without} {figure.unit}.")
    text = "\n### What GSO changes\n\n"
    rest = "tables without a row of PQC-MAV without GSO have nothing else that these intervals can tell apart.\n"
    return text + ("\n".join(lines) + f"\n\nThe {rest}" if lines else f"T{rest[1:]}")


def render(results: Mapping[str, Any], systems: Sequence[System]) -> str:
    """The whole page."""
    parts = results["parts"]
    text = (
        "# PQC-MAV beside other systems\n\n"
        "Written by `make peers`. Two network namespaces on one machine stand for the drone and the ground station, "
        "with one virtual Ethernet link between them. All systems of a table were measured in the same session, one "
        "after the other, again and again in changing order, or all at the same time where it says so. Each cell is "
        "the median of N repetitions with its 95 % interval (by ranks; of fewer than six repetitions from how far they "
        "scatter). Raw values: `peers.json.gz`. A virtual link passes runs (GSO) on without taking them apart: "
        "absolute figures belong to this machine.\n"
    )
    if len(everywhere := set(map(machine, parts.values()))) == 1:
        text += f"\n*{everywhere.pop()}*\n"
    text += verdicts(parts, systems)
    for name in PARTS:
        if name in parts:
            text += part_section(name, parts, systems)
    text += "\n## The systems\n\n"
    return text + table(["system", "version and settings"], [(each.title, each.what) for each in systems])
