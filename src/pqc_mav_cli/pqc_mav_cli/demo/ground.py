# SPDX-License-Identifier: Apache-2.0
"""The demo's ground client: flies the vehicle through the tunnel and tells its parent what it sees, a JSON line each.

    python3 -m pqc_mav_cli.demo.ground LISTEN TAKE_OFF_S LAND_S ALTITUDE_M

A process of its own, so that drawing the demo does not disturb what it measures. SIGUSR1: send nothing more and go on
listening; SIGINT: report and end. Lines: {"kind": "snapshot" | "step" | "summary", ...}.
"""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from pqc_mav_common.process import call_in_handler, stop_on_signals
from pqc_mav_sim.endpoint import EndpointError
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.modes import Result

UPLINK_HZ = 40.0  # every second message is a ping, whose answer makes a round trip through the tunnel
SNAPSHOT_S = 0.25
RETRY_S = 0.25


def emit(kind: str, **values: Any) -> None:
    """One line to the parent, in one piece: print() writes the line's end by itself, and other threads emit, too."""
    sys.stdout.write(json.dumps({"kind": kind, **values}) + "\n")
    sys.stdout.flush()


def attempt(name: str, call: Callable[[], int], stop: threading.Event) -> bool:
    """One command to the vehicle, repeated while the vehicle refuses for the time being. Emits the outcome."""
    result, asked = Result.TEMPORARILY_REJECTED, time.monotonic()
    try:
        while result == Result.TEMPORARILY_REJECTED and not stop.is_set():
            result = Result(call())
            if result == Result.TEMPORARILY_REJECTED:
                stop.wait(RETRY_S)
        answer = result.name
    except NoAnswerError as error:
        answer = str(error)
    ok = answer == Result.ACCEPTED.name
    emit("step", name=name, ok=ok, answer=answer, after_ms=round(1000 * (time.monotonic() - asked), 1))
    return ok


def fly(client: GroundClient, take_off_s: float, land_s: float, altitude_m: float, stop: threading.Event) -> None:
    """Arm and take off to an altitude above home, later land; times in seconds after the first heartbeat."""
    while not client.wait_for(lambda view: view.heartbeats, 0.25):
        if stop.is_set():
            return
    began = time.monotonic()
    stop.wait(take_off_s)
    if attempt("arm", client.arm, stop) and attempt("take off", lambda: client.takeoff(altitude_m), stop):
        stop.wait(max(0.0, began + land_s - time.monotonic()))
        attempt("land", client.land, stop)


def main() -> int:
    """Runs until SIGINT. Exit codes: 0 good, 2 the port cannot be used."""
    listen = sys.argv[1]
    take_off_s, land_s, altitude_m = map(float, sys.argv[2:])
    try:
        client = GroundClient(listen, uplink_hz=UPLINK_HZ, shared_clock=True)
    except EndpointError as error:
        print(error, file=sys.stderr)
        return 2
    stop = stop_on_signals()
    signal.signal(signal.SIGUSR1, lambda *_: call_in_handler(client.quiet))
    client.start()
    pilot = threading.Thread(target=fly, args=(client, take_off_s, land_s, altitude_m, stop), daemon=True)
    pilot.start()
    while not stop.wait(SNAPSHOT_S):
        emit("snapshot", values=client.snapshot())
    emit("summary", values=client.stop())
    return 0


if __name__ == "__main__":
    sys.exit(main())
