# SPDX-License-Identifier: Apache-2.0
"""`chaos/run failsafe`: does a killed tunnel trip the autopilot's ground-station failsafe?

Two `pqcmav up` with their nodes, ground software that sends a heartbeat a second, and a vehicle with ArduPilot's timer:
it trips once no heartbeat has come for 5 s. The tunnel of one end is killed with SIGKILL again and again; the
supervisor alone brings it back. `--stress 8` does so on a machine whose cores eight others want. The arithmetic is in
docs/failsafes.md.
"""

import argparse
import contextlib
import random
import select
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import tables
from background import Background
from children import spawn
from crashes import QUICK, TUNNEL, CrashError, Room
from tally import percentile

from pqc_mav_common import two_ends

FAILSAFE_S = 5.0  # FS_GCS_TIMEOUT
HEARTBEAT_S = 1.0
TELEMETRY_S = 0.1
ENDS = ("gcs", "drone")
# The engine's own defaults, named so that a recorded page says what it was measured with.
SETTINGS = {"reconnect_after_s": 2.0, "degraded_after_s": 1.5}
_RUNNING_S = (1.5, 2.5)  # between two kills, so that they fall anywhere between two heartbeats
_STEP_S = 0.02


class Timer:
    """The vehicle's failsafe: fed by heartbeats, it trips once per silence that is too long. Times are seconds."""

    def __init__(self, limit_s: float, now: float) -> None:
        self._limit_s = limit_s
        self._last_s = now
        self.longest_s = 0.0
        self.trips = 0
        self.heartbeats = 0
        self._tripped = False

    def heartbeat(self, now: float) -> None:
        """One has come."""
        self.check(now)
        self._last_s, self._tripped = now, False
        self.heartbeats += 1

    def check(self, now: float) -> None:
        """To be asked often."""
        silence = now - self._last_s
        self.longest_s = max(self.longest_s, silence)
        if silence > self._limit_s and not self._tripped:
            self._tripped = True
            self.trips += 1

    def begin(self) -> None:
        """Counts the next silence by itself."""
        self.longest_s, self.trips = 0.0, 0


@dataclass(frozen=True)
class Kill:
    """One kill: the longest time the vehicle was without a heartbeat, and whether its failsafe tripped."""

    silence_s: float
    tripped: bool


class Vehicle(Background):
    """An autopilot's and a ground station's socket: heartbeats down, telemetry up, the timer fed by what arrives.

    In a thread of its own. Use it in a `with` block.
    """

    def __init__(self, room: Room) -> None:
        self._drone, self._ground = room.ways
        for each in room.ways:
            each.socket.setblocking(False)
        self.timer = Timer(FAILSAFE_S, time.monotonic())
        self._begin()

    def _run(self) -> None:
        beat = tell = 0.0
        while not self._over.is_set():
            now = time.monotonic()
            if now >= beat:
                beat = now + HEARTBEAT_S
                self._send(self._ground.socket, b"heartbeat", self._ground.to_port)
            if now >= tell:
                tell = now + TELEMETRY_S
                self._send(self._drone.socket, b"telemetry", self._drone.to_port)
            self.timer.check(now)
            select.select([self._drone.socket, self._ground.socket], [], [], _STEP_S)
            self._drain(self._ground.socket)
            for _ in range(self._drain(self._drone.socket)):
                self.timer.heartbeat(time.monotonic())

    def flows(self, room: Room) -> None:
        """Wait until two more heartbeats have come: one may have been on its way when the end was killed."""
        wanted = self.timer.heartbeats + 2
        room.wait(lambda: self.timer.heartbeats >= wanted, "two heartbeats")

    @staticmethod
    def _drain(source: socket.socket) -> int:
        count = 0
        try:
            while source.recv(2048):
                count += 1
        except OSError:  # nothing left, or the proxy behind the port is gone for the moment
            pass
        return count

    @staticmethod
    def _send(source: socket.socket, payload: bytes, port: int) -> None:
        with contextlib.suppress(OSError):  # the proxy is dead for the moment
            source.sendto(payload, (two_ends.HOST, port))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="kills of each end")
    parser.add_argument("--stress", type=int, default=0, help="processes beside it that want a core each (stress-ng)")
    parser.add_argument("--seed", type=int, default=1, help="of the times of the kills")


