# SPDX-License-Identifier: Apache-2.0
"""One flight over a pair of simulated SiK radios, sealed or in the clear, as JSON lines for its parent.

    python3 -m pqc_mav_cli.demo.radio_flight '{"sealed": true, "keys": ..., "plain_port": ..., ...}'

Besides the lines of every flight there is {"kind": "radios", ...} at the end: the counters of the radios and the air.
"""

import json
import sys
from contextlib import ExitStack
from typing import Any

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_cli.demo.ground import emit
from pqc_mav_cli.demo.pair_flight import HOST, begin, fly, is_up
from pqc_mav_cli.demo.radio_way import ClearWay
from pqc_mav_common.two_ends import drone_config, gcs_config
from pqc_mav_sim.frames import parse_datagram
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES

PROFILE = PROFILES["sik"]
LOSS, BURST_MS = 0.05, 200.0
VEHICLE = 1


class Listener:
    """Somebody near with a radio of the same kind: what of the vehicle's messages can be read in the air."""

    def __init__(self) -> None:
        self.read = 0

    def hear(self, packet: bytes) -> None:
        """A packet in the air."""
        self.read += sum(frame.sysid == VEHICLE for frame in parse_datagram(packet).frames)


def main() -> int:
    """Flies once. Exit codes: 0 flown, 1 the tunnel did not come up or the vehicle was not heard."""
    given = json.loads(sys.argv[1])
    listener = Listener()
    with ExitStack() as stack:
        terms = RadioTerms(PROFILE, loss=LOSS, burst_ms=BURST_MS)
        ports = stack.enter_context(RadioPorts(terms, listener=listener.hear))
        if given["sealed"]:
            _, drone = [begin(stack, config) for config in configurations(given, ports.ground, ports.air[0])]
            if not is_up(drone, "session over the radios"):
                return 1
        else:
            stack.enter_context(ClearWay(ports.air[0], PROFILE.baud, listen=given["plain_port"]))
            stack.enter_context(ClearWay(ports.ground, PROFILE.baud, peer=given["ground_port"]))
        before = _air(ports)
        flown = fly(
            stack,
            given,
            loads=False,
            look=lambda: {"waiting": _of_drone(ports)["waiting"], "read": listener.read},
        )
        used = _air(ports)
        emit(
            "radios",
            air_s=used - before,
            sent_bytes=_of_drone(ports)["sent_bytes"],
            read=listener.read,
            wait=_of_drone(ports)["wait"],
            overflowed=sum(each["overflowed"] for each in _radios(ports)),
            air_lost=sum(each["air_lost"] for each in _radios(ports)),
            sent_packets=sum(each["sent_packets"] for each in _radios(ports)),
        )
        return flown


def configurations(given: dict[str, Any], ground: str, air: str) -> list[dict[str, Any]]:
    """Both ends, the gcs first."""
    gcs = gcs_config(given["keys"], {DEMO_DRONE: given["ground_port"]}, data_port=given["data_port"])
    gcs["drone"][DEMO_DRONE]["radio"] = f"serial:{ground}:{PROFILE.baud}:mavlink"
    own = {"local_data_port": given["drone_data_port"], "plain_bind": f"{HOST}:{given['plain_port']}"}
    drone = drone_config(given["keys"], DEMO_DRONE, given["data_port"], rekey_interval_s=0.0, **own)
    return [gcs, drone | {"peer": f"serial:{air}:{PROFILE.baud}:mavlink"}]


def _radios(ports: RadioPorts) -> list[dict[str, Any]]:
    return list(ports.summary()["radios"].values())


def _of_drone(ports: RadioPorts) -> dict[str, Any]:
    return _radios(ports)[1]


def _air(ports: RadioPorts) -> float:
    """Seconds in which the air carried bytes."""
    counts: list[tuple[int, int]] = [(each["sent_packets"], each["sent_bytes"]) for each in _radios(ports)]
    return sum(packets * PROFILE.flight_s(0) + size * PROFILE.byte_s for packets, size in counts)


if __name__ == "__main__":
    sys.exit(main())
