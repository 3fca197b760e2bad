# SPDX-License-Identifier: Apache-2.0
"""What a demo showed, and the verdict. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pqc_mav_cli.wording import counted, short_code
from pqc_mav_proxy.names import DROP_REASONS

FLIGHT_STEPS = ("arm", "take off", "land")
ALTITUDE_TOLERANCE_M = 0.5


@dataclass(frozen=True)
class Direction:
    """MAVLink messages one way, counted at both applications. Latencies in microseconds, None when not measured."""

    sent: int
    received: int
    duplicates: int
    reordered: int
    bad: int
    rate_hz: float
    latency_us: Mapping[str, float | None]

    @property
    def lost(self) -> int:
        """Messages that were sent and never arrived."""
        return self.sent - (self.received - self.duplicates)


@dataclass(frozen=True)
class Handshake:
    """The handshake as the drone's proxy timed it, and what both ends spent on cryptography for it."""

    suite: str
    hybrid: bool
    handshake_ms: float
    primitives_ms: float
    bytes_sent: int
    bytes_received: int


@dataclass(frozen=True)
class Wire:
    """The encrypted side: datagrams by the proxies' own counters, bytes of UDP payload."""

    packets: int
    plain_bytes: int
    encrypted_bytes: int
    drops: Mapping[str, int]
    accounted: bool
    rtt_ms: float | None
    capture: Mapping[str, Any] | None  # None: not allowed to look
    capture_note: str = ""

    @property
    def overhead_per_packet(self) -> float:
        """Bytes the tunnel adds to a packet, its control frames included."""
        return (self.encrypted_bytes - self.plain_bytes) / self.packets if self.packets else math.nan


@dataclass(frozen=True)
class Check:
    """One line of the verdict; `ok` None = could not be checked, which does not fail the demo."""

    name: str
    ok: bool | None
    text: str


@dataclass(kw_only=True)
class FlightResult:
    """What the demo and its scenarios have in common: the messages, the flight, the end."""

    downlink: Direction | None = None
    uplink: Direction | None = None
    steps: Mapping[str, bool] = field(default_factory=dict)
    max_altitude_m: float = 0.0
    exit_codes: dict[str, int] = field(default_factory=dict)
    error: str = ""

    def take_reports(self, vehicle: Mapping[str, Any], ground: Mapping[str, Any], steps: Mapping[str, bool]) -> None:
        """From the final reports of the vehicle and the ground client, and the commands that were carried out."""
        self.steps = dict(steps)
        self.max_altitude_m = vehicle["max_altitude_m"]
        self.downlink = downlink(vehicle, ground)
        self.uplink = uplink(vehicle, ground)

    def missing_steps(self) -> str:
        """The commands that were not carried out; empty when all were."""
        return ", ".join(step for step in FLIGHT_STEPS if not self.steps.get(step))

    def shutdown_check(self) -> Check:
        """Whether every process ended as it should."""
        bad = [f"{label} ended with {code}" for label, code in self.exit_codes.items() if code != 0]
        if bad or not self.exit_codes:
            return Check("shutdown", False, ", ".join(bad) or "nothing was running")
        return Check("shutdown", True, "every process ended on request, keys removed")


@dataclass(kw_only=True)
class DemoResult(FlightResult):
    """Everything a demo found out; parts it did not get to are None."""

    duration_s: float = 0.0
    handshake: Handshake | None = None
    wire: Wire | None = None
    planned_altitude_m: float | None = None  # None: too short a flight to get anywhere

    @property
    def passed(self) -> bool:
        """Whether every check that could be made was good."""
        return not self.error and all(check.ok is not False for check in self.checks())

    def checks(self) -> list[Check]:
        """The verdict in lines."""
        return [
            self._handshake_check(),
            _direction_check("drone to ground", self.downlink),
            _direction_check("ground to drone", self.uplink),
            self._flight_check(),
            self._counters_check(),
            self._plaintext_check(),
            self.shutdown_check(),
        ]

    def _handshake_check(self) -> Check:
        made = self.handshake
        if made is None:
            return Check("handshake", False, "no session was established")
        kind = "with X25519" if made.hybrid else "pure"
        return Check("handshake", True, f"{short_code(made.suite)} ({kind}) in {made.handshake_ms:.1f} ms")

    def _flight_check(self) -> Check:
        if missing := self.missing_steps():
            return Check("commands", False, f"the vehicle did not {missing}")
        planned = self.planned_altitude_m
        if planned is not None and abs(self.max_altitude_m - planned) > ALTITUDE_TOLERANCE_M:
            return Check("commands", False, f"sent to {planned:.1f} m, the vehicle reached {self.max_altitude_m:.1f} m")
        return Check("commands", True, f"armed, flew to {self.max_altitude_m:.1f} m and landed as commanded")

    def _counters_check(self) -> Check:
        if self.wire is None:
            return Check("packets", False, "the proxies' counters never arrived")
        dropped = {name: count for name, count in self.wire.drops.items() if count}
        if dropped:
            return Check(
                "packets", False, "dropped: " + ", ".join(f"{count} {name}" for name, count in dropped.items())
            )
        if not self.wire.accounted:
            return Check(
                "packets", False, "received datagrams do not add up to those delivered, used for control and dropped"
            )
        return Check("packets", True, f"{self.wire.packets:,} encrypted datagrams, all accounted for, none dropped")

    def _plaintext_check(self) -> Check:
        name = "wire"
        capture = self.wire.capture if self.wire else None
        if capture is None:
            return Check(name, None, self.wire.capture_note if self.wire else "not checked")
        if capture["leaked"]:
            return Check(name, False, f"MAVLink in the clear on the encrypted port: {'; '.join(capture['examples'])}")
        if not capture["conclusive"]:
            return Check(name, None, "inconclusive: the capture saw nothing or missed packets")
        assert self.wire is not None
        if missing := capture["unseen_bytes"]:
            return Check(name, False, f"the proxies' counters and the wire differ by {counted(missing, 'byte')}")
        # A run of datagrams handed over with UDP GSO is one packet here, which is why there are fewer of these.
        packets = f"{self.wire.packets:,} datagrams in {capture['datagrams']:,} packets"
        return Check(name, True, f"{packets}, every byte checked, no MAVLink in the clear")

    def as_json(self) -> dict[str, Any]:
        """For scripts; NaN becomes null."""
        values = asdict(self)
        for name, direction in (("downlink", self.downlink), ("uplink", self.uplink)):
            if direction is not None:
                values[name]["lost"] = direction.lost
        if self.wire is not None:
            overhead = self.wire.overhead_per_packet
            values["wire"]["overhead_per_packet"] = None if math.isnan(overhead) else round(overhead, 2)
        values["checks"] = [asdict(check) for check in self.checks()]
        values["passed"] = self.passed
        return values


