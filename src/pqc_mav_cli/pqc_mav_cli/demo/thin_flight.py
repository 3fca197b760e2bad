# SPDX-License-Identifier: Apache-2.0
"""One flight over a thin link, as JSON lines for its parent: tunnel, vehicle, ground software and the link between.

python3 -m pqc_mav_cli.demo.thin_flight '{"shaped": true, "keys": ..., "data_port": ..., ...}'
"""

import json
import sys
from contextlib import ExitStack
from typing import Any

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_cli.demo.pair_flight import begin, fly, is_up
from pqc_mav_common.two_ends import drone_config, gcs_config
from pqc_mav_sim.impairment.relay import HOST, Relay

RATE_KBIT = 64
QUEUE_BYTES = 16_000
UDP_IP_BYTES = 28
LINK = {"rate_bit_s": RATE_KBIT * 1000, "queue_bytes": QUEUE_BYTES, "overhead_bytes": UDP_IP_BYTES}
SHAPED = {"shape_kbit": RATE_KBIT, "compact": True, "bundle_ms": 20}


def main() -> int:
    """Flies once. Exit codes: 0 flown, 1 the tunnel did not come up or the vehicle was not heard."""
    given = json.loads(sys.argv[1])
    with ExitStack() as stack:
        relay = Relay(given["data_port"]).start()
        stack.callback(relay.stop)
        relay.impair(LINK)
        _, drone = [begin(stack, config) for config in configurations(given, relay.port)]
        return fly(stack, given, loads=True) if is_up(drone, "session over the thin link") else 1


def configurations(given: dict[str, Any], air_port: int) -> list[dict[str, Any]]:
    """Both ends, the gcs first."""
    more = SHAPED if given["shaped"] else {"shape_kbit": 0}
    own = {"local_data_port": given["drone_data_port"], "plain_bind": f"{HOST}:{given['plain_port']}"}
    return [
        gcs_config(given["keys"], {DEMO_DRONE: given["ground_port"]}, data_port=given["data_port"], **more),
        drone_config(given["keys"], DEMO_DRONE, air_port, rekey_interval_s=0.0, **own, **more),
    ]


if __name__ == "__main__":
    sys.exit(main())
