# SPDX-License-Identifier: Apache-2.0
"""The results page of fleet runs."""

import argparse

import tables
from accounting import Account
from fleet_result import SLICE_S, SUITES, FleetResult, memory_of_each, message_us, unexplained
from traffic import compiled, total

from pqc_mav_bench.analysis.statistics import mean_interval

_FEWEST_SLICES = 4
_FEWEST_FOR_MEMORY = 50  # below, what a drone adds is lost among what the process takes anyway


def _scatter(slices: list[float]) -> str:
    if len(slices) < _FEWEST_SLICES:
        return ""
    mean, half = mean_interval(slices)
    return f" ({mean:.1f} ± {half:.1f} in {len(slices)} slices of {SLICE_S:g} s)"


def losses(each: Account) -> str:
    """How many were lost, and by which counters."""
    named = ", ".join(f"{name} {count:,}" for name, count in each.by.items())
    return f"{each.lost:,}" + (f": {named}" if named else "")


def costs(results: list[FleetResult]) -> str:
    """A table of fleets of several sizes, one row each."""
    header = (
        *("drones", "messages", "lost", "unexplained", "rekeys", "CPU of the gcs", "a drone", "a message"),
        *("PSS a drone", "load"),
    )
    rows = [
        (
            each.drones,
            f"{total(each.counts, 'sent'):,}",
            f"{total(each.counts, 'sent') - total(each.counts, 'received'):,}",
            unexplained(each),
            each.rekeys_ok,
            f"{each.cpu_gcs:.1f} %{_scatter(each.cpu_gcs_slices)}",
            f"{each.cpu_gcs / each.drones:.3f} %",
            f"{message_us(each):.1f} us",
            f"{memory_of_each(each):.0f} KiB" if each.drones >= _FEWEST_FOR_MEMORY else "",
            f"{each.load[0]:.1f}-{each.load[1]:.1f}",
        )
        for each in results
    ]
    text = (
        "\n## What a drone costs the gcs\n\nThe same rates; CPU in percent of one core, with rekeys and all else: the "
    )
    text += (
        "first of each drone fall into the time of the run, so a short one has more of them. The load is that of the "
    )
    return text + "machine before and after.\n\n" + tables.markdown(header, rows)


def counted_threads(threads: int) -> str:
    """How many data threads, in words."""
    return "one data thread" if threads == 1 else f"{threads} data threads"


def command(options: argparse.Namespace) -> str:
    """How it was called."""
    text = f"tools/run chaos/run fleet --drones {options.drones} --rate {options.rate:g} --seconds {options.seconds:g} "
    text += f"--rekey-every {options.rekey_every:g}"
    if options.data_threads > 1:
        text += f" --data-threads {options.data_threads}"
    if options.also:
        text += f" --also {' '.join(map(str, options.also))} --also-seconds {options.also_seconds:g}"
    return text + (" --ahead" if options.ahead else "")


def page(result: FleetResult, found: list[str], options: argparse.Namespace, machine: str) -> str:
    """The results page."""
    counts, n = result.counts, result.drones
    sent, received = total(counts, "sent"), total(counts, "received")
    rekey_ms = sorted(result.rekey_ms) or [0.0]
    text = f"# A fleet on one gcs\n\nWritten by `{command(options)}`. {n} drones on loopback, {options.rate:g} "
    text += (
        "messages/s of each, each way, with the drone's id in every message; each drone rekeys to a random suite of "
    )
    text += f"{len(SUITES)} every {options.rekey_every + 0.5:g} s on average. "
    text += (
        f"The gcs is a process of its own with {counted_threads(options.data_threads)}; the drones' engines share "
        f"{options.processes} processes; the traffic comes from one {'in C++' if compiled() else 'in Python'}."
        + (" All have real-time priority, packets of the gcs first.\n\n" if options.ahead else "\n\n")
        + f"*{machine}; load average {result.load[0]:.1f} before, {result.load[1]:.1f} after*\n\n"
    )
    gaps = max(stream["longest_gap_ns"] for stream in counts["streams"]) / 1e6
    grown = result.pss_gcs_kib[1] - result.pss_gcs_kib[0]
    per_drone = memory_of_each(result)
    whole = result.cpu_gcs + result.cpu_drones + result.cpu_traffic
    own = (result.rss_drones_kib - result.rss_drone_process_empty_kib) / n
    rows = [
        ("all connected after", f"{result.connect_s:.2f} s"),
        ("duration", f"{result.seconds:.0f} s"),
        ("messages sent / delivered", f"{sent:,} / {received:,}"),
        *((f"lost on the way {name}, by counter", losses(each)) for name, each in result.accounts.items()),
        ("lost without a counter", unexplained(result)),
        ("lost, doubled, spoiled", f"{sent - received}, {total(counts, 'duplicates')}, {counts['corrupted']}"),
        ("delivered to the wrong end", counts["misdelivered"]),
        ("longest gap between two messages of one drone", f"{gaps:.0f} ms (period {1000 / options.rate:.0f} ms)"),
        (
            "rekeys done / refused",
            f"{result.rekeys_ok} / {sum(result.rekeys_refused.values())}; each drone at least {result.least_rekeys}",
        ),
        ("rekey p50 / worst", f"{rekey_ms[len(rekey_ms) // 2]:.1f} / {rekey_ms[-1]:.1f} ms"),
        ("drop counters, both ends", ", ".join(f"{k} {v}" for k, v in result.drops.items()) or "all zero"),
        (
            "CPU of the gcs, rekeys included",
            f"{result.cpu_gcs:.1f} % of one core{_scatter(result.cpu_gcs_slices)}, {result.cpu_gcs / n:.3f} % a drone, "
            f"{message_us(result):.1f} us a message",
        ),
        ("CPU of the drones", f"{result.cpu_drones:.1f} % of one core, {result.cpu_drones / n:.2f} % a drone"),
        ("CPU of the traffic generator, for scale", f"{result.cpu_traffic:.1f} %"),
        ("of all of it, the gcs", f"{100 * result.cpu_gcs / max(whole, 1e-9):.0f} % of {whole:.0f} %"),
        (
            "memory of the gcs (PSS)",
            f"{result.pss_gcs_kib[0] / 1024:.1f} MiB, {per_drone:.0f} KiB a drone; {grown:+d} KiB during the run",
        ),
        ("memory of one drone's engine", f"{own / 1024:.1f} MiB beside the host process"),
    ]
    text += tables.markdown(("what", "figure"), rows)
    return text + f"\nVerdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n"
