# SPDX-License-Identifier: Apache-2.0
"""A minimal ground station on a UDP port: it listens, sends its heartbeat and an optional load, and judges the link.

Used by the demo and by tests. The first sender of a valid frame becomes the peer, and answers go to where its datagrams
come from, as QGroundControl does it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.endpoint import Endpoint, resolve
from pqc_mav_sim.frames import Decoder, Frame
from pqc_mav_sim.latency import LatencyHistogram
from pqc_mav_sim.loss_meter import LossMeter
from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.udp_link import UdpLink
from pqc_mav_sim.uplink import UplinkSchedule
from pqc_mav_sim.vehicle_view import VehicleView, param_value, stamp_us

AUTOPILOT = mavlink.MAV_COMP_ID_AUTOPILOT1
ACK_WAIT_S = 1.0
COMMAND_TRIES = 5
MAX_SENDERS = 64
_MAX_WAIT_S = 0.1
_DECODED = VehicleView.DECODED | {
    mavlink.MAVLINK_MSG_ID_COMMAND_ACK,
    mavlink.MAVLINK_MSG_ID_PARAM_VALUE,
    mavlink.MAVLINK_MSG_ID_PING,
}


class NoAnswerError(TimeoutError):
    """The vehicle did not answer in time."""


class GroundClient:
    """Listen on `bind` (host:port or an Endpoint; port 0 is any). Use as a context manager, or `start` and `stop`.

    Args:
        uplink_hz: messages/s sent to the vehicle besides the heartbeat.
        shared_clock: the vehicle runs on this host, so its time stamps give one-way latencies.

    Raises EndpointError when the port cannot be used and ValueError for an uplink rate out of range.
    """

    def __init__(
        self,
        bind: Endpoint | str = "127.0.0.1:14550",
        *,
        uplink_hz: float = 0.0,
        sysid: int = 255,
        compid: int = mavlink.MAV_COMP_ID_MISSIONPLANNER,
        shared_clock: bool = False,
    ) -> None:
        self.started = time.monotonic()
        self._uplink = UplinkSchedule(uplink_hz, self.started)
        self.link = UdpLink(resolve(bind, passive=True) if isinstance(bind, str) else bind)
        self.view = VehicleView()
        self.shared_clock = shared_clock
        self.newest_us: dict[str, int] = {}  # the vehicle's clock at the newest value shown, by message (shared clock)
        self._mav = mavlink.MAVLink(None, srcSystem=sysid, srcComponent=compid)
        self._decoder = Decoder()
        self._meters: dict[tuple[int, int], LossMeter] = {}
        self._received: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._latency = LatencyHistogram()
        self._rtt = LatencyHistogram()
        self._acks: dict[int, int] = {}
        self._params: dict[str, float] = {}
        self._param_indices: set[int] = set()
        self._param_count: int | None = None
        self._param_at = 0.0
        self._last_arrival = 0.0
        self._first_arrival: float | None = None
        self._longest_silence = 0.0
        self._next_heartbeat = self.started
        self._ping_seq = 0
        self._stop = threading.Event()
        self._quiet = threading.Event()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    # life

    def start(self) -> GroundClient:
        """Begin to listen in a background thread."""
        self._thread = threading.Thread(target=self._run, name="ground", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> dict[str, Any]:
        """End the thread, close the port and return the final snapshot."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.link.close()
        return self.snapshot()

    def quiet(self) -> None:
        """Send nothing more unasked, not even heartbeats, and go on listening.

        Once everything on its way has arrived, the other end has counted all that was sent.
        """
        self._quiet.set()

    def __enter__(self) -> GroundClient:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stop.is_set():
            deadlines = (self._next_heartbeat, self._uplink.next_deadline())
            wake = min(d for d in deadlines if d is not None)
            silent = self._quiet.is_set()
            readable = self.link.wait(_MAX_WAIT_S if silent else min(wake - time.monotonic(), _MAX_WAIT_S))
            with self._changed:
                if readable:
                    self._receive()
                if not silent:
                    self._send_due(time.monotonic())
                self._changed.notify_all()

    # sending

    def _send(self, message: Message) -> None:
        if self.link.send(message.pack(self._mav)):
            self._mav.seq = (self._mav.seq + 1) % 256
            self._sent[message.get_type()] += 1

    def _send_due(self, now: float) -> None:
        if now >= self._next_heartbeat:
            self._next_heartbeat = max(self._next_heartbeat + 1.0, now)
            self._send(
                mavlink.MAVLink_heartbeat_message(
                    mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, mavlink.MAV_STATE_ACTIVE, 3
                )
            )
        due = self._uplink.due(now)
        if not self.link.has_peer:
            return
        for is_ping in due:
            self._send(self._ping() if is_ping else self._neutral_sticks())

    def _ping(self) -> Message:
        self._ping_seq = (self._ping_seq + 1) & 0xFFFFFFFF
        return mavlink.MAVLink_ping_message(int(time.monotonic() * 1e6), self._ping_seq, 0, 0)

    def _neutral_sticks(self) -> Message:
        return mavlink.MAVLink_manual_control_message(self.view.sysid or 1, 0, 0, 500, 0, 0)

    # receiving

    def _receive(self) -> None:
        for parsed in self.link.receive(time.monotonic()):
            now = time.monotonic()
            for frame in (*parsed.frames, *parsed.unknown):
                self._count(frame, now)
            for frame in parsed.frames:
                if frame.msg_id in _DECODED:
                    self._decode(frame, now)

    def _count(self, frame: Frame, now: float) -> None:
        if self._first_arrival is None:
            self._first_arrival = self._last_arrival = now
        self._longest_silence = max(self._longest_silence, now - self._last_arrival)
        self._last_arrival = now
        self._received[frame.name] += 1
        source = (frame.sysid, frame.compid)
        meter = self._meters.get(source)
        if meter is None:
            if len(self._meters) >= MAX_SENDERS:
                return
            meter = self._meters[source] = LossMeter()
        meter.record(frame.seq, now)
        if self.shared_clock and (stamp := stamp_us(frame)) is not None:
            self._latency.add(now * 1e6 - stamp)
            self.newest_us[frame.name] = stamp

    def _decode(self, frame: Frame, now: float) -> None:
        try:
            msg = self._decoder.decode(frame)
        except mavlink.MAVError:
            return
        if frame.msg_id == mavlink.MAVLINK_MSG_ID_PING:
            if msg.target_system == self._mav.srcSystem:
                self._rtt.add(now * 1e6 - msg.time_usec)
        elif frame.compid == AUTOPILOT:
            if frame.msg_id == mavlink.MAVLINK_MSG_ID_COMMAND_ACK:
                self._acks[msg.command] = msg.result
            elif frame.msg_id == mavlink.MAVLINK_MSG_ID_PARAM_VALUE:
                self._take_param(frame, msg, now)
            else:
                self.view.update(msg)

    def _take_param(self, frame: Frame, msg: Message, now: float) -> None:
        self._params[msg.param_id] = param_value(frame, msg.param_type)
        if msg.param_index < msg.param_count:
            self._param_indices.add(msg.param_index)
            self._param_count = msg.param_count
        self._param_at = now

    # talking to the vehicle

    def wait_for(self, condition: Callable[[VehicleView], object], timeout: float = 10.0) -> bool:
        """Wait until condition(view) is true; return whether it became true within timeout seconds."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: condition(self.view), timeout))

    def command(self, command: int, *params: float, timeout: float = 10.0) -> int:
        """Send a COMMAND_LONG and return its MAV_RESULT; it is repeated while no answer comes.

        Raises NoAnswerError when none comes within timeout seconds.
        """
        values = (*params, *([0.0] * 7))[:7]
        end = time.monotonic() + timeout
        with self._changed:
            self._acks.pop(command, None)
            for confirmation in range(COMMAND_TRIES):
                target = self.view.sysid or 1
                self._send(mavlink.MAVLink_command_long_message(target, AUTOPILOT, command, confirmation, *values))
                wait = min(ACK_WAIT_S, end - time.monotonic())
                if wait <= 0.0 or self._changed.wait_for(lambda: command in self._acks, wait):
                    break
            self._changed.wait_for(lambda: command in self._acks, max(0.0, end - time.monotonic()))
            if command not in self._acks:
                raise NoAnswerError(f"no answer to command {command} within {timeout:g} s")
            return self._acks[command]

    def arm(self, timeout: float = 10.0) -> int:
        """Ask the vehicle to arm; return the MAV_RESULT. Raises NoAnswerError."""
        return self.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1.0, timeout=timeout)

    def disarm(self, timeout: float = 10.0) -> int:
        """Ask the vehicle to disarm; return the MAV_RESULT. Raises NoAnswerError."""
        return self.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0.0, timeout=timeout)

    def takeoff(self, altitude_m: float | None = None, timeout: float = 10.0) -> int:
        """Ask the vehicle to take off to an altitude above its home; return the MAV_RESULT. Raises NoAnswerError.

        None leaves the altitude to the vehicle. In a COMMAND_LONG an altitude counts from mean sea level, so the
        vehicle must have told where home is; NoAnswerError, too, when it does not within timeout seconds.
        """
        nan = float("nan")
        end = time.monotonic() + timeout
        goal = nan
        if altitude_m is not None:
            if not self.wait_for(lambda view: view.home_amsl_m is not None, timeout) or self.view.home_amsl_m is None:
                raise NoAnswerError(f"the vehicle did not tell its altitude within {timeout:g} s")
            goal = self.view.home_amsl_m + altitude_m
        left = max(0.0, end - time.monotonic())
        return self.command(mavlink.MAV_CMD_NAV_TAKEOFF, 0.0, 0.0, 0.0, nan, nan, nan, goal, timeout=left)

    def land(self, timeout: float = 10.0) -> int:
        """Ask the vehicle to land; return the MAV_RESULT. Raises NoAnswerError."""
        nan = float("nan")
        return self.command(mavlink.MAV_CMD_NAV_LAND, 0.0, 0.0, 0.0, nan, nan, nan, nan, timeout=timeout)

    def fetch_params(self, timeout: float = 30.0) -> dict[str, float]:
        """Return all parameters by name, asking again for those that were lost. Raises NoAnswerError."""
        end = time.monotonic() + timeout
        with self._changed:
            self._param_indices.clear()
            self._param_count = None
            while time.monotonic() < end:
                self._request_params()
                self._changed.wait_for(self._params_idle, max(0.0, min(5.0, end - time.monotonic())))
                if self._params_complete():
                    return dict(self._params)
            raise NoAnswerError(f"{len(self._param_indices)} of {self._param_count} parameters within {timeout:g} s")

    def _request_params(self) -> None:
        target = self.view.sysid or 1
        self._param_at = time.monotonic()
        if self._param_count is None:
            self._send(mavlink.MAVLink_param_request_list_message(target, AUTOPILOT))
            return
        missing = sorted(set(range(self._param_count)) - self._param_indices)
        for index in missing[:20]:
            self._send(mavlink.MAVLink_param_request_read_message(target, AUTOPILOT, b"", index))

    def _params_complete(self) -> bool:
        return self._param_count is not None and len(self._param_indices) == self._param_count

    def _params_idle(self) -> bool:
        return self._params_complete() or time.monotonic() - self._param_at > 1.0

    @property
    def params_heard(self) -> int:
        """How many parameters have come since the last `fetch_params` began."""
        return len(self._param_indices)

    # reporting

    def snapshot(self) -> dict[str, Any]:
        """Return all counts so far, ready for JSON. Times in seconds and microseconds as the names say."""
        with self._changed:
            stats, now = self.link.stats, time.monotonic()
            meters = {f"{s}:{c}": meter for (s, c), meter in self._meters.items()}
            total = sum(self._received.values())
            span = self._last_arrival - self._first_arrival if self._first_arrival is not None else 0.0
            return {
                "elapsed_s": round(now - self.started, 3),
                "address": str(self.link.address),
                "peer": self.link.peer,
                "received": total,
                "received_by_type": dict(self._received),
                "rate_hz": round((total - 1) / span, 2) if span > 0.0 else 0.0,
                "bytes_received": stats.bytes_received,
                "sources": {name: meter.stats.to_dict() for name, meter in meters.items()},
                "lost": sum(m.stats.lost for m in meters.values()),
                "lost_estimated": sum(m.stats.lost_estimated for m in meters.values()),
                "duplicates": sum(m.stats.duplicates for m in meters.values()),
                "reordered": sum(m.stats.reordered for m in meters.values()),
                "crc_errors": stats.errors.get("bad_crc", 0),
                "frame_errors": dict(stats.errors),
                "foreign_datagrams": stats.foreign_datagrams,
                "longest_silence_ms": round(self._longest_silence * 1000.0, 2),
                "sent": sum(self._sent.values()),
                "sent_by_type": dict(self._sent),
                "send_failed": stats.send_failed,
                "uplink_skipped": self._uplink.skipped,
                "downlink_latency": self._latency.to_dict() if self.shared_clock else None,
                "ping_rtt": self._rtt.to_dict(),
                "vehicle": self.view.to_dict(),
            }
