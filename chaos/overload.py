# SPDX-License-Identifier: Apache-2.0
"""`chaos/run overload`: what becomes of commands and streams when a thin link is offered too much (needs root)."""

import argparse
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import air
import mavlink_mix
import tables
from ends import DRONE_PLAIN, HOST
from mavlink_mix import BULK, COMMANDS, STREAMS, TRANSFERS
from pair import in_processes, in_the_air
from tally import percentile

from pqc_mav_bench.analysis.statistics import shown_mean

_KBIT_S = 64
_QUEUE_BYTES = 16_000
_ETHERNET_BYTES = 14
LINK = {"rate_bit_s": _KBIT_S * 1000, "queue_bytes": _QUEUE_BYTES, "overhead_bytes": -_ETHERNET_BYTES}
_FULL_PER_S = 75.5  # 40-byte messages with long headers that 64 kbit/s carry
_WARM_UP_S = 3.0
_SHAPED = {"shape_kbit": _KBIT_S}
_FOUND = {"shape_kbit": -1}
FORMS: dict[str, dict[str, Any]] = {
    "as they come": {"shape_kbit": 0},
    "shaped": _SHAPED,
    "shaped to the rate that is found": _FOUND,
    "shaped, compact": {**_SHAPED, "compact": True},
    "shaped, compact, bundle 20 ms": {**_SHAPED, "compact": True, "bundle_ms": 20},
    "found, compact, bundle 20 ms": {**_FOUND, "compact": True, "bundle_ms": 20},
}
_GOAL_COMMAND_MS, _GOAL_STREAM_S = 80.0, 0.3


@dataclass(frozen=True)
class Figures:
    """One run. Shares are of what was sent; a stream's age is that of the newest value just before the next comes."""

    form: str
    commands: float
    command_p50_ms: float
    command_p95_ms: float
    command_worst_ms: float
    transfers: float
    transfer_p95_ms: float
    streams: float
    stream_gap_p95_s: float
    stream_age_p95_s: float
    bulk: float
    per_s: float


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=5, help="of each form")
    parser.add_argument("--seconds", type=float, default=30.0, help="that are measured in each run, after 3 s")
    parser.add_argument("--factor", type=float, default=3.0, help="of what the link carries with long headers")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when shaping lost no command."""
    machine = tables.machine()
    tasks = [
        (form, options.factor, options.seconds, options.seed + turn) for form in FORMS for turn in range(options.runs)
    ]
    results = list(in_processes(measure, tasks, options.jobs))
    whole = {"machine": machine, "results": [asdict(each) for each in results]}
    tables.publish(options.output, "overload", page(results, machine, options), whole)
    return 0 if all(each.commands == 1.0 for each in results if FORMS[each.form]["shape_kbit"]) else 1


def measure(task: tuple[str, float, float, int]) -> Figures:
    """One run, in a process of its own: form, factor, seconds, seed."""
    form, factor, seconds, seed = task
    with air.Air(seed=seed) as network, ExitStack() as stack:
        pair = in_the_air(stack, network, FORMS[form], {"rekey_interval_s": 0.0})
        network.joint.impair(LINK)
        load = mavlink_mix.Mix(factor * _FULL_PER_S, seed)
        arrivals = mavlink_mix.exchange(pair.vehicle, (HOST, DRONE_PLAIN), pair.ground, load, _WARM_UP_S + seconds)
        return figures(form, load.sent, arrivals, load.begun + _WARM_UP_S, seconds)


def figures(
    form: str, sent: Sequence[mavlink_mix.Sent], arrivals: dict[int, float], begin: float, seconds: float
) -> Figures:
    """Of the messages sent in `seconds` from `begin` on; what came late came all the same."""
    counted = [(n, each) for n, each in enumerate(sent) if begin <= each.at < begin + seconds]

    def share(kind: int) -> float:
        of_kind = [n for n, each in counted if each.kind == kind]
        return sum(n in arrivals for n in of_kind) / len(of_kind)

    def delays_ms(kind: int) -> list[float]:
        return [1e3 * (arrivals[n] - each.at) for n, each in counted if each.kind == kind and n in arrivals]

    gaps, ages = stream_times(counted, arrivals)
    commands, transfers = delays_ms(COMMANDS), delays_ms(TRANSFERS)
    return Figures(
        form=form,
        commands=share(COMMANDS),
        command_p50_ms=percentile(commands, 0.5),
        command_p95_ms=percentile(commands, 0.95),
        command_worst_ms=max(commands, default=float("nan")),
        transfers=share(TRANSFERS),
        transfer_p95_ms=percentile(transfers, 0.95),
        streams=share(STREAMS),
        stream_gap_p95_s=percentile(gaps, 0.95),
        stream_age_p95_s=percentile(ages, 0.95),
        bulk=share(BULK),
        per_s=sum(begin <= at < begin + seconds for at in arrivals.values()) / seconds,
    )


def stream_times(
    counted: Sequence[tuple[int, mavlink_mix.Sent]], arrivals: dict[int, float]
) -> tuple[list[float], list[float]]:
    """Between two values of one stream: the seconds between them, and the first one's age when the second came."""
    gaps, ages = [], []
    last: dict[int, tuple[float, float]] = {}
    for number, each in counted:
        if each.kind != STREAMS or number not in arrivals:
            continue
        came = arrivals[number]
        if each.message_id in last:
            before_came, before_sent = last[each.message_id]
            gaps.append(came - before_came)
            ages.append(came - before_sent)
        last[each.message_id] = (came, each.at)
    return gaps, ages


