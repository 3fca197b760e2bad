# SPDX-License-Identifier: Apache-2.0
"""The results page of storms."""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import tables
from accounting import Account
from storms_result import FEWEST_FOR_MEMORY, MOST_UP, Delivery, Run, Storm

from pqc_mav_bench.analysis.statistics import shown_mean

_DELIVERY = ("lost up", "lost down", "unexplained", "at the wrong end, spoiled, doubled")
_STEADY = ("drones", "a message", "CPU of the gcs", "PSS a drone", *_DELIVERY, "the fleet: CPU", "memory", "load")
_STORMS = (
    *("drones", "what", "storms", "outage s", "95 % up s", "last up s", "noticed by", "failed handshakes"),
    *("CPU of the gcs s", "the fleet late ms", "load"),
)
_REKEYS = ("drones", "interval s", "begun", "mean a second", "busiest second", "times the mean", "failed", *_DELIVERY)


def command(options: argparse.Namespace) -> str:
    """How it was called."""
    text = "tools/run chaos/run storms"
    if options.page != "storms":
        text += f" --page {options.page}"
    text += f" --drones {' '.join(map(str, options.drones))} --rate {options.rate:g}"
    text += f" --seconds {options.seconds:g} --storms {options.storms} --cut {options.cut:g} --rekey {options.rekey:g}"
    if options.data_threads > 1:
        text += f" --data-threads {options.data_threads}"
    if options.max_handshakes:
        text += f" --max-handshakes {options.max_handshakes}"
    return text + (" --ahead" if options.ahead else "")


def page(runs: Sequence[Run], found: Sequence[str], options: argparse.Namespace, machine: str) -> str:
    """The results page."""
    threads = "one data thread" if options.data_threads == 1 else f"{options.data_threads} data threads"
    text = (
        f"# {options.page.capitalize()}\n\nWritten by `{command(options)}`. All drones are one process with the "
        f"engine's own handshakes and packets, an address and a socket each. Each says {options.rate:g} messages/s, "
        f"and each is answered. The gcs is a pqcmav-tunneld with {threads}. Both share this machine's processors"
        + (", with real-time priority, the gcs first" if options.ahead else "")
        + f".\n\n*{machine}*\n\n## While nothing happens\n\n"
    )
    text += tables.markdown(_STEADY, [_steady(run) for run in runs])
    text += (
        "\nCPU in percent of one core; a message: processor time of the gcs, with reports and all else. Every message "
        "has its drone's number and its own, every answer the drone's.\n"
    )
    if any(run.storms for run in runs):
        text += (
            "\n## Storms\n\nTimes from the moment on at which drones could come back: the gcs was there again (the "
            "outage before is its start, too), or the links were; at a cold start, of all at once, from each drone's "
            "own. The mean, its 95 % interval, and the worst. "
            f"Counters, and the time of each thread: {options.page}.json.gz.\n\n"
        )
        text += tables.markdown(_STORMS, [_storms(storms) for run in runs for storms in _by_kind(run.storms)])
    if any(run.rekeys for run in runs):
        text += (
            "\n## Rekeys\n\nOf drones that connected within seconds of each other, over three intervals. Each draws "
            f"one of these suites: {options.suites.replace(',', ', ')}.\n\n"
        )
        text += tables.markdown(_REKEYS, [_rekeys(run) for run in runs if run.rekeys])
    return text + f"\nVerdict: **{'ok' if not found else 'MISSED: ' + '; '.join(found)}**.\n"


def _steady(run: Run) -> tuple[object, ...]:
    each = run.steady
    seconds = max(each.seconds, 1e-9)
    return (
        f"{each.drones:,}",
        f"{shown_mean(each.slices_us)} us",
        f"{100 * each.gcs_cpu_s / seconds:.0f} %" + _threads([each.gcs_threads_s], seconds / 100, 0.5, 0),
        f"{each.drone_kib:.1f} KiB" if each.drones >= FEWEST_FOR_MEMORY else "",
        *_delivery(each.delivery),
        f"{100 * each.fleet_cpu_s / seconds:.0f} %",
        f"{each.fleet_rss_kib / each.drones:.0f} KiB",
        f"{each.load:.1f}",
    )


def _delivery(found: Delivery) -> tuple[object, ...]:
    lost = [_losses(account) for account in found.accounts.values()]
    return (*(lost or ("", "")), found.unexplained, f"{found.mixed_up}, {found.spoiled}, {found.again}")


def _losses(each: Account) -> str:
    """How many were lost, and by which counters."""
    named = ", ".join(f"{name} {count:,}" for name, count in each.by.items())
    return f"{each.lost:,}" + (f": {named}" if named else "")


def _threads(used: Sequence[Mapping[str, float]], over: float, least: float, digits: int) -> str:
    """The busier threads, each in `over` seconds of CPU."""
    together: Counter[str] = Counter()
    for each in used:
        together.update(each)  # type: ignore[arg-type]
    named = [f"{name} {cpu / over:.{digits}f}" for name, cpu in together.most_common() if cpu / over >= least]
    return f" ({', '.join(named)})" if named else ""


def _by_kind(storms: Sequence[Storm]) -> list[list[Storm]]:
    kinds = list(dict.fromkeys(storm.kind for storm in storms))
    return [[storm for storm in storms if storm.kind == kind] for kind in kinds]


def _storms(storms: Sequence[Storm]) -> tuple[object, ...]:
    def over(figure: Callable[[Storm], float], digits: int = 2) -> str:
        values = [figure(storm) for storm in storms]
        if not all(map(math.isfinite, values)):
            return f"never ({sum(not math.isfinite(value) for value in values)} of {len(values)} times)"
        return f"{shown_mean(values, digits)}, {max(values):.{digits}f}"

    return (
        f"{storms[0].drones:,}",
        storms[0].kind,
        len(storms),
        over(lambda storm: storm.outage_s),
        over(lambda storm: storm.up_again_s(MOST_UP)),
        over(lambda storm: storm.up_again_s(1.0)),
        _counted(storm.lost for storm in storms) or "nobody",
        _counted(storm.failed for storm in storms) or "none",
        over(lambda storm: storm.gcs_cpu_s, 1),
        f"{max(storm.fleet_late_ms for storm in storms):.0f}",
        f"{max(storm.load for storm in storms):.1f}",
    )


def _counted(counts: Iterable[Mapping[str, int]]) -> str:
    together: Counter[str] = Counter()
    for each in counts:
        together.update(each)
    return ", ".join(f"{name} {count:,}" for name, count in together.most_common())


def _rekeys(run: Run) -> tuple[object, ...]:
    assert run.rekeys is not None
    each = run.rekeys
    return (
        f"{each.drones:,}",
        f"{each.interval_s:g}",
        f"{sum(each.seconds):,}",
        f"{each.mean:.1f}",
        each.busiest,
        f"{each.busiest / max(each.mean, 1e-9):.1f}",
        _counted([each.failed]) or "none",
        *_delivery(each.delivery),
    )
