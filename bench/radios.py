#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tunnel does over simulated telemetry radios: connecting, commands, keys, a port that was gone.

``tools/run bench/radios.py [--runs 20] [--seconds 10] [--loss 0.05] [--jobs 4]``: in each run both ends connect; 226
messages a second are offered by the drone, and one command a second by the ground, which counts as answered if its
COMMAND_ACK is there within a second; a rekey and a ratchet; the drone's adapter is unplugged and plugged in again.
Other suites only connect.
Writes bench/results/radios.md; ``--output DIR`` writes elsewhere. The air is simulated (`pqcmav-sim-radio`).
"""

import argparse
import contextlib
import itertools
import math
import os
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import rig
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common import markdown, two_ends
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.frames import Frame
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES
from pqc_mav_sim.vehicle import Vehicle

RATE_HZ, ANSWER_S, PATIENCE_S = 226, 1.0, 180.0
RECENT = 1000  # messages, a few seconds of them
COMMAND_AT = 28  # where COMMAND_LONG has it
COMMAND = 40_000  # the first of the commands, which the vehicle does not know: it says so, and does nothing
DEFAULT = "ML-768-AG-MD-65"
SLOW = {"satellite": {"shape_kbit": 4}}  # nothing else tells the tunnel what such a service carries
CASES = (("sik", ":mavlink"), ("sik-raw", ""), ("rfd900x", ":mavlink"), ("elrs", ":mavlink"), ("satellite", ""))
SUITES = ("ML-512-AG-FA-512", "ML-512-AG-MD-44", DEFAULT, "ML-1024-AG-MD-87", "HQC-256-AG-SP-256s")
AROUND = 15  # bytes of the radio's own with each packet: preamble, network, length, checksum


@dataclass
class Run:
    """Figures of one run; times in ms."""

    connect: float
    answered: float = 0.0  # share of the commands, %
    messages: float = 0.0  # per second on the ground
    wait_p95: float = 0.0  # in the drone's radio
    wait_most: float = 0.0
    sealed: float = 0.0  # of the bytes that came through the air, the radios' own with them, %: packets of the tunnel
    useful: float = 0.0  # MAVLink that was delivered
    rekey: float = 0.0
    ratchet: float = 0.0
    replug: float = 0.0  # from the adapter's return to the next message on the ground


@dataclass
class Flight:
    """A pair of radios, and a tunnel over it that is up."""

    ports: RadioPorts
    gcs: Any
    drone: Any
    ground: socket.socket
    connect_ms: float
    into: mavlink.MAVLink = field(default_factory=lambda: mavlink.MAVLink(None))


@contextlib.contextmanager
def tunnel(profile: str, more: str, suite: str, loss: float, seed: int) -> Iterator[Flight]:
    """Both ends, connected."""
    terms = RadioTerms(PROFILES[profile], loss=loss, seed=seed)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        algorithm = pqc_mav_tunnel.find_suite(suite).sig_token
        pqc_mav_tunnel.init_keys(str(folder / "keys"), ["uav1"], [algorithm])
        ports = stack.enter_context(RadioPorts(terms, folder / "radio"))
        ground = stack.enter_context(rig.listening(0.01))
        here = two_ends.gcs_config(folder / "keys", {"uav1": ground.getsockname()[1]}, control_socket="off")
        here |= (slow := SLOW.get(profile, {}))
        here["drone"]["uav1"]["radio"] = f"serial:{ports.ground}:{terms.profile.baud}{more}"
        there = two_ends.drone_config(folder / "keys", "uav1", 46011, suite=suite, control_socket="off", **slow)
        gcs = rig.running(stack, here)
        drone = rig.running(stack, there | {"peer": f"serial:{ports.air[0]}:{terms.profile.baud}{more}"})
        begin = time.monotonic()
        events = (event for _ in itertools.count() for event in drone.wait_events(timeout_s=0.5))
        next(event for event in events if event["type"] == "handshake" and event["ok"])
        wait_until(lambda: gcs.status()[0]["state"] == "UP", PATIENCE_S)
        yield Flight(ports, gcs, drone, ground, 1e3 * (time.monotonic() - begin))


def connected(suite: str, options: argparse.Namespace, seed: int) -> float:
    """ms until both ends are up, over a SiK radio as it comes."""
    with tunnel("sik", ":mavlink", suite, options.loss, seed) as flight:
        return flight.connect_ms


def one(profile: str, more: str, options: argparse.Namespace, seed: int) -> Run:
    """All that is measured with the default suite."""
    with tunnel(profile, more, DEFAULT, options.loss, seed) as flight:
        run = fly(flight, options)
        run.rekey, run.ratchet = change_keys(flight, ""), change_keys(flight, "ratchet")
        run.replug = replug(flight)
        return run


def change_keys(flight: Flight, kind: str) -> float:
    """ms of the first try in five that succeeded, or NaN; the link is otherwise idle."""
    for _ in range(5):
        outcome = flight.drone.request_rekey("uav1", kind=kind, timeout_s=PATIENCE_S)
        if outcome["ok"]:
            return float(outcome["rekey_ms"])
    return math.nan


def replug(flight: Flight) -> float:
    """ms from the adapter's return until a message of the drone is on the ground."""
    plain = ("127.0.0.1", flight.drone.ports()["plain"]["uav1"])
    flight.ports.unplug(1)
    wait_until(lambda: not flight.drone.stats()[0]["endpoints"][-1]["good"], PATIENCE_S)
    with contextlib.suppress(TimeoutError):
        while flight.ground.recv(2048):
            continue
    flight.ports.plug(1)
    begin = time.monotonic()
    beat = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot:
        while time.monotonic() - begin < PATIENCE_S:
            autopilot.sendto(bytes(beat.heartbeat_encode(2, 12, 0, 0, 4).pack(beat)), plain)
            with contextlib.suppress(TimeoutError):
                flight.ground.recv(2048)
                return 1e3 * (time.monotonic() - begin)
    raise RuntimeError("nothing came")


