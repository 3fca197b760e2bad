# SPDX-License-Identifier: Apache-2.0
"""`chaos/run warned`: how much sooner a drone names an attack after another one on its network named one.

A gcs and two drones over loopback, each with the detector that flies by default. A stranger sends datagrams that are
none of the tunnel's. `--windows` judges recordings of normal traffic (`chaos/run record`) as one that was warned would.
"""

import argparse
import json
import os
import socket
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pqc_mav_tunnel
import tables
from background import Background
from children import ChildError
from pair import in_processes

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until
from pqc_mav_detect.classes import FLOOD, Level
from pqc_mav_detect.dataset import read_rows
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.from_engine import from_engine
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.window import PERIOD_S, Windows

DRONES = ("d1", "d2")
RATES = (1.0, 2.0, 5.0)  # datagrams/s at the second drone
FIRST_RATE = 10.0  # at the first one
LIMIT_S, QUIET_S = 60.0, 12.0  # an alarm lasts 10 s, and what counts of a start and of the last run as long
ALARM_S = 1.0  # a node tells it so often


@dataclass(frozen=True)
class Timed:
    """Seconds from the first datagram at the second drone until its detector named the attack, alone and warned.

    `word`: from the first drone's verdict until the second one had heard of it.
    """

    rate: float
    alone: tuple[float, ...]
    warned: tuple[float, ...]
    word: tuple[float, ...]


@dataclass(frozen=True)
class Calm:
    """Normal traffic of some hours, and how often an attack was named in it."""

    hours: float
    alone: int
    warned: int


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=10, help="of each kind and rate, by turns")
    parser.add_argument("--jobs", type=int, default=3, help="rates at a time, each with ends of its own")
    parser.add_argument("--windows", nargs="*", default=[], metavar="FILE", help="recordings of normal traffic")


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when every attack was named."""
    machine = tables.machine()
    found = list(in_processes(measure, [(rate, options.runs) for rate in RATES], options.jobs))
    quiet = calm([Path(each) for each in options.windows]) if options.windows else None
    whole = {"machine": machine, "results": [asdict(each) for each in found], "calm": quiet and asdict(quiet)}
    tables.publish(options.output, "warned", page(found, quiet, machine, options), whole, part=quiet is None)
    return 0


class Guarded(Background):
    """An engine with its detector, which tells the engine what it sees, as the nodes do."""

    def __init__(self, config: dict[str, object]) -> None:
        self.engine = pqc_mav_tunnel.Engine({**config, "control_socket": "off"})
        self.engine.start()
        self._door = pqc_mav_tunnel.Door(self.engine)
        self.fresh()
        self._begin()

    def fresh(self) -> None:
        """Forget what was seen."""
        self._judging = Windows("drone"), Rules(), Episodes()
        self.named_s: float | None = None  # when an attack was named

    def close(self) -> None:
        """End both."""
        super().close()
        self.engine.stop()

    def _run(self) -> None:
        told_s = 0.0
        while not self._over.wait(PERIOD_S):
            (windows, rules, episodes), now_s = self._judging, time.monotonic()
            seen = self.engine.totals(), self.engine.stats(), self.engine.links(), self.engine.status()
            window = windows.update(from_engine(now_s, *seen, {}, self.engine.refused_from()))
            verdict = episodes.verdict if window is None else episodes.update(rules.update(window), now_s)
            if verdict.level is Level.ATTACK and verdict.kind == FLOOD and self.named_s is None:
                self.named_s = now_s
            if now_s - told_s >= ALARM_S:
                told_s = now_s
                word = {"v": 1, "command": "alarm", "level": int(verdict.level), "kind": verdict.kind}
                self._door.ask(json.dumps(word))

    def warned(self) -> bool:
        """Whether it has heard of an attack elsewhere."""
        return bool(self.engine.status()[0]["peer_alarm"] >= Level.ATTACK)


class Stranger(Background):
    """Sends what is none of the tunnel's, evenly."""

    def __init__(self, port: int, rate: float) -> None:
        self._port, self._rate = port, rate
        self.began_s = time.monotonic()
        self._begin()

    def _run(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            due = self.began_s
            while not self._over.wait(max(0.0, due - time.monotonic())):
                out.sendto(b"\x03" + os.urandom(60), (two_ends.HOST, self._port))
                due += 1.0 / self._rate


def measure(task: tuple[float, int]) -> Timed:
    """One rate, in a process of its own. Raises ChildError if an attack is never named."""
    rate, runs = task
    alone, warned, word = [], [], []
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="pqcmav-warned-"))
        pqc_mav_tunnel.init_keys(folder, list(DRONES))
        gcs = stack.enter_context(
            Guarded(
                {"role": "gcs", "keys": f"{folder}/gcs", "bind": two_ends.HOST, "data_port": 0, "drones": list(DRONES)}
            )
        )
        port = gcs.engine.ports()["data"]
        first, second = (stack.enter_context(Guarded(two_ends.drone_config(folder, drone, port))) for drone in DRONES)
        if not wait_until(lambda: all(each["state"] == "UP" for each in gcs.engine.status()), LIMIT_S):
            raise ChildError("no session")
        for _ in range(runs):
            _rest(gcs, first, second)
            alone.append(_named(second, rate))
            _rest(gcs, first, second)
            with Stranger(first.engine.ports()["data"], FIRST_RATE):
                if not wait_until(second.warned, LIMIT_S) or first.named_s is None:
                    raise ChildError("the second drone was not warned")
                word.append(time.monotonic() - first.named_s)
                warned.append(_named(second, rate))
    return Timed(rate, tuple(alone), tuple(warned), tuple(word))


