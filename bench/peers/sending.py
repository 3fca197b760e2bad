# SPDX-License-Identifier: Apache-2.0
"""The parts of a run that send through systems that are connected: lossless rate, delays, CPU and memory."""

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import measure
import rig

from peers.ends import Ends, System
from peers.figures import LIMIT_S, SETTLED_S, Sheet
from peers.probe import Probe
from peers.room import DRONE, GROUND, Room, room
from pqc_mav_common.process_figures import pss_among_kib

PROBLEMS = (RuntimeError, OSError, SystemExit)
_FIRST_GUESS = 100_000.0
_QUIET_PERCENT, _QUIET_WAIT_S = 8.0, 40.0  # of all processors; in one part altogether
_MBIT8 = (8e6 / 8 / 1200, 1200)  # datagrams/s, bytes


@dataclass(frozen=True)
class Plan:
    """How long and how often.

    Attributes:
        repetitions: of everything.
        trial_s: one trial of the search for the lossless rate.
        delay_s: one load whose delays are taken.
        cost_s: one load whose CPU time is taken.
        sizes: bytes of the datagrams whose lossless rate is searched.
        save: called with the sheet after each repetition.
        sheet: where the values go; it may have some of an earlier run.
    """

    repetitions: int
    trial_s: float
    delay_s: float
    cost_s: float
    sizes: Sequence[int] = measure.SIZES
    save: Callable[[Sheet], None] = lambda _: None
    sheet: Sheet = field(default_factory=Sheet)


def busy_percent(seconds: float = 0.4) -> float:
    """How much of all processors was in use during that time."""

    def times() -> list[int]:
        return [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]

    before = times()
    time.sleep(seconds)
    spent = [after - then for then, after in zip(before, times(), strict=True)]
    idle = spent[3] + spent[4]  # proc(5): user nice system idle iowait irq softirq steal
    return 100.0 * (1 - idle / max(sum(spent), 1))


def when_quiet(sheet: Sheet, system: System) -> None:
    """Wait a little for a machine that does nothing else, and note how busy it was when the wait was over."""
    begin = time.monotonic()
    while (busy := busy_percent()) > _QUIET_PERCENT and sheet.waited_s + time.monotonic() - begin < _QUIET_WAIT_S:
        pass
    sheet.waited_s += time.monotonic() - begin
    sheet.note("busy_percent", system.key, busy)


@contextmanager
def prepared(system: System, loss: float | None = None, seed: int = 1) -> Iterator[Ends]:
    """A system in a room of its own, of which nothing runs yet; over a lossy link where `loss` is given."""
    with room(loss, seed) as made, tempfile.TemporaryDirectory(prefix="pqcmav-peers-") as folder:
        yield system.make(made, Path(folder))


@contextmanager
def connected(system: System) -> Iterator[Ends]:
    """A system through which datagrams arrive. Raises RuntimeError."""
    with prepared(system) as ends:
        ends.start(GROUND)
        ends.start(DRONE)
        with closing(Probe(ends, 0.01)) as probe:
            if probe.arrival_after(0, LIMIT_S) is None:
                raise RuntimeError(f"nothing arrived within {LIMIT_S:g} s: {ends.output(DRONE)[-300:].strip()}")
        time.sleep(0.3)  # what follows a handshake is over
        yield ends


def pair_of(system: System, ends: Ends, made: Room) -> rig.Pair:
    """The two ends as the load programs of bench/ know them."""
    processes = [process for each in ends.processes.values() for process in each]
    where = ["--send-in", made.path(DRONE), "--receive-in", made.path(GROUND), "--from", ends.sender]
    return rig.Pair(system.key, ends.entry, ends.exit, processes, where)  # type: ignore[arg-type]


@contextmanager
def noted(sheet: Sheet, system: System) -> Iterator[None]:
    """What goes wrong is on the sheet and told, and the run goes on."""
    try:
        yield
    except PROBLEMS as error:
        sheet.fail(system.key, str(error))
        print(f"{system.key}: {error}", flush=True)