@dataclass
class Ground:
    """What a ground station says and hears while a vehicle flies behind a tunnel."""

    sent: int = 0  # commands, one a second
    answered: int = 0  # within ANSWER_S
    took: list[float] = field(default_factory=list)  # from a command to its answer, s
    there: list[float] = field(default_factory=list)  # from a command to its arrival at the vehicle, s
    messages: int = 0
    stamped: int = 0  # of them, with the vehicle's time, so that no two are the same
    again: int = 0  # and of those, that had come before
    size: int = 0  # of all that came, bytes

    @property
    def twice(self) -> float:
        """Share of the messages that had come before."""
        return self.again / max(self.stamped, 1)

    def hear(self, vehicle: Vehicle, ground: socket.socket, to: tuple[str, int], seconds: int) -> Iterator[Any]:
        """Telemetry up, a command a second down; each message that comes until the last answer may be there.

        `to` is where the ground speaks to, until something comes from elsewhere.
        """
        recent: deque[bytes] = deque(maxlen=RECENT)
        out, into = mavlink.MAVLink(None, srcSystem=255, srcComponent=190), mavlink.MAVLink(None)
        into.robust_parsing = True
        reached = arrivals(vehicle)
        vehicle.start()
        asked: dict[int, float] = {}
        said: dict[int, float] = {}
        begin = time.monotonic()
        while (now := time.monotonic()) < begin + seconds + ANSWER_S:
            if self.sent < seconds and now >= begin + self.sent:
                asked[COMMAND + self.sent] = said[COMMAND + self.sent] = now
                command = out.command_long_encode(1, 1, COMMAND + self.sent, 0, 0, 0, 0, 0, 0, 0, 0)
                ground.sendto(bytes(command.pack(out)), to)
                ground.sendto(bytes(out.heartbeat_encode(6, 8, 0, 0, 4).pack(out)), to)
                self.sent += 1
            try:
                data, to = ground.recvfrom(2048)
            except TimeoutError:
                continue
            self.size += len(data)
            for message in into.parse_buffer(data) or ():
                self.messages += 1
                if "time_boot_ms" in message.fieldnames:
                    raw = bytes(message.get_msgbuf())
                    self.stamped += 1
                    self.again += raw in recent
                    recent.append(raw)
                if message.get_type() == "COMMAND_ACK" and message.command in asked:
                    self.took.append(time.monotonic() - asked.pop(message.command))
                    self.answered += self.took[-1] <= ANSWER_S
                yield message
        vehicle.stop()
        self.there = [reached[command] - at for command, at in said.items() if command in reached]


def arrivals(vehicle: Vehicle) -> dict[int, float]:
    """When each command came to a vehicle for the first time; filled while it flies."""
    found: dict[int, float] = {}
    receive = vehicle.autopilot.receive

    def noted(frame: Frame, at: float) -> None:
        if frame.msg_id == mavlink.MAVLINK_MSG_ID_COMMAND_LONG:
            found.setdefault(int.from_bytes(frame.payload[COMMAND_AT : COMMAND_AT + 2], "little"), at)
        receive(frame, at)

    vehicle.autopilot.receive = noted
    return found


def vehicle_of(drone: Any) -> Vehicle:
    """An autopilot at the drone's end."""
    own = resolve(f"127.0.0.1:{drone.ports()['plain']['uav1']}")
    return Vehicle(AutopilotConfig(rate_hz=RATE_HZ), any_port_towards(own), own)


def plain_of(gcs: Any) -> tuple[str, int]:
    """Where a ground station speaks to."""
    return "127.0.0.1", gcs.ports()["plain"]["uav1"]


