# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a recording in which no policy ran: made from the sensors' and the proxy's topics, as the node would."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pqc_mav_policy.node_parameters import NodeParameters
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import Outcome
from pqc_mav_policy.telemetry.telemetry import Telemetry
from pqc_mav_policy_lab.recordings.replay import Recording, Snapshot
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.reader import RecordedMessage, RecordingReader

PERIOD_S = 1.0
_INTERFACES = "pqc_mav_interfaces/msg/"
_STREAMS: Mapping[str, str] = {
    f"{_INTERFACES}BatteryHealth": "battery",
    f"{_INTERFACES}ThermalState": "thermal",
    f"{_INTERFACES}VehicleState": "vehicle",
    f"{_INTERFACES}SystemLoad": "system",
    f"{_INTERFACES}ThreatReport": "threat",
}
_LINK = f"{_INTERFACES}LinkQuality"
_STATUS = f"{_INTERFACES}TunnelStatus"
_HANDSHAKE = f"{_INTERFACES}HandshakeReport"
# A latched status may have been taken long before it was received, and a link may be silent for a while, but times
# further than this from each other come from two clocks and say nothing about age.
OTHER_CLOCK_S = 600.0


def assemble(path: Path, namespace: str, available: Sequence[str], parameters: PolicyParameters) -> Recording:
    """One snapshot a second of the vehicle in `namespace`, from its first message to its last.

    `available` are the suites a strategy may choose; a recording does not tell them, nor which suite the proxy was
    configured with: the first one in use stands for it. Raises RecordingError when the vehicle's topics are not in it.
    """
    reader = RecordingReader(path)
    prefix = f"/{namespace.strip('/')}/".replace("//", "/")
    wanted = {*_STREAMS, _LINK, _STATUS, _HANDSHAKE}
    found = [message for message in reader.messages() if message.topic.type_name in wanted]
    messages = [message for message in found if message.topic.name.startswith(prefix)]
    if not any(message.topic.type_name in _STREAMS for message in messages):
        others = {
            message.topic.name.rpartition("/")[0] or "/" for message in found if message.topic.type_name in _STREAMS
        }
        there = f" It has some in {', '.join(sorted(others))} (--namespace)." if others else ""
        raise RecordingError(
            f"{path} contains no telemetry in namespace {prefix.rstrip('/') or '/'}, so nothing can be decided.{there}"
        )
    messages.sort(key=lambda message: message.log_ns)
    feed = _Feed(reader, parameters)
    snapshots = []
    begin_ns = messages[0].log_ns
    tick = 0
    for message in messages:
        at = (message.log_ns - begin_ns) / 1e9
        if at - tick * PERIOD_S > OTHER_CLOCK_S:  # the clock was set: no time went by
            at = tick * PERIOD_S
            begin_ns = message.log_ns - int(at * 1e9)
        while tick * PERIOD_S < at:
            snapshots.append(feed.snapshot(tick * PERIOD_S, available))
            tick += 1
        feed.take(message, at)
    snapshots.append(feed.snapshot(tick * PERIOD_S, available))
    return Recording(path, prefix.rstrip("/"), tuple(snapshots), reader.problem)


class _Feed:
    """Recorded messages into the same telemetry the node keeps."""

    def __init__(self, reader: RecordingReader, parameters: PolicyParameters) -> None:
        self._reader = reader
        self._telemetry = Telemetry(parameters.near_switch_s, NodeParameters().threat_timeout_s)
        self._outcomes: list[Outcome] = []
        self._suite = self._first = ""

    def take(self, message: RecordedMessage, at: float) -> None:
        decoded: Any = self._reader.decode(message)
        kind = message.topic.type_name
        if kind in _STREAMS:
            self._telemetry.on(_STREAMS[kind], decoded, at, getattr(decoded, "age_s", 0.0))
        elif kind == _LINK:
            self._telemetry.on_link(decoded, at)
        elif kind == _STATUS:
            self._suite = decoded.suite or self._suite
            self._first = self._first or self._suite
            self._telemetry.on_status(decoded, at, _age_s(message, decoded))
        elif decoded.rekey and not decoded.kind.startswith("ratchet"):
            text = "done" if decoded.ok else decoded.reason
            self._outcomes.append(Outcome(decoded.suite, bool(decoded.ok), at, self._suite, text, decoded.error))

    def snapshot(self, now: float, available: Sequence[str]) -> Snapshot:
        inputs = self._telemetry.snapshot(now, available, None, self._outcomes, self._first)
        self._outcomes.clear()
        return Snapshot(now, inputs, "", "", "", "", "", "")


def _age_s(message: RecordedMessage, decoded: Any) -> float:
    taken_s = decoded.header.stamp.sec + decoded.header.stamp.nanosec / 1e9
    age_s = message.log_ns / 1e9 - taken_s
    return float(age_s) if 0.0 <= age_s <= OTHER_CLOCK_S else 0.0
