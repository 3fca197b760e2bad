# SPDX-License-Identifier: Apache-2.0
"""The results page of storms."""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import tables
from fleet_page import counted_threads, losses
from storms_result import MOST_UP, Run, Storm

from pqc_mav_bench.analysis.statistics import shown_mean


def command(options: argparse.Namespace) -> str:
    """How it was called."""
    text = f"tools/run chaos/run storms --drones {' '.join(map(str, options.drones))} --rate {options.rate:g}"
    text += f" --seconds {options.seconds:g} --storms {options.storms} --cut {options.cut:g} --rekey {options.rekey:g}"
    if options.data_threads > 1:
        text += f" --data-threads {options.data_threads}"
    if options.max_handshakes:
        text += f" --max-handshakes {options.max_handshakes}"
    return text + (" --ahead" if options.ahead else "")


def page(runs: Sequence[Run], found: Sequence[str], options: argparse.Namespace, machine: str) -> str:
    """The results page."""
    text = f"# Storms\n\nWritten by `{command(options)}`. All drones are one process with the engine's own handshakes "
    text += (
        f"and packets, an address and a socket each. Each says {options.rate:g} messages/s, and each is answered. The "
        f"gcs is a pqcmav-tunneld with {counted_threads(options.data_threads)}. Both share this machine's processors"
        + (", with real-time priority, the gcs first" if options.ahead else "")
        + f".\n\n*{machine}*\n\n## While nothing happens\n\n"
    )
    text += tables.markdown(
        ("drones", "a message", "CPU of the gcs", "PSS a drone", "lost up", "lost down", "unexplained",
         "the fleet: CPU", "memory a drone", "load"),
        [_steady(run) for run in runs],
    )  # fmt: skip
    text += "\nCPU in percent of one core; a message: processor time of the gcs, with reports and all else.\n\n"
    text += (
        "## Storms\n\nTimes from the moment on at which drones could come back: the gcs was there again (the outage "
    )
    text += "before is its start, too), or the links were. The mean, its 95 % interval, and the worst. Counters, and "
    text += "the time of each thread: storms.json.gz.\n\n"
    text += tables.markdown(
        ("drones", "what", "storms", "outage s", "95 % up s", "last up s", "noticed by", "failed handshakes",
         "CPU of the gcs s", "the fleet late ms", "load"),
        [_storms(storms) for run in runs for storms in _by_kind(run.storms)],
    )  # fmt: skip
    if any(run.rekeys for run in runs):
        text += "\n## Rekeys\n\nOf drones that connected within seconds of each other, over three intervals.\n\n"
        text += tables.markdown(
            ("drones", "interval s", "begun", "mean of a second", "busiest second", "times the mean", "failed"),
            [_rekeys(run) for run in runs if run.rekeys],
        )
    return text + f"\nVerdict: **{'ok' if not found else 'MISSED: ' + '; '.join(found)}**.\n"


def _steady(run: Run) -> tuple[object, ...]:
    each = run.steady
    seconds = max(each.seconds, 1e-9)
    return (
        f"{each.drones:,}",
        f"{shown_mean(each.slices_us)} us",
        f"{100 * each.gcs_cpu_s / seconds:.0f} %" + _threads([each.gcs_threads_s], seconds / 100, 0.5, 0),
        f"{each.drone_kib:.1f} KiB",
        *(losses(account) for account in each.accounts.values()),
        sum(account.unexplained for account in each.accounts.values()),
        f"{100 * each.fleet_cpu_s / seconds:.0f} %",
        f"{each.fleet_rss_kib / each.drones:.0f} KiB",
        f"{each.load:.1f}",
    )


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
    )
