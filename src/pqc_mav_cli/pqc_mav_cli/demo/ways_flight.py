# SPDX-License-Identifier: Apache-2.0
"""One flight by LTE, by a simulated SiK radio or by both as paths of one session, as JSON lines for its parent.

    python3 -m pqc_mav_cli.demo.ways_flight '{"paths": ["lte", "radio"], "keys": ..., "plain_port": ..., ...}'

Besides the lines of every flight there is {"kind": "paths", ...} at the end: handshakes and what went by each path.
"""

import json
import sys
import threading
from contextlib import ExitStack
from typing import Any

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_cli.demo.ground import emit
from pqc_mav_cli.demo.pair_flight import HOST, begin, fly, is_up
from pqc_mav_common.two_ends import drone_config, gcs_config
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES

PROFILE = PROFILES["sik"]
RADIO_LOSS, RADIO_FADE = 0.05, 0.9
LTE = {"delay_ms": 30.0, "loss": 0.01}
# When a way is bad, seconds of the flight.
LTE_OUT = ((6.0, 9.0), (16.0, 21.0), (37.0, 40.0))
RADIO_FADES = ((27.0, 32.0),)


def main() -> int:
    """Flies once. Exit codes: 0 flown, 1 the tunnel did not come up or the vehicle was not heard."""
    given = json.loads(sys.argv[1])
    with ExitStack() as stack:
        ports = stack.enter_context(RadioPorts(RadioTerms(PROFILE, loss=RADIO_LOSS)))
        gcs = begin(stack, ground_end(given, ports.ground))
        lte = Relay(gcs.ports()["data"]).start()
        stack.callback(lte.stop)
        lte.impair(LTE)
        drone = begin(stack, air_end(given, lte.port, ports.air[0]))
        if not is_up(drone, "session"):
            return 1
        weather = Weather(lte, ports)
        stack.callback(weather.end)

        def look() -> dict[str, Any]:
            weather.begin()
            return {"path": _in_use(drone)}

        flown = fly(stack, given, loads=False, look=look)
        status = drone.status()[0]
        emit(
            "paths",
            handshakes=status["handshakes_ok"],
            sent={each["name"]: each["tx_bytes"] for each in status["paths"]},
        )
        return flown


def ground_end(given: dict[str, Any], radio: str) -> dict[str, Any]:
    """The configuration of the gcs."""
    out = gcs_config(given["keys"], {DEMO_DRONE: given["ground_port"]}, data_port=given["data_port"])
    out["drone"][DEMO_DRONE]["radio"] = f"serial:{radio}:{PROFILE.baud}:mavlink"
    return out


def air_end(given: dict[str, Any], lte_port: int, radio: str) -> dict[str, Any]:
    """That of the drone, with the paths of this flight."""
    path = {
        "lte": {"via": HOST, "peer": f"{HOST}:{lte_port}"},
        "radio": {"via": f"serial:{radio}:{PROFILE.baud}:mavlink"},
    }
    own = {"local_data_port": given["drone_data_port"], "plain_bind": f"{HOST}:{given['plain_port']}"}
    drone = drone_config(given["keys"], DEMO_DRONE, given["data_port"], rekey_interval_s=0.0, **own)
    return drone | {"paths": given["paths"], "path": {name: path[name] for name in given["paths"]}}


def _in_use(drone: Any) -> str:
    return next((each["name"] for each in drone.status()[0]["paths"] if each["state"] == "best"), "")


class Weather:
    """What happens to the two ways in a flight, from `begin` on."""

    def __init__(self, lte: Relay, radio: RadioPorts) -> None:
        self._lte, self._radio, self._over = lte, radio, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        edges = [(at, "lte", 1.0 - number) for times in LTE_OUT for number, at in enumerate(times)]
        edges += [(at, "radio", RADIO_FADE * (1 - number)) for times in RADIO_FADES for number, at in enumerate(times)]
        self._edges = sorted(edges)

    def begin(self) -> None:
        """Does nothing when it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def end(self) -> None:
        """Nothing happens any more."""
        self._over.set()

    def _run(self) -> None:
        passed = 0.0
        for at, way, share in self._edges:
            if self._over.wait(at - passed):
                return
            passed = at
            if way == "lte":
                self._lte.impair({"down": share > 0})
            for number in (0, 1) if way == "radio" else ():
                self._radio.fade(number, share)


if __name__ == "__main__":
    sys.exit(main())