def fly(flight: Flight, options: argparse.Namespace) -> Run:
    """What a flight's ground station hears, and what of the air that takes."""
    ports, gcs = flight.ports, flight.gcs
    before, lost, sealed = air_of(ports), lost_of(ports), gcs.stats()[0]["enc_rx_bytes"]
    ground, begin = Ground(), time.monotonic()
    for _ in ground.hear(vehicle_of(flight.drone), flight.ground, plain_of(gcs), options.seconds):
        pass
    sealed = gcs.stats()[0]["enc_rx_bytes"] - sealed
    radio = air_of(ports)
    packets, content = (radio[name] - before[name] for name in ("sent_packets", "sent_bytes"))
    through = max(1, (content + AROUND * packets) * (1 - (lost_of(ports) - lost) / max(packets, 1)))
    lasted = time.monotonic() - begin
    return Run(
        flight.connect_ms,
        100 * ground.answered / ground.sent,
        ground.messages / lasted,
        radio["wait"]["p95_us"] / 1e3,
        radio["wait"]["max_us"] / 1e3,
        100 * sealed / through,
        100 * ground.size / through,
    )


def air_of(ports: RadioPorts) -> dict[str, Any]:
    """The drone's radio."""
    drone: dict[str, Any] = list(ports.summary()["radios"].values())[1]
    return drone


def lost_of(ports: RadioPorts) -> int:
    """Air packets that did not come to the ground's radio."""
    return int(next(iter(ports.summary()["radios"].values()))["air_lost"])


def page(flights: dict[str, list[Run]], suites: dict[str, list[float]], options: argparse.Namespace) -> str:
    """The results as Markdown."""
    lines = [
        "# Over simulated telemetry radios",
        "",
        f"`tools/run bench/radios.py --runs {options.runs} --jobs {options.jobs}`; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[1]:.0f}. **Simulated**; {options.loss:.0%} of the time in bursts of 200 ms without air. "
        f"{RATE_HZ} messages/s up, one command/s down, {options.seconds} s. {options.runs} runs, 95 % interval, ms.",
        "",
    ]
    rows = []
    for name, runs in flights.items():
        connect = [run.connect for run in runs]
        cells = [f"{shown(connect)} ({max(connect):.0f})"]
        cells += [shown([getattr(run, key) for run in runs]) for key in ("answered", "wait_p95")]
        cells += [f"{max(run.wait_most for run in runs):.0f}"]
        figures = ("sealed", "useful", "rekey", "ratchet", "replug")
        cells += [shown([getattr(run, key) for run in runs]) for key in figures]
        rows.append((name, *cells))
    head = (
        *("ML-768, MD-65", "connected (longest)", "answered in 1 s, %", "radio wait p95", "longest"),
        *("sealed, %", "MAVLink, %", "rekey", "ratchet", "replug"),
    )
    lines += [
        markdown.table(head, rows),
        f"Sealed, MAVLink: the tunnel's packets at the gcs, and the messages in them, of what came through the air "
        f"with {AROUND} bytes of the radio's own a packet.",
        "",
        "Connected over sik, p95: "
        + ", ".join(f"{name} {sorted(times)[round(0.95 * (len(times) - 1))]:.0f}" for name, times in suites.items())
        + ".",
    ]
    return "\n".join([*lines, ""])


def shown(values: Sequence[float]) -> str:
    """A mean and the half of its interval, and how many failed."""
    good = [value for value in values if not math.isnan(value)]
    failed = f" ({len(values) - len(good)} failed)" if len(good) < len(values) else ""
    return f"{shown_mean(good, 0) if good else '-'}{failed}"


def main() -> int:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--loss", type=float, default=0.05)
    parser.add_argument("--jobs", type=int, default=4, help="runs at once; they wait most of the time")
    names = [case[0] for case in CASES]
    parser.add_argument("--profiles", nargs="+", choices=names, default=names)
    parser.add_argument("--output", type=Path, default=rig.RESULTS)
    options = parser.parse_args()
    seeds = range(1, options.runs + 1)
    with ProcessPoolExecutor(options.jobs) as pool:
        flying = {
            case: [pool.submit(one, *case, options, seed) for seed in seeds]
            for case in CASES
            if case[0] in options.profiles
        }
        joining = {suite: [pool.submit(connected, suite, options, seed) for seed in seeds] for suite in SUITES}
        flights = {}
        for case, runs in flying.items():
            name = ", ".join(
                [case[0], case[1] or "raw", *(f"{key} {value}" for key, value in SLOW.get(case[0], {}).items())]
            )
            flights[name] = [run.result() for run in runs]
            print(name, *flights[name], sep="\n", file=sys.stderr, flush=True)
        suites = {suite: [time.result() for time in times] for suite, times in joining.items()}
    rig.write_page(options.output / "radios.md", page(flights, suites, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
