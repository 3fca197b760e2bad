# SPDX-License-Identifier: Apache-2.0
"""`chaos/run transfers`: parameters and a mission through a thin link under full telemetry (needs root)."""

import argparse
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import air
import tables
from ends import DRONE_PLAIN, GCS_PLAIN, GROUND, HOST
from overload import FORMS, LINK
from pair import in_processes, in_the_air
from pymavlink.dialects.v20 import common as mavlink
from traffic import application_socket

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_sim.autopilot import HOME, AutopilotConfig
from pqc_mav_sim.endpoint import resolve
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.rates import DEFAULT_TOTAL_HZ
from pqc_mav_sim.vehicle import Vehicle

_FILL_S = 4.0  # until the queues are as full as they get
_LIMIT_S = 120.0
_AGAIN_S = 5.0
_WAYPOINTS = 10


@dataclass(frozen=True)
class Figures:
    """One run: seconds of each transfer, None where it did not end in time."""

    form: str
    parameters_s: float | None
    mission_s: float | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=5, help="of each form")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when every shaped transfer ended."""
    machine = tables.machine()
    tasks = [(form, options.seed + turn) for form in FORMS for turn in range(options.runs)]
    results = list(in_processes(measure, tasks, options.jobs))
    whole = {"machine": machine, "limit_s": _LIMIT_S, "results": [asdict(each) for each in results]}
    tables.publish(options.output, "transfers", page(results, machine, options), whole)
    return 0 if all(each.parameters_s and each.mission_s for each in results if FORMS[each.form]["shape_kbit"]) else 1


def measure(task: tuple[str, int]) -> Figures:
    """One run, in a process of its own: form, seed."""
    form, seed = task
    with air.Air(seed=seed) as network, ExitStack() as stack:
        in_the_air(stack, network, FORMS[form], {"rekey_interval_s": 0.0}).ground.close()  # another takes its port
        network.joint.impair(LINK)
        proxy = resolve(f"{HOST}:{DRONE_PLAIN}")
        settings = AutopilotConfig(rate_hz=DEFAULT_TOTAL_HZ, profile="client", seed=seed)
        vehicle = network["drone"].call(lambda: Vehicle(settings, resolve(f"{HOST}:0", passive=True), proxy))
        stack.callback(vehicle.start().stop)
        time.sleep(_FILL_S)
        with network["gcs"].call(lambda: GroundClient(f"{HOST}:{GROUND}")) as ground:
            ground.wait_for(lambda view: view.sysid, _LIMIT_S)
            parameters_s = fetch(ground)
        with network["gcs"].call(lambda: application_socket(GROUND)) as end:
            mission_s = upload(end)
        return Figures(form, parameters_s, mission_s)


def fetch(ground: GroundClient) -> float | None:
    """Seconds until all parameters are here."""
    begin = time.monotonic()
    try:
        ground.fetch_params(_LIMIT_S)
    except NoAnswerError:
        return None
    return time.monotonic() - begin


def upload(end: socket.socket) -> float | None:
    """Seconds until the vehicle has accepted ten waypoints; what is not answered is asked again."""
    mav = mavlink.MAVLink(None, srcSystem=255, srcComponent=mavlink.MAV_COMP_ID_MISSIONPLANNER)
    mav.robust_parsing = True

    def send(message: mavlink.MAVLink_message) -> None:
        end.sendto(message.pack(mav), (HOST, GCS_PLAIN))
        mav.seq = (mav.seq + 1) % 256

    count = mavlink.MAVLink_mission_count_message(1, mavlink.MAV_COMP_ID_AUTOPILOT1, _WAYPOINTS)
    begin = asked = time.monotonic()
    send(count)
    end.settimeout(0.2)
    while time.monotonic() - begin < _LIMIT_S:
        try:
            messages = mav.parse_buffer(end.recv(4096)) or []
        except TimeoutError:
            messages = []
        for message in messages:
            kind = message.get_type()
            if kind in ("MISSION_REQUEST_INT", "MISSION_REQUEST"):
                asked = time.monotonic()
                send(waypoint(message.seq))
            elif kind == "MISSION_ACK" and message.type == mavlink.MAV_MISSION_ACCEPTED:
                return time.monotonic() - begin
        if time.monotonic() - asked > _AGAIN_S:
            asked = time.monotonic()
            send(count)
    return None


def waypoint(number: int) -> mavlink.MAVLink_message:
    """Number `number` of a line to the north."""
    place = (round((HOME[0] + 1e-4 * number) * 1e7), round(HOME[1] * 1e7), 20.0)
    frame, command = mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, mavlink.MAV_CMD_NAV_WAYPOINT
    to = (1, mavlink.MAV_COMP_ID_AUTOPILOT1)
    return mavlink.MAVLink_mission_item_int_message(*to, number, frame, command, 0, 1, 0, 0, 0, 0, *place)


HEAD = ("datagrams leave", "runs", "parameters: done", "seconds", "mission: done", "seconds")


def page(results: Sequence[Figures], machine: str, options: argparse.Namespace) -> str:
    """The results page."""
    text = "# Parameters and a mission through a thin link\n\nWritten by `tools/run chaos/run transfers --runs "
    text += (
        f"{options.runs}`, over the laboratory's link: {LINK['rate_bit_s'] // 1000} kbit/s of IP packets each way, a "
        f"queue of {LINK['queue_bytes'] / 1000:g} kB. The simulated vehicle sends its {DEFAULT_TOTAL_HZ:g} messages/s "
        f"of telemetry all the time; the ground downloads its parameters, then uploads {_WAYPOINTS} waypoints. Limit "
        f"{_LIMIT_S:g} s. Mean of what ended with its 95 % interval. {options.jobs} runs at a time.\n\n*{machine}*\n\n"
    )
    rows = []
    for form in FORMS:
        each = [one for one in results if one.form == form]
        cells: list[object] = [form, len(each)]
        for seconds in ([one.parameters_s for one in each], [one.mission_s for one in each]):
            done = [value for value in seconds if value is not None]
            cells += [f"{len(done)}/{len(each)}", shown_mean(done, 1) if done else "-"]
        rows.append(tuple(cells))
    return text + tables.markdown(HEAD, rows)
