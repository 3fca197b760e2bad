# SPDX-License-Identifier: Apache-2.0
"""`chaos/run stations`: a drone with two ground stations, of which the one that it hears dies, is cut off or goes.

Drone, north and south are in network namespaces, with a link of RTT 20 ms before the drone. The ground software of
both stations speaks all the time: what arrives at the autopilot says which one is heard, since when, and whether a
command of the old one came through afterwards.
"""

import argparse
import contextlib
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import air
import pqc_mav_tunnel
import tables
from children import into
from ends import DRONE_ID
from links import Link
from pair import in_processes
from tally import percentile
from traffic import application_socket

from pqc_mav_common import two_ends
from pqc_mav_common.child import Program, ProgramError
from pqc_mav_common.two_ends import HOST

NORTH, SOUTH = "north", "south"
STATIONS = (NORTH, SOUTH)
SPACE = {NORTH: "gcs", SOUTH: "stranger", "drone": "drone"}
ADDRESS = {NORTH: air.GCS, SOUTH: air.STRANGER}
PORT, PLAIN, GROUND = 46011, 14600, 14550
EVENTS = {
    "killed": "kill -9 of the active station",
    "hurried": "kill -9, with `failover_after_s` 0.9",
    "cut": "the active station's network is cut",
    "stopped": "the active station ends and says CLOSE",
    "restarted": "kill -9 and a new start: it says RESTART; from its readiness on",
    "split": "cut off for 6 s while both live, then joined again",
}
# Seconds, by event: with standby, without.
GOALS = {
    "killed": (2.22, 2.5),
    "hurried": (1.0, 1.1),
    "cut": (2.22, 2.5),
    "stopped": (0.1, 2.5),
    "restarted": (0.1, 2.5),
    "split": (2.22, 2.5),
}
FAILOVER_S = {"hurried": 0.9}
_EVERY_S = 0.01  # each station speaks so often
_SPLIT_S = 6.0
_WATCH_S = {"killed": 4.0, "hurried": 3.0, "cut": 4.0, "stopped": 2.0, "restarted": 4.0, "split": 3.0}
_CONNECT_S = 30.0


class StationsError(RuntimeError):
    """The measurement could not be made."""


@dataclass(frozen=True)
class Failover:
    """One run: seconds from the event to the first command that was heard again, whose, and what was stale."""

    seconds: float
    heard: str
    stale: int


class Daemon:
    """pqcmav-tunneld in a namespace, started again and again."""

    def __init__(self, config: Path, space: air.Namespace) -> None:
        self.config, self.space = config, space
        self.program: Program | None = None

    def start(self) -> None:
        """Start it, and listen to it."""
        program = shutil.which("pqcmav-tunneld")
        if program is None:
            raise StationsError("pqcmav-tunneld is not on the path: run this through tools/run after 'make setup'")
        command = [program, str(self.config)]
        self.program = Program(self.config.stem, command, limit_s=10.0, **into(self.space.descriptor))

    def end(self, number: int = signal.SIGKILL) -> None:
        """Send a signal, and wait for the end."""
        if self.program is not None and self.program.process.poll() is None:
            self.program.end(number)

    def said(self, words: str) -> list[float]:
        """When it said so."""
        if self.program is None:
            return []
        return [at for at, line in zip(self.program.times, self.program.lines, strict=False) if words in line]

    def last_words(self) -> str:
        """The end of what it said."""
        return "nothing" if self.program is None else self.program.last_words()