HEAD = (
    "datagrams leave", "runs", "commands", "p50 ms", "p95 ms", "worst ms", "parameters, missions", "p95 ms",
    "streams", "p95 between values s", "p95 age s", "bulk", "messages/s", "commands <= 80 ms, streams <= 0.3 s",
)  # fmt: skip


# Of figures that are no shares.
_DIGITS = {
    "command_p50_ms": 0, "command_p95_ms": 0, "command_worst_ms": 0, "transfer_p95_ms": 0, "stream_gap_p95_s": 2,
    "stream_age_p95_s": 2, "per_s": 1,
}  # fmt: skip


def page(results: Sequence[Figures], machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    count = len(mavlink_mix.STREAM_IDS)
    text = "# A thin link that is offered too much, with shaping and without\n\nWritten by `tools/run chaos/run "
    text += (
        f"overload --runs {options.runs} --seconds {options.seconds:g} --factor {options.factor:g}`, over the "
        f"laboratory's link: {_KBIT_S} kbit/s of IP packets, a queue of {_QUEUE_BYTES // 1000} kB, no other delay and "
        f"no loss of its own. From the vehicle to the ground go {options.factor * _FULL_PER_S:.0f} MAVLink messages/s "
        f"of 40 bytes, {options.factor:g} times what the link carries with long headers: 8/s of class 0 (commands), "
        f"12/s of class 1, 16/s of class 3 (bulk), the rest in {count} streams. Shares are of what was sent. A "
        "stream's *age* is that of its newest value at the ground just before the next one comes. Mean of the runs "
        f"with its 95 % interval. {options.jobs} runs at a time.\n\n*{machine}*\n\n"
    )
    rows = []
    for form in FORMS:
        each = [one for one in results if one.form == form]
        values = {name: [getattr(one, name) for one in each] for name in Figures.__dataclass_fields__ if name != "form"}
        met = statistics.fmean(values["command_p95_ms"]) <= _GOAL_COMMAND_MS and min(values["commands"]) == 1.0
        fresh = statistics.fmean(values["stream_age_p95_s"]) <= _GOAL_STREAM_S
        shown = [
            shown_mean(those, _DIGITS[name]) if name in _DIGITS else percent(those) for name, those in values.items()
        ]
        rows.append((form, len(each), *shown, f"{'met' if met else 'missed'}, {'met' if fresh else 'missed'}"))
    return text + tables.markdown(HEAD, rows)


def percent(shares: Sequence[float]) -> str:
    """The mean share with its interval."""
    return shown_mean([100 * each for each in shares], 1) + " %"