def run(options: argparse.Namespace) -> int:
    """Measure both ends, print and write; 0 when no kill tripped the failsafe."""
    machine = tables.machine()
    results = {}
    try:
        with stressed(options.stress):
            for end in ENDS:
                results[end] = measure(end, options.runs, random.Random(options.seed), SETTINGS)
    except CrashError as error:
        print(f"failsafe: {error}")
        return 1
    runs = {end: [asdict(one) for one in each] for end, each in results.items()}
    whole = {"machine": machine, "stress": options.stress, "failsafe_s": FAILSAFE_S, "settings": SETTINGS, "runs": runs}
    tables.publish(options.output, "failsafe", page(results, machine, options.stress), whole)
    return 1 if any(one.tripped for each in results.values() for one in each) else 0


@contextlib.contextmanager
def stressed(count: int) -> Iterator[None]:
    """So many processes that want a core each, while the block runs. Raises CrashError where there can be none."""
    if not count:
        yield
        return
    if shutil.which("stress-ng") is None:
        raise CrashError("stress-ng is not here: 'apt-get install stress-ng'")
    with spawn(["stress-ng", "--quiet", "--cpu", str(count)]) as stress:
        try:
            yield
        finally:
            stress.send_signal(signal.SIGINT)


def measure(end: str, runs: int, generator: random.Random, settings: dict[str, Any]) -> list[Kill]:
    """Kill the tunnel of one end `runs` times; `settings` are the drone's."""
    kills: list[Kill] = []
    while len(kills) < runs:
        with Room(settings=settings) as room, Vehicle(room) as vehicle:
            timer = vehicle.timer
            vehicle.flows(room)
            for _ in range(min(QUICK, runs - len(kills))):
                time.sleep(generator.uniform(*_RUNNING_S))
                victim = room.process(end, TUNNEL)
                if victim is None:
                    raise CrashError(f"no {TUNNEL} runs at the {end}")
                timer.begin()
                victim.kill()
                vehicle.flows(room)
                kills.append(Kill(timer.longest_s, timer.trips > 0))
                print(f"{end} kill {len(kills)} of {runs}: {timer.longest_s:.2f} s without a heartbeat", flush=True)
    return kills


def page(results: dict[str, list[Kill]], machine: str, stress: int = 0) -> str:
    """The results page."""
    text = "# A killed tunnel and the autopilot's failsafe\n\nWritten by `tools/run chaos/run failsafe"
    text += f"{f' --stress {stress}' if stress else ''}`. Two `pqcmav up` on loopback, a heartbeat a second from the "
    text += "ground. The tunnel of one end is killed with SIGKILL, and its supervisor starts it again. The vehicle's "
    text += f"failsafe trips after {FAILSAFE_S:g} s without a heartbeat. "
    text += f"{f'{stress} processes beside it want a core each. ' if stress else ''}"
    text += f"Settings: {', '.join(f'`{name}` {value:g}' for name, value in SETTINGS.items())}.\n\n*{machine}*\n\n"
    head = ("end", "kills", "failsafe tripped", "longest silence p50 s", "p95 s", "worst s")
    rows = []
    for end, each in results.items():
        silences = [one.silence_s for one in each]
        figures = [f"{value:.2f}" for value in (percentile(silences, 0.5), percentile(silences, 0.95), max(silences))]
        rows.append((end, len(each), sum(one.tripped for one in each), *figures))
    text += tables.markdown(head, rows)
    tripped = sum(one.tripped for each in results.values() for one in each)
    return text + f"\nVerdict: **{'ok' if not tripped else f'FAILED: the failsafe tripped {tripped} times'}**.\n"