class World:
    """The network, the daemons and the applications of one series of runs."""

    def __init__(
        self, folder: Path, network: air.Air, standby: bool, failover_after_s: float, vehicle: bool = False
    ) -> None:
        """`vehicle`: a real one will speak to the drone's end; there is no socket in its place."""
        self._hub, self._standby = network["hub"], standby
        pqc_mav_tunnel.init_keys(str(folder), [DRONE_ID], ["mldsa65"], stations=list(STATIONS))
        self.daemons = {name: Daemon(folder / f"{name}.yaml", network[SPACE[name]]) for name in (*STATIONS, "drone")}
        for name in STATIONS:
            own = {"keys": str(folder / "stations" / name), "gcs_id": name, "bind": "", "data_port": PORT}
            config = two_ends.gcs_config(folder, {DRONE_ID: GROUND}, **own)
            config["drone"][DRONE_ID]["plain_bind"] = f"{HOST}:{PLAIN}"
            two_ends.write(self.daemons[name].config, config)
        drone = {
            "standby": standby, "failover_after_s": failover_after_s, "bind": "",
            "peer": [f"{name}@{ADDRESS[name]}:{PORT}" for name in STATIONS],
            "plain_bind": f"{HOST}:{PLAIN}", "plain_peer": "" if vehicle else f"{HOST}:{GROUND}",
        }  # fmt: skip
        two_ends.write(self.daemons["drone"].config, two_ends.drone_config(folder, DRONE_ID, PORT, **drone))
        self.sockets = {
            name: network[SPACE[name]].call(lambda: application_socket(GROUND))
            for name in (STATIONS if vehicle else self.daemons)
        }
        for each in self.sockets.values():
            each.setblocking(False)
        self.arrivals: list[tuple[float, str]] = []
        self._next = 0.0

    def work(self, until: Callable[[], bool], limit_s: float) -> bool:
        """Let everybody speak and listen until the condition holds; returns whether it does."""
        end = time.monotonic() + limit_s
        while not until():
            now = time.monotonic()
            if now >= end:
                return False
            if now >= self._next:
                self._next = now + _EVERY_S
                for name, each in self.sockets.items():
                    with contextlib.suppress(OSError):
                        each.sendto(name.encode(), ("127.0.0.1", PLAIN))
            self._listen()
            time.sleep(0.001)
        return True

    def _listen(self) -> None:
        for name, each in self.sockets.items():
            with contextlib.suppress(OSError):
                while True:
                    said = each.recv(100).decode()
                    if name == "drone":
                        self.arrivals.append((time.monotonic(), said))

    def heard(self, name: str, since: float) -> float | None:
        """When the first command of that station arrived after a moment."""
        return next((at for at, who in self.arrivals if at > since and who == name), None)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.work(lambda: False, seconds)

    def cut(self, state: int) -> None:
        """North's port of the hub: 0 carries nothing, 3 all."""
        air.batch(self._hub.call, [f"link set dev to-gcs state {state}"], "bridge")

    def begin(self) -> None:
        """Start all three; north is heard, and south waits where it should."""
        self.cut(3)
        self.arrivals.clear()
        for daemon in self.daemons.values():
            daemon.start()
        begun = time.monotonic()
        drone = self.daemons["drone"]

        def ready() -> bool:
            handshakes = len(drone.said("] handshake with"))
            return handshakes == 1 + self._standby and self.heard(NORTH, begun) is not None

        if not self.work(ready, _CONNECT_S):
            raise StationsError(f"not connected: {drone.last_words()}")

    def end(self) -> None:
        """End all that still runs."""
        for daemon in self.daemons.values():
            daemon.end()

    def close(self) -> None:
        """Give everything back."""
        self.end()
        for each in self.sockets.values():
            each.close()


def one(world: World, event: str, generator: random.Random) -> Failover:
    """Start, let the event happen, and see who is heard when."""
    world.begin()
    world.wait(generator.uniform(1.0, 2.0))
    north = world.daemons[NORTH]
    since = time.monotonic()
    watched = since
    if event in ("cut", "split"):
        world.cut(0)
    else:
        north.end(signal.SIGTERM if event == "stopped" else signal.SIGKILL)
    if event == "restarted":
        world.wait(generator.uniform(0.1, 0.8))
        north.start()
        if not world.work(lambda: bool(north.said("UDP port")), 10.0):
            raise StationsError("the station did not start again")
        since = north.said("UDP port")[0]
    if event == "split":
        world.wait(_SPLIT_S)
        world.cut(3)
    world.wait(_WATCH_S[event])
    world.end()
    south = world.heard(SOUTH, watched)
    if event == "restarted" and south is not None and south < since:
        raise StationsError("the station took so long to start again that the other one was heard first")
    # North's own last commands were on the way when it went: they came before any of south's.
    stale = 0 if south is None else sum(who == NORTH and at > south for at, who in world.arrivals)
    firsts = {SOUTH: south}
    if event == "restarted":
        firsts[NORTH] = world.heard(NORTH, since)
    known = {who: at for who, at in firsts.items() if at is not None}
    if not known:
        raise StationsError(f"nobody was heard again: {world.daemons['drone'].last_words()}")
    heard = min(known, key=known.__getitem__)
    return Failover(known[heard] - since, heard, stale)


