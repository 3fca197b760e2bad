# SPDX-License-Identifier: Apache-2.0
"""The flight itself of a pair that is compared: vehicle and ground software, as JSON lines for the parent.

A process of its own, so that two flights at a time do not share an interpreter. No ROS: what a link does to the
messages is the engine's affair. Lines: {"kind": "up" | "sample" | "answer" | "step" | "parameters" | "summary", ...};
times are seconds after the ground first heard the vehicle.
"""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pqc_mav_tunnel
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_cli.demo.ground import emit
from pqc_mav_cli.demo.ground import fly as pilot
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import resolve
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.vehicle import Vehicle

HOST = "127.0.0.1"
TAKE_OFF_S, PARAMETERS_S, LANDING_S = 2.0, 8.0, 14.0  # after the first heartbeat; the landing before the end
ALTITUDE_M = 8.0
UP_LIMIT_S, ANSWER_LIMIT_S, PARAMETERS_LIMIT_S = 30.0, 10.0, 120.0
SAMPLE_S, ASK_S = 0.1, 1.0
SHOWN = "ALTITUDE"  # the value whose age is told: sent 10 times a second and more, with the vehicle's clock


def begin(stack: ExitStack, config: dict[str, Any]) -> Any:
    """An end of the tunnel, until the stack is closed."""
    end = pqc_mav_tunnel.Engine(config)
    end.start()
    stack.callback(end.stop)
    return end


def is_up(drone: Any, text: str) -> bool:
    """Waits for the drone's session, and says that it is there (`text`) or why it is not."""
    if not wait_until(lambda: drone.status()[0]["state"] == "UP", UP_LIMIT_S):
        print(f"No session within {UP_LIMIT_S:g} s: {drone.status()[0]['last_error']}", flush=True)
        return False
    emit("up", text=text)
    return True


def fly(stack: ExitStack, given: dict[str, Any], *, loads: bool, look: Callable[[], dict[str, Any]] = dict) -> int:
    """Flies once, from `plain_port` to `ground_port`. Exit codes: 0 flown, 1 the vehicle was not heard.

    Args:
        loads: also asks for all parameters.
        look: what else each sample has.
    """
    settings = AutopilotConfig(rate_hz=given["rate"], profile="client", altitude_m=ALTITUDE_M, shared_clock=True)
    client = stack.enter_context(GroundClient(f"{HOST}:{given['ground_port']}", shared_clock=True))
    vehicle = Vehicle(settings, resolve(f"{HOST}:0", passive=True), resolve(f"{HOST}:{given['plain_port']}"))
    stack.callback(vehicle.start().stop)
    if not client.wait_for(lambda view: view.heartbeats, UP_LIMIT_S):
        print(f"The ground heard no heartbeat within {UP_LIMIT_S:g} s.", flush=True)
        return 1
    began, stop = time.monotonic(), threading.Event()
    land_s = given["seconds"] - LANDING_S
    work: list[Callable[[], None]] = [
        lambda: pilot(client, TAKE_OFF_S, land_s, ALTITUDE_M, stop),
        lambda: _ask(client, began, stop),
    ]
    if loads:
        work.append(lambda: _load(client, began, stop))
    for each in work:
        threading.Thread(target=each, daemon=True).start()
    while (t := time.monotonic() - began) < given["seconds"]:
        _sample(client, vehicle, t, look())
        time.sleep(SAMPLE_S)
    stop.set()
    sent, heard = vehicle.telemetry_sent, client.snapshot()["received"]
    emit("summary", sent=sent, received=heard, seconds=round(time.monotonic() - began, 2))
    return 0


def _sample(client: GroundClient, vehicle: Vehicle, t: float, more: dict[str, Any]) -> None:
    """What the ground software shows now, and how high the vehicle really is."""
    newest = client.newest_us.get(SHOWN)
    age_s = None if newest is None else round(time.monotonic() - newest / 1e6, 3)
    emit(
        "sample",
        t=round(t, 2),
        age_s=age_s,
        altitude_m=client.view.relative_altitude_m,
        real_m=vehicle.snapshot()["altitude_m"],
        params=client.params_heard,
        received=client.snapshot()["received"],
        **more,
    )


def _ask(client: GroundClient, began: float, stop: threading.Event) -> None:
    """A command a second; how long until its answer, with the repetitions that ground software sends."""
    while not stop.is_set():
        asked = time.monotonic()
        after_ms = None
        try:
            client.command(
                mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, timeout=ANSWER_LIMIT_S
            )
            after_ms = round(1000 * (time.monotonic() - asked), 1)
        except NoAnswerError:
            pass
        if not stop.is_set():
            emit("answer", t=round(asked - began, 2), after_ms=after_ms)
        stop.wait(max(0.0, asked + ASK_S - time.monotonic()))


def _load(client: GroundClient, began: float, stop: threading.Event) -> None:
    stop.wait(PARAMETERS_S)
    asked = time.monotonic()
    try:
        count = len(client.fetch_params(PARAMETERS_LIMIT_S))
    except NoAnswerError:
        return
    if not stop.is_set():
        emit("parameters", t=round(asked - began, 2), count=count, after_s=round(time.monotonic() - asked, 2))
