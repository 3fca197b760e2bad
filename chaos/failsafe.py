# SPDX-License-Identifier: Apache-2.0
"""`chaos/run failsafe`: does a killed proxy trip the autopilot's ground-station failsafe?

Two `pqcmav-tunneld` under the supervisor of `pqcmav up`, ground software that sends a heartbeat a second, and a vehicle
with ArduPilot's timer: it trips once no heartbeat has come for 5 s. One end is killed with SIGKILL again and again; the
supervisor alone brings it back. The arithmetic is in docs/failsafes.md.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import socket
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import psutil
import tables
from ends import DRONE_ID
from tally import percentile
from traffic import application_socket

from pqc_mav_bringup.description import Process, Respawn
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.supervisor import Supervisor
from pqc_mav_common import two_ends
from pqc_mav_common.free_ports import free_ports

FAILSAFE_S = 5.0  # FS_GCS_TIMEOUT
HEARTBEAT_S = 1.0
TELEMETRY_S = 0.1
ENDS = ("gcs", "drone")
# The engine's own defaults, named so that a recorded page says what it was measured with.
SETTINGS = {"reconnect_after_s": 2.0, "degraded_after_s": 1.5}
# A run's kills stand for deaths hours apart, so the supervisor forgets one before the next.
RESPAWN = replace(Respawn(), settled_s=1.0)
_RUNNING_S = (1.5, 2.5)  # between two kills, so that they fall anywhere between two heartbeats
_GIVE_UP_S = 30.0
_STEP_S = 0.02


class FailsafeError(RuntimeError):
    """The measurement could not be made."""


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


class Vehicle:
    """An autopilot's and a ground station's socket: heartbeats down, telemetry up, the timer fed by what arrives."""

    def __init__(self, vehicle: socket.socket, ground: socket.socket, drone_plain: int, gcs_plain: int) -> None:
        for each in (vehicle, ground):
            each.setblocking(False)
        self._vehicle, self._ground = vehicle, ground
        self._drone_plain, self._gcs_plain = drone_plain, gcs_plain
        self.timer = Timer(FAILSAFE_S, time.monotonic())

    async def live(self) -> None:
        """Runs until cancelled."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._vehicle, self._hear)
        loop.add_reader(self._ground, lambda: self._drain(self._ground))
        beat = tell = 0.0
        try:
            while True:
                now = time.monotonic()
                if now >= beat:
                    beat = now + HEARTBEAT_S
                    self._send(self._ground, b"heartbeat", self._gcs_plain)
                if now >= tell:
                    tell = now + TELEMETRY_S
                    self._send(self._vehicle, b"telemetry", self._drone_plain)
                self.timer.check(now)
                await asyncio.sleep(_STEP_S)
        finally:
            loop.remove_reader(self._vehicle)
            loop.remove_reader(self._ground)

    def _hear(self) -> None:
        for _ in range(self._drain(self._vehicle)):
            self.timer.heartbeat(time.monotonic())

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
    parser.add_argument("--seed", type=int, default=1, help="of the times of the kills")


def run(options: argparse.Namespace) -> int:
    """Measure both ends, print and write; 0 when no kill tripped the failsafe."""
    machine = tables.machine()
    results = {}
    for end in ENDS:
        try:
            results[end] = measure(end, options.runs, random.Random(options.seed), SETTINGS)
        except FailsafeError as error:
            print(f"failsafe: {error}")
            return 1
    runs = {end: [asdict(one) for one in each] for end, each in results.items()}
    whole = {"machine": machine, "failsafe_s": FAILSAFE_S, "settings": SETTINGS, "runs": runs}
    tables.publish(options.output, "failsafe", page(results, machine), whole)
    return 1 if any(one.tripped for each in results.values() for one in each) else 0


def measure(end: str, runs: int, generator: random.Random, settings: dict[str, Any]) -> list[Kill]:
    """Kill one end `runs` times; `settings` are the drone's and, as far as it has them, the gcs' configuration."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-failsafe-")))
        pqc_mav_tunnel.init_keys(str(folder), [DRONE_ID])
        vehicle, ground = (stack.enter_context(application_socket()) for _ in range(2))
        data, own_data, drone_plain, gcs_plain = free_ports(4)
        gcs = two_ends.gcs_config(str(folder), {DRONE_ID: ground.getsockname()[1]}, data_port=data)
        gcs["drone"][DRONE_ID]["plain_bind"] = f"{two_ends.HOST}:{gcs_plain}"
        drone = two_ends.drone_config(
            str(folder), DRONE_ID, data, local_data_port=own_data, plain_bind=f"{two_ends.HOST}:{drone_plain}"
        )
        processes = []
        for name, config in (("gcs", gcs), ("drone", drone | settings)):
            processes.append(_process(name, two_ends.write(folder / f"{name}.yaml", config)))
        return asyncio.run(_killing(end, runs, generator, processes, Vehicle(vehicle, ground, drone_plain, gcs_plain)))


def _process(name: str, config: Path) -> Process:
    return Process(
        name, "pqc_mav_tunnel", "pqcmav-tunneld", "", "", "", {}, (str(config),), RESPAWN, "run 'make setup' first"
    )


async def _killing(
    end: str, runs: int, generator: random.Random, processes: list[Process], vehicle: Vehicle
) -> list[Kill]:
    said: list[str] = []
    supervisor = Supervisor(prepare(processes), lambda label, text: said.append(f"{label}: {text}"))
    tasks = [asyncio.create_task(supervisor.run()), asyncio.create_task(vehicle.live())]
    kills: list[Kill] = []
    timer = vehicle.timer
    try:
        await _flows(timer, said)
        for number in range(runs):
            await asyncio.sleep(generator.uniform(*_RUNNING_S))
            timer.begin()
            _pid_of(processes[ENDS.index(end)].arguments[0]).send_signal(signal.SIGKILL)
            await _flows(timer, said)
            kills.append(Kill(timer.longest_s, timer.trips > 0))
            print(f"{end} kill {number + 1} of {runs}: {timer.longest_s:.2f} s without a heartbeat", flush=True)
    finally:
        supervisor.stop()
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return kills


def _pid_of(config: str) -> psutil.Process:
    """The tunneld of ours that runs with that file."""
    for child in psutil.Process(os.getpid()).children():
        if config in child.cmdline():
            return child
    raise FailsafeError(f"no process runs with {config}")


async def _flows(timer: Timer, said: list[str]) -> None:
    """Until two more heartbeats have come: one may have been on its way when the end was killed."""
    wanted, deadline = timer.heartbeats + 2, time.monotonic() + _GIVE_UP_S
    while timer.heartbeats < wanted:
        if time.monotonic() > deadline:
            raise FailsafeError(f"no heartbeat within {_GIVE_UP_S:g} s. {' / '.join(said[-3:])}")
        await asyncio.sleep(_STEP_S)


def page(results: dict[str, list[Kill]], machine: str) -> str:
    """The results page."""
    text = "# A killed proxy and the autopilot's failsafe\n\nWritten by `tools/run chaos/run failsafe`. Two "
    text += "`pqcmav-tunneld` on loopback under the supervisor of `pqcmav up`, a heartbeat a second from the ground. "
    text += "One end is killed with SIGKILL, the supervisor starts it again "
    text += f"{RESPAWN.delay_s:g} s later. The vehicle's failsafe trips after {FAILSAFE_S:g} s without a heartbeat. "
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