def series(task: tuple[str, bool, int, int]) -> list[Failover]:
    """One cell of the table, in a process of its own: event, standby, runs, seed."""
    event, standby, runs, seed = task
    with tempfile.TemporaryDirectory(prefix="pqcmav-stations-") as name, air.Air(seed=seed) as network:
        network.joint.impair(Link(rtt_ms=20, loss=0.0).impairment())
        world = World(Path(name), network, standby, FAILOVER_S.get(event, 2.0))
        generator = random.Random(seed)
        try:
            return [one(world, event, generator) for _ in range(runs)]
        finally:
            world.close()


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="of each event, with standby and without")
    parser.add_argument("--events", nargs="+", choices=tuple(EVENTS), default=tuple(EVENTS), help="what happens")
    parser.add_argument("--jobs", type=int, default=4, help="series at once, each in namespaces of its own")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which things happen")


def run(options: argparse.Namespace) -> int:
    """Run it; 0 when all goals are met."""
    cells = [(event, standby) for event in options.events for standby in (True, False)]
    results: dict[tuple[str, bool], list[Failover]] = {}
    begun, machine = time.monotonic(), tables.machine()
    tasks = [(*cell, options.runs, options.seed) for cell in cells]
    try:
        for cell, each in zip(cells, in_processes(series, tasks, options.jobs), strict=True):
            results[cell] = each
            where = f"{cell[0]}, {'standby' if cell[1] else 'no standby'}"
            print(f"{where}: {_row(cell, each)[2:]}", flush=True)
    except (StationsError, ProgramError, air.AirError) as error:
        print(f"stations: {error}")
        return 1
    text = page(results, options, machine, time.monotonic() - begun)
    detail = {
        f"{event}, standby {standby}": [asdict(one) for one in each] for (event, standby), each in results.items()
    }
    whole = {"machine": machine, "runs": detail, "problems": problems(results)}
    tables.publish(options.output, "stations", text, whole, part=len(options.events) < len(EVENTS))
    return 1 if problems(results) else 0


def problems(results: dict[tuple[str, bool], list[Failover]]) -> list[str]:
    """What is not as it should be, in words."""
    found = []
    for (event, standby), each in results.items():
        goal, where = GOALS[event][0 if standby else 1], f"{event} {'with' if standby else 'without'} standby"
        slow = sum(one.seconds > goal for one in each)
        if slow:
            found.append(f"{slow} of {len(each)} {where} took more than {goal:g} s")
        stale = sum(one.stale for one in each)
        if stale:
            found.append(f"{stale} stale commands were accepted: {where}")
    return found


def _row(cell: tuple[str, bool], each: list[Failover]) -> tuple[object, ...]:
    event, standby = cell
    times = [one.seconds for one in each]
    figures = [f"{value:.3f}" for value in (percentile(times, 0.5), percentile(times, 0.95), max(times))]
    stayed = sum(one.heard == NORTH for one in each)
    goal = GOALS[event][0 if standby else 1]
    met = "met" if max(times) <= goal else f"{sum(value > goal for value in times)} above"
    stale = sum(one.stale for one in each)
    return (EVENTS[event], "yes" if standby else "no", len(each), *figures, stayed, stale, f"{goal:g}: {met}")


def page(
    results: dict[tuple[str, bool], list[Failover]], options: argparse.Namespace, machine: str, seconds: float
) -> str:
    """The results page."""
    text = "# Two ground stations\n\nWritten by `tools/run chaos/run stations`. Three `pqcmav-tunneld` in network "
    text += (
        "namespaces: a drone that knows `north` and `south`, RTT 20 ms to both, `failover_after_s` 2.0 where nothing "
    )
    text += "else is said. The ground software of both speaks 100 times a second. Seconds from the event to the first "
    text += (
        "command of any station that arrives at the autopilot; *stays* counts runs in which the restarted station was "
    )
    text += "heard first; *stale* are commands of north that arrived after the first of south. "
    text += f"{options.jobs} series ran at once, {seconds / 60:.0f} minutes in all.\n\n*{machine}*\n\n"
    head = ("event", "standby", "runs", "p50", "p95", "worst", "stays", "stale", "goal")
    text += tables.markdown(head, [_row(cell, each) for cell, each in results.items()])
    found = problems(results)
    return text + f"\nVerdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n"
