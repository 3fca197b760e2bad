# SPDX-License-Identifier: Apache-2.0
"""The MAVLink workload: the simulated vehicle on the drone's side, the ground client on the other.

Both come from pqc_mav_sim: real messages with valid checksums, at exact rates. Pings inside the uplink give round
trips; time stamps inside the messages give one-way delays where both ends read one clock.
"""

import time
from typing import Any

from pqc_mav_bench.workload.spec import EndSpec
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.ground_client import GroundClient
from pqc_mav_sim.vehicle import Vehicle

GROUND_HEARTBEAT_HZ = 1.0
QUIET_S = 2.0
SETTLED_S = 0.02


def _milliseconds(figures: dict[str, Any] | None) -> dict[str, Any]:
    """The simulator's latency figures, which are in microseconds."""
    figures = figures or {"count": 0}
    out: dict[str, Any] = {"count": figures["count"]}
    for name in ("mean", "p50", "p95", "p99", "max"):
        value = figures.get(f"{name}_us")
        out[f"{name}_ms"] = None if value is None else value / 1000.0
    return {**out, "classes": figures.get("classes", {})}


class _End:
    """What both have in common."""

    def __init__(self, application: Vehicle | GroundClient) -> None:
        self._application = application

    def start(self) -> None:
        """Begins: the vehicle to send, the ground client to listen; that sends as soon as the vehicle is heard."""
        self._application.start()

    @property
    def sent(self) -> int:
        """Messages so far; those of the vehicle grow until `stop`."""
        return int(self._application.snapshot()["sent"])

    @property
    def received(self) -> int:
        """Messages so far."""
        return int(self._application.snapshot()["received"])


class VehicleEnd(_End):
    """The drone's end. Raises ValueError for a rate out of range and for an address that does not resolve."""

    def __init__(self, spec: EndSpec) -> None:
        peer = resolve(spec.address)
        config = AutopilotConfig(rate_hz=spec.workload.messages_per_s, profile="auto", shared_clock=spec.shared_clock)
        super().__init__(Vehicle(config, any_port_towards(peer), peer))

    def quiet(self) -> None:
        """The vehicle falls silent with `stop`; until then it answers."""

    def stop(self) -> dict[str, Any]:
        """Ends it. Everything counted, ready for JSON."""
        seen = self._application.stop()
        uplink = list(seen["uplink"].values())
        return {
            "kind": "mavlink",
            "simulated": True,
            "sent": seen["sent"],
            "sent_bytes": seen["bytes_sent"],
            "sent_s": seen["elapsed_s"],
            "sent_by_type": seen["sent_by_type"],
            "send_failed": seen["send_failed"],
            "skipped": seen["telemetry_skipped"],
            "received": sum(stats["received"] - stats["duplicates"] for stats in uplink),
            "received_by_type": seen["received_by_type"],
            "sequence_gaps": sum(stats["lost"] for stats in uplink),
            "duplicates": sum(stats["duplicates"] for stats in uplink),
            "reordered": sum(stats["reordered"] for stats in uplink),
            "crc_errors": seen["frame_errors"].get("bad_crc", 0),
            "max_gap": max((stats["max_gap"] for stats in uplink), default=0),
            "owd": _milliseconds(seen["uplink_latency"]),
        }


class GroundEnd(_End):
    """The ground's end. Raises ValueError for a rate out of range or an address that cannot be bound."""

    def __init__(self, spec: EndSpec) -> None:
        uplink_hz = spec.workload.messages_per_s - GROUND_HEARTBEAT_HZ
        self._client = GroundClient(spec.address, uplink_hz=uplink_hz, shared_clock=spec.shared_clock)
        super().__init__(self._client)

    def quiet(self) -> None:
        """Sends no more, goes on listening. Returns when what was being sent is counted."""
        self._client.quiet()
        deadline = time.monotonic() + QUIET_S
        last, since = self.sent, time.monotonic()
        while time.monotonic() - since < SETTLED_S and time.monotonic() < deadline:
            time.sleep(SETTLED_S / 4)
            if self.sent != last:
                last, since = self.sent, time.monotonic()

    def stop(self) -> dict[str, Any]:
        """Ends it. Everything counted, ready for JSON."""
        seen = self._client.stop()
        sources = list(seen["sources"].values())
        return {
            "kind": "mavlink",
            "sent": seen["sent"],
            "sent_s": seen["elapsed_s"],
            "sent_by_type": seen["sent_by_type"],
            "send_failed": seen["send_failed"],
            "skipped": seen["uplink_skipped"],
            "received": sum(stats["received"] - stats["duplicates"] for stats in sources),
            "received_bytes": seen["bytes_received"],
            "received_by_type": seen["received_by_type"],
            "heartbeats": seen["vehicle"]["heartbeats"],
            "sequence_gaps": seen["lost"],
            "duplicates": seen["duplicates"],
            "reordered": seen["reordered"],
            "crc_errors": seen["crc_errors"],
            "max_gap": max((stats["max_gap"] for stats in sources), default=0),
            "longest_silence_ms": seen["longest_silence_ms"],
            "owd": _milliseconds(seen["downlink_latency"]),
            "rtt": _milliseconds(seen["ping_rtt"]),
        }