def _rest(*ends: Guarded) -> None:
    for each in ends:
        each.fresh()
    time.sleep(QUIET_S)


def _named(end: Guarded, rate: float) -> float:
    with Stranger(end.engine.ports()["data"], rate) as stranger:
        if not wait_until(lambda: end.named_s is not None, LIMIT_S):
            raise ChildError(f"{rate:g} datagrams/s are not named in {LIMIT_S:g} s")
    assert end.named_s is not None
    return end.named_s - stranger.began_s


def calm(files: Sequence[Path]) -> Calm:
    """What the rules name in recordings without an attack, as they are and watchful."""
    windows = [[row.window for row in rows] for file in files for rows in read_rows(file).values()]
    counts = {}
    for watchful in (False, True):
        counts[watchful] = 0
        for each in windows:
            rules, episodes, before = Rules(), Episodes(), Level.NONE
            for window in each:
                level = episodes.update(rules.update(replace(window, watchful=watchful)), window.time_s).level
                counts[watchful] += level is Level.ATTACK and before is not Level.ATTACK
                before = level
    seconds = sum(window.span_s for each in windows for window in each)
    return Calm(seconds / 3600, counts[False], counts[True])


def _seconds(values: Sequence[float]) -> str:
    low, high = median_interval(values)
    return f"{statistics.median(values):.1f} ({low:.1f}-{high:.1f})"


def page(found: Sequence[Timed], quiet: Calm | None, machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    text = f"# One drone's alarm warns the others\n\nWritten by `tools/run chaos/run warned --runs {options.runs}`"
    text += (
        f", over loopback: a gcs and two drones, each with the detector `rules`. A stranger sends the second drone "
        f"datagrams that are none of the tunnel's. Warned: the first drone gets {FIRST_RATE:g} a second before, "
        f"and its alarm has reached the second one through the gcs. Seconds until the attack is named: median, and its "
        f"95 % interval, N = {options.runs} each, by turns.\n\n*{machine}*\n\n"
    )
    text += tables.markdown(
        ("datagrams/s", "alone s", "warned s", "the word took s"),
        [(f"{each.rate:g}", _seconds(each.alone), _seconds(each.warned), _seconds(each.word)) for each in found],
    )
    if quiet is not None:
        text += (
            f"\nIn {quiet.hours:.1f} h of windows of normal traffic and disturbances without an attacker (`chaos/run "
            f"record`, both ends), the rules named {quiet.alone} attacks; all the time watchful, {quiet.warned}.\n"
        )
    return text
