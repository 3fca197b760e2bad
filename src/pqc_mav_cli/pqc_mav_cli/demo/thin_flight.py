# SPDX-License-Identifier: Apache-2.0
"""One flight over a thin link, as JSON lines for its parent: tunnel, vehicle, ground software and the link between.

    python3 -m pqc_mav_cli.demo.thin_flight '{"shaped": true, "keys": ..., "data_port": ..., ...}'

A process of its own, so that two flights at a time do not share an interpreter. No ROS: what a thin link does to the
packets is the engine's affair. Lines: {"kind": "up" | "sample" | "answer" | "step" | "parameters" | "summary", ...};
times are seconds after the ground first heard the vehicle.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pqc_mav_tunnel
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_cli.demo.ground import attempt, emit
from pqc_mav_common.two_ends import drone_config, gcs_config
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import resolve
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.impairment.relay import HOST, Relay
from pqc_mav_sim.vehicle import Vehicle

RATE_KBIT = 64
QUEUE_BYTES = 16_000
UDP_IP_BYTES = 28
LINK = {"rate_bit_s": RATE_KBIT * 1000, "queue_bytes": QUEUE_BYTES, "overhead_bytes": UDP_IP_BYTES}
SHAPED = {"shape_kbit": RATE_KBIT, "compact": True, "bundle_ms": 20}
TAKE_OFF_S, PARAMETERS_S, LANDING_S = 2.0, 8.0, 14.0  # after the first heartbeat; the landing before the end
ALTITUDE_M = 8.0
UP_LIMIT_S, ANSWER_LIMIT_S, PARAMETERS_LIMIT_S = 30.0, 10.0, 120.0
SAMPLE_S, ASK_S = 0.1, 1.0
SHOWN = "ALTITUDE"  # the value whose age is told: sent 10 times a second and more, with the vehicle's clock


def main() -> int:
    """Flies once. Exit codes: 0 flown, 1 the tunnel did not come up or the vehicle was not heard."""
    given = json.loads(sys.argv[1])
    with ExitStack() as stack:
        relay = Relay(given["data_port"]).start()
        stack.callback(relay.stop)
        relay.impair(LINK)
        ends = [pqc_mav_tunnel.Engine(config) for config in configurations(given, relay.port)]
        for end in ends:
            end.start()
            stack.callback(end.stop)
        if not wait_until(lambda: ends[1].status()[0]["state"] == "UP", UP_LIMIT_S):
            print(f"No session within {UP_LIMIT_S:g} s: {ends[1].status()[0]['last_error']}", flush=True)
            return 1
        emit("up", text="session over the thin link")
        return _fly(stack, given)


def configurations(given: dict[str, Any], air_port: int) -> list[dict[str, Any]]:
    """Both ends, the gcs first."""
    more = SHAPED if given["shaped"] else {"shape_kbit": 0}
    own = {"local_data_port": given["drone_data_port"], "plain_bind": f"{HOST}:{given['plain_port']}"}
    return [
        gcs_config(given["keys"], {DEMO_DRONE: given["ground_port"]}, data_port=given["data_port"], **more),
        drone_config(given["keys"], DEMO_DRONE, air_port, rekey_interval_s=0.0, **own, **more),
    ]


def _fly(stack: ExitStack, given: dict[str, Any]) -> int:
    settings = AutopilotConfig(rate_hz=given["rate"], profile="client", altitude_m=ALTITUDE_M, shared_clock=True)
    client = stack.enter_context(GroundClient(f"{HOST}:{given['ground_port']}", shared_clock=True))
    vehicle = Vehicle(settings, resolve(f"{HOST}:0", passive=True), resolve(f"{HOST}:{given['plain_port']}"))
    stack.callback(vehicle.start().stop)
    if not client.wait_for(lambda view: view.heartbeats, UP_LIMIT_S):
        print(f"The ground heard no heartbeat within {UP_LIMIT_S:g} s.", flush=True)
        return 1
    began, stop = time.monotonic(), threading.Event()
    land_s = given["seconds"] - LANDING_S
    work: tuple[Callable[[], None], ...] = (
        lambda: _pilot(client, began, land_s, stop),
        lambda: _ask(client, began, stop),
        lambda: _load(client, began, stop),
    )
    for each in work:
        threading.Thread(target=each, daemon=True).start()
    while (t := time.monotonic() - began) < given["seconds"]:
        _sample(client, vehicle, t)
        time.sleep(SAMPLE_S)
    stop.set()
    sent, heard = vehicle.telemetry_sent, client.snapshot()["received"]
    emit("summary", sent=sent, received=heard, seconds=round(time.monotonic() - began, 2))
    return 0


def _sample(client: GroundClient, vehicle: Vehicle, t: float) -> None:
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
    )


def _pilot(client: GroundClient, began: float, land_s: float, stop: threading.Event) -> None:
    stop.wait(TAKE_OFF_S)
    if attempt("arm", client.arm, stop) and attempt("take off", lambda: client.takeoff(ALTITUDE_M), stop):
        stop.wait(max(0.0, began + land_s - time.monotonic()))
        attempt("land", client.land, stop)


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


if __name__ == "__main__":
    sys.exit(main())