def _direction_check(name: str, direction: Direction | None) -> Check:
    if direction is None:
        return Check(name, False, "nothing was counted")
    flaws = [
        f"{count} {what}"
        for what, count in (
            ("lost", direction.lost),
            ("twice", direction.duplicates),
            ("damaged", direction.bad),
        )
        if count
    ]
    if flaws or not direction.sent:
        return Check(name, False, f"{direction.sent:,} sent: {', '.join(flaws) or 'nothing arrived'}")
    return Check(name, True, f"{direction.sent:,} sent, {direction.received:,} received, none lost, none twice")


def downlink(vehicle: Mapping[str, Any], ground: Mapping[str, Any]) -> Direction:
    """From the final reports of the vehicle and the ground client."""
    return Direction(
        sent=vehicle["sent"],
        received=ground["received"],
        duplicates=ground["duplicates"],
        reordered=ground["reordered"],
        bad=sum(ground["frame_errors"].values()),
        rate_hz=ground["rate_hz"],
        latency_us=ground["downlink_latency"] or {},
    )


def uplink(vehicle: Mapping[str, Any], ground: Mapping[str, Any]) -> Direction:
    """The other way."""
    sources = vehicle["uplink"].values()
    received = sum(source["received"] for source in sources)
    return Direction(
        sent=ground["sent"],
        received=received,
        duplicates=sum(source["duplicates"] for source in sources),
        reordered=sum(source["reordered"] for source in sources),
        bad=sum(vehicle["frame_errors"].values()),
        rate_hz=round(received / vehicle["elapsed_s"], 2) if vehicle["elapsed_s"] else 0.0,
        latency_us=vehicle["uplink_latency"] or {},
    )


@dataclass(frozen=True)
class Reading:
    """A proxy's TunnelStats, read between two system times (seconds)."""

    earliest_s: float
    latest_s: float
    stats: Any


def unseen(readings: Sequence[Reading], report: Any, port: int) -> int:
    """How many bytes that a proxy counted as sent from `port` a capture did not see, or saw too many; 0 = it saw all.

    What left while the counters were read may be in them or not. `report` is a CaptureReport; of several readings one
    that fits will do, because the counters only grow.
    """
    amiss: list[int] = []
    for reading in readings:
        sent = int(reading.stats.enc_tx_bytes)
        least, most = (report.bytes_until(port, time_s) for time_s in (reading.earliest_s, reading.latest_s))
        amiss.append(max(least - sent, sent - most, 0))
    return min(amiss)


PRIMITIVES = ("kem_keygen", "kem_encaps", "kem_decaps", "sig_sign", "sig_verify", "x25519", "kdf")


def handshake(report: Any, gcs_report: Any) -> Handshake:
    """From the HandshakeReport messages of the drone and the gcs."""
    primitives = [getattr(end, f"{name}_ms") for end in (report, gcs_report) for name in PRIMITIVES]
    return Handshake(
        suite=report.suite,
        hybrid=report.hybrid,
        handshake_ms=round(report.handshake_ms, 3),
        primitives_ms=round(sum(primitives), 3),
        bytes_sent=report.bytes_sent,
        bytes_received=report.bytes_received,
    )


def wire(drone: Any, gcs: Any, rtt_ms: float | None, capture: Mapping[str, Any] | None, note: str) -> Wire:
    """From the last TunnelStats of both ends and the capture's report."""
    ends = (drone, gcs)
    drops = {name: sum(int(getattr(end, f"drop_{name}")) for end in ends) for name in DROP_REASONS}
    accounted = all(
        end.enc_rx_packets
        == end.delivered + end.control + sum(int(getattr(end, f"drop_{name}")) for name in DROP_REASONS)
        for end in ends
    )
    known = rtt_ms is not None and not math.isnan(rtt_ms)
    return Wire(
        packets=sum(int(end.enc_tx_packets) for end in ends),
        plain_bytes=sum(int(end.plain_rx_bytes) for end in ends),
        encrypted_bytes=sum(int(end.enc_tx_bytes) for end in ends),
        drops=drops,
        accounted=accounted,
        rtt_ms=round(rtt_ms, 3) if known and rtt_ms is not None else None,
        capture=capture,
        capture_note=note,
    )
