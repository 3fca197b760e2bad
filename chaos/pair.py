# SPDX-License-Identifier: Apache-2.0
"""A gcs and a drone with a session, and an application at each: in the laboratory's network, or on loopback."""

import multiprocessing
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import air
import messages
import pqc_mav_tunnel
from children import ChildError
from ends import DRONE_ID, DRONE_PLAIN, GCS_PLAIN, GROUND, End, drone_config, gcs_config
from traffic import End as TrafficEnd
from traffic import TrafficProcess, application_socket

from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until

CONNECT_S = 30.0
Task, Result = TypeVar("Task"), TypeVar("Result")


@contextmanager
def temporary_keys(*, drone_signatures: bool = False) -> Iterator[str]:
    """A folder with fresh keys of the gcs and the one drone, which vanishes afterwards."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-chaos-") as folder:
        pqc_mav_tunnel.init_keys(folder, [DRONE_ID], drone_signatures=drone_signatures)
        yield folder


def connected(ends: Mapping[str, End], limit_s: float) -> None:
    """Wait for the session; raises ChildError with what the drone says."""
    if not wait_until(lambda: all(end.status()["state"] == "UP" for end in ends.values()), limit_s):
        words = ends["drone"].status()["last_error"] or "no reason given"
        raise ChildError(f"no session within {limit_s:g} s: {words}")


@dataclass
class Pair:
    """Both ends, the sockets of vehicle and ground software, and the ports at which the tunnel listens for them."""

    ends: Mapping[str, End]
    vehicle: socket.socket
    ground: socket.socket
    drone_plain: int
    gcs_plain: int
    stack: ExitStack

    @property
    def drone(self) -> End:
        """The drone's end."""
        return self.ends["drone"]

    @property
    def gcs(self) -> End:
        """The ground's."""
        return self.ends["gcs"]

    def traffic(self, down: float, up: float, *, burst: int = 0, course: str = "", **options: Any) -> TrafficProcess:
        """Messages a second each way from now on, or a recorded flight. `options` are those of TrafficProcess."""
        ways = [
            TrafficEnd(self.vehicle, 0, messages.DOWN, self.drone_plain, down, burst, course=course),
            TrafficEnd(self.ground, 0, messages.UP, self.gcs_plain, up, course=course),
        ]
        made = TrafficProcess(ways, **options)
        self.stack.callback(made.close)
        return made

    def log(self) -> Path:
        """A file for the arrivals, which vanishes afterwards."""
        return Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-chaos-"))) / "arrivals"


def in_the_air(
    stack: ExitStack,
    network: air.Air,
    both: Mapping[str, Any] | None = None,
    drone: Mapping[str, Any] | None = None,
    connect_s: float = CONNECT_S,
    gcs: Mapping[str, Any] | None = None,
) -> Pair:
    """A pair in a network, until `stack` ends; `both`, `drone` and `gcs` add to the configurations, None takes away.
    Raises ChildError.

    The applications' sockets are there first: the gcs finds its ground software listening.
    """
    keys = stack.enter_context(temporary_keys())
    vehicle = stack.enter_context(network["drone"].call(application_socket))
    ground = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND)))
    ends: dict[str, End] = {}
    for name, config in (
        ("gcs", {**gcs_config(keys), **(both or {}), **(gcs or {})}),
        ("drone", {**drone_config(keys, air.GCS), **(both or {}), **(drone or {})}),
    ):
        given = {key: value for key, value in config.items() if value is not None}
        ends[name] = End(given, network[name].descriptor)
        stack.callback(ends[name].close)
    connected(ends, connect_s)
    return Pair(ends, vehicle, ground, DRONE_PLAIN, GCS_PLAIN, stack)


def on_loopback(
    stack: ExitStack,
    through: Callable[[int], int] = int,
    connect_s: float = 20.0,
    gcs: Mapping[str, Any] | None = None,
) -> Pair:
    """A pair on loopback, until `stack` ends. `through` makes of the gcs' port that to which the drone sends; `gcs`
    adds to that end's configuration."""
    keys = stack.enter_context(temporary_keys())
    vehicle, ground = (stack.enter_context(application_socket()) for _ in range(2))
    far = End(two_ends.gcs_config(keys, {DRONE_ID: ground.getsockname()[1]}, **(gcs or {})))
    stack.callback(far.close)
    ports = far.child.ask("ports")
    drone = End(two_ends.drone_config(keys, DRONE_ID, through(ports["data"])))
    stack.callback(drone.close)
    ends = {"gcs": far, "drone": drone}
    connected(ends, connect_s)
    plain = drone.child.ask("ports")["plain"][DRONE_ID]
    return Pair(ends, vehicle, ground, plain, ports["plain"][DRONE_ID], stack)


def in_processes(measure: Callable[[Task], Result], tasks: Iterable[Task], jobs: int) -> Iterator[Result]:
    """What each task gives, several at a time. In processes: a child is bound to the life of its thread."""
    with (
        ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _deaf) as pool,
        ThreadPoolExecutor(jobs) as threads,
    ):
        try:
            # A thread has one task in the pool at a time: the pool would take more than it runs, also after Ctrl-C.
            yield from threads.map(lambda task: pool.submit(_stoppable, measure, task).result(), tasks)
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _deaf() -> None:
    """A process of the pool goes by its parent: Ctrl-C reaches both. Programs that it starts do not inherit this."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


def _stoppable(measure: Callable[[Task], Result], task: Task) -> Result:
    """Measure until the parent's SIGTERM, which unwinds once."""

    def unwind(*_: object) -> None:
        _deaf()
        sys.exit(1)

    signal.signal(signal.SIGTERM, unwind)
    try:
        return measure(task)
    finally:
        _deaf()