def in_turn(systems: Sequence[System], repetition: int) -> list[System]:
    """All systems, in another order in each repetition, the same in every run."""
    order = list(systems)
    random.Random(repetition).shuffle(order)
    return order


def each_connected(
    systems: Sequence[System], plan: Plan, figures: Sequence[str], work: Callable[[System, rig.Pair, Sheet], None]
) -> Sheet:
    """Connects the systems one after the other, again and again, and does the work with each that can give figures."""
    sheet = plan.sheet
    for repetition in range(plan.repetitions):
        for system in in_turn(systems, repetition):
            if all(figure in system.no for figure in figures):
                continue
            when_quiet(sheet, system)
            with noted(sheet, system), connected(system) as ends:
                work(system, pair_of(system, ends, ends.room), sheet)
        plan.save(sheet)
    return sheet


def rate(systems: Sequence[System], plan: Plan) -> Sheet:
    """Lossless packets/s: the ends share one processor, the load has another, as in bench/README.md."""

    def work(system: System, pair: rig.Pair, sheet: Sheet) -> None:
        with rig.processors(pair):
            for size in plan.sizes:
                last = sheet.last(f"rate_{size}", system.key)
                # The first search of a system looks far, the others near its last result.
                guess, step = (last * 1e3, 1.08) if last else (_FIRST_GUESS, 1.3)
                found = measure.lossless_rate(pair, size, plan.trial_s, guess, step)
                if found <= 0:
                    sheet.fail(system.key, f"no rate without loss at {size} bytes")
                    continue
                sheet.add(f"rate_{size}", system.key, found / 1e3)

    return each_connected(systems, plan, [f"rate_{size}" for size in measure.SIZES], work)


def delay(systems: Sequence[System], plan: Plan) -> Sheet:
    """One-way delays and round trips of 256 bytes, in us."""

    def work(system: System, pair: rig.Pair, sheet: Sheet) -> None:
        rig.load(pair, 320, 256, 0.5)
        for name, trip in (("delay", "one-way"), ("rtt", "round")):
            for rate_per_s in (320, 4000):
                got = rig.load(pair, rate_per_s, 256, plan.delay_s, trip)
                sheet.add(f"{name}_{rate_per_s}", system.key, got["delay_us"]["p50"])
                sheet.note(f"{name}_{rate_per_s}_lost", system.key, got["lost"])
                if name == "delay":
                    sheet.add(f"{name}_{rate_per_s}_p99", system.key, got["delay_us"]["p99"])

    return each_connected(systems, plan, ["delay_320", "rtt_320"], work)


def cost(systems: Sequence[System], plan: Plan) -> Sheet:
    """CPU (% of a core) and PSS (MB) of all processes of both ends.

    At 320 and 4,000/s of 256 bytes, and at 8 Mb/s of 1,200; the memory just after connecting, and at 320/s.
    """

    def memory(system: System, pair: rig.Pair, sheet: Sheet, when: str) -> None:
        sheet.add(f"pss_{when}", system.key, sum(pss_among_kib(pair.pids)) * 1024 / 1e6)

    def work(system: System, pair: rig.Pair, sheet: Sheet) -> None:
        memory(system, pair, sheet, "fresh")
        time.sleep(SETTLED_S)
        for name, (rate_per_s, size) in {"320": (320.0, 256), "4000": (4000.0, 256), "8mbit": _MBIT8}.items():
            rig.load(pair, rate_per_s, size, 0.5)
            before, clock = rig.cpu_ns(pair.pids), time.monotonic_ns()
            got: dict[str, Any] = rig.load(pair, rate_per_s, size, plan.cost_s)
            share = (rig.cpu_ns(pair.pids) - before) / (time.monotonic_ns() - clock)
            sheet.add(f"cpu_{name}", system.key, 100 * share)
            if name == "320":
                memory(system, pair, sheet, name)
            sheet.note(f"cost_{name}_lost", system.key, got["lost"])

    return each_connected(systems, plan, ["cpu_320"], work)
