# SPDX-License-Identifier: Apache-2.0
"""`chaos/run thinlink`: what a thin link carries with long headers, compact ones, and bundles (needs root)."""

import argparse
import random
import select
import socket
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

import air
import messages
import tables
from children import ChildError
from ends import DRONE_PLAIN, HOST
from overload import LINK
from pair import in_processes, in_the_air
from tally import percentile

from pqc_mav_bench.analysis.statistics import shown_mean

_MESSAGE_BYTES = 40
_IP_UDP_BYTES = 28
_WARM_UP_S = 5.0


@dataclass(frozen=True)
class Form:
    """How both ends send.

    Attributes:
        loads: messages a second that are offered. The last one is too many: what comes of it is the capacity.
    """

    name: str
    config: dict[str, Any]
    loads: tuple[int, ...]


FORMS = (
    Form("long", {"shape_kbit": 0}, (40, 65, 72, 110)),
    Form("compact", {"shape_kbit": 0, "compact": True}, (40, 65, 85, 90, 130)),
    Form("compact, bundle 20 ms", {"shape_kbit": 0, "compact": True, "bundle_ms": 20}, (40, 65, 85, 155, 200)),
)


@dataclass(frozen=True)
class Figures:
    """One run: messages sent and come, the milliseconds each took, and what the drone's packets took."""

    form: str
    load: float
    seconds: float
    sent: int
    received: int
    delays_ms: tuple[float, ...] = field(repr=False)
    bytes_per_packet: float

    @property
    def per_s(self) -> float:
        """Messages that came, a second."""
        return self.received / self.seconds


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=5, help="of each form and load")
    parser.add_argument("--seconds", type=float, default=30.0, help="that are measured in each run, after 5 s")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when nothing failed."""
    machine = tables.machine()
    tasks = [
        (form, load, options.seconds, options.seed + turn)
        for form in FORMS
        for load in form.loads
        for turn in range(options.runs)
    ]
    results = list(in_processes(measure, tasks, options.jobs))
    rows = [{**asdict(each), "delays_ms": percentiles(each.delays_ms)} for each in results]
    whole = {"machine": machine, "results": rows}
    tables.publish(options.output, "thinlink", page(results, machine, options), whole)
    return 0


def measure(task: tuple[Form, float, float, int]) -> Figures:
    """One run, in a process of its own: form, messages a second, seconds, seed."""
    form, load, seconds, seed = task
    with air.Air(seed=seed) as network, ExitStack() as stack:
        pair = in_the_air(stack, network, form.config, {"rekey_interval_s": 0.0})
        drone = pair.drone
        network.joint.impair(LINK)
        begin = time.monotonic()
        before: dict[str, float] = {}

        def warm() -> None:
            before.update(drone.stats())

        sent, delays = exchange(pair.vehicle, pair.ground, load, random.Random(seed), begin + _WARM_UP_S, seconds, warm)
        after = drone.stats()
        packets = after["enc_tx_packets"] - before["enc_tx_packets"]
        size = (after["enc_tx_bytes"] - before["enc_tx_bytes"]) / packets
        return Figures(form.name, load, seconds, sent, len(delays), tuple(delays), size)


def exchange(
    vehicle: socket.socket,
    ground: socket.socket,
    load: float,
    generator: random.Random,
    measured_from: float,
    seconds: float,
    warm: Any,
) -> tuple[int, list[float]]:
    """Send pairs at random times; return how many messages of the measured time were sent, and what those took (ms).

    In saturation what counts is what comes within that time; below it, what was sent within it and came at all.
    """
    end = measured_from + seconds
    number = sent = 0
    delays: list[float] = []
    due = time.monotonic()
    is_warm = False
    quiet_at = end
    while (now := time.monotonic()) < quiet_at:
        if not is_warm and now >= measured_from:
            warm()
            is_warm = True
        while due <= now and due < end:
            for _ in range(2):
                stamp = time.monotonic_ns()
                vehicle.sendto(messages.encode(0, messages.DOWN, number, stamp, _MESSAGE_BYTES), (HOST, DRONE_PLAIN))
                number += 1
                sent += measured_from <= stamp / 1e9 < end
            due += generator.expovariate(load / 2)
        ready, _, _ = select.select([ground], [], [], max(0.0, min(due if due < end else end + 1, end + 3) - now))
        for _ in ready:
            message = messages.decode(ground.recv(4096))
            if message is None:
                raise ChildError("a message came that nobody sent")
            if measured_from <= message.sent_ns / 1e9 < end:
                delays.append((time.monotonic_ns() - message.sent_ns) / 1e6)
        quiet_at = end + 3  # the queue holds two seconds
    return sent, delays


def percentiles(delays: Sequence[float]) -> dict[str, float]:
    """Mean and percentiles, for the file."""
    names = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    values = {name: percentile(list(delays), share) for name, share in names.items()}
    return {"mean": statistics.fmean(delays), **values}


HEAD = ("form", "offered /s", "runs", "come /s", "lost %", "mean ms", "p95 ms", "bytes of a packet with IP and UDP")


def page(results: Sequence[Figures], machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    text = "# A thin link with long headers, compact ones and bundles\n\nWritten by `tools/run chaos/run thinlink "
    text += (
        f"--runs {options.runs} --seconds {options.seconds:g}`, over the laboratory's link: "
        f"{LINK['rate_bit_s'] // 1000} kbit/s of IP packets up, a queue of {LINK['queue_bytes'] // 1000} kB, no other "
        f"delay and no loss of its own. Messages of {_MESSAGE_BYTES} bytes in pairs at random times (Poisson), from "
        "the drone's plaintext port to the ground software's; the tunnel's own reports and probes go over the same "
        f"link. Mean of the runs with its 95 % interval. {options.jobs} runs at a time.\n\n*{machine}*\n\n"
    )
    rows = []
    for form in FORMS:
        for load in form.loads:
            each = [figures for figures in results if (figures.form, figures.load) == (form.name, load)]
            rows.append(
                (
                    form.name,
                    f"{load:g}",
                    len(each),
                    shown_mean([one.per_s for one in each]),
                    shown_mean([100 * (1 - one.received / one.sent) for one in each]),
                    shown_mean([statistics.fmean(one.delays_ms) for one in each], 0),
                    shown_mean([percentile(list(one.delays_ms), 0.95) for one in each], 0),
                    shown_mean([one.bytes_per_packet + _IP_UDP_BYTES for one in each]),
                )
            )
    text += tables.markdown(HEAD, rows)
    return text
