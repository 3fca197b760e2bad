# SPDX-License-Identifier: Apache-2.0
"""Ground software for the autopilot laboratory: pymavlink over a UDP socket, one thread, and nothing of the project's.

It answers to where datagrams come from, as QGroundControl does, and says a heartbeat once a second while it waits.
"""

import math
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import messages
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from pqc_mav_sim.autopilot import HOME

AUTOPILOT = mavlink.MAV_COMP_ID_AUTOPILOT1
BUFFER_BYTES = 4 << 20  # a burst of parameters overruns the system's default, with or without a tunnel
_RECEIVE_BUFFER_FORCE = 33  # SO_RCVBUFFORCE
_HEARTBEAT_S, _WAIT_S = 1.0, 0.05
_PARAMETERS_AGAIN_S, _PARAMETERS_AT_ONCE = 1.5, 20
_ASK_AGAIN_S = 2.0
_MAVLINK2 = 0xFD
_LATE = 128  # so far ahead a sequence number is one of before
_DEGREE_M = 111_320.0
_WITHOUT_INDEX = 65535  # of parameters that answer a request by name


class LateError(TimeoutError):
    """Something did not come in time: one sentence."""


class Ground:
    """A ground station. `socket` is bound where the vehicle's datagrams arrive."""

    def __init__(self, end: socket.socket) -> None:
        end.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, BUFFER_BYTES)
        self._socket = end
        self._peer: Any = None
        self.mav = mavlink.MAVLink(None, srcSystem=255, srcComponent=mavlink.MAV_COMP_ID_MISSIONPLANNER)
        self.mav.robust_parsing = True
        self._beat_s = 0.0
        self._next: int | None = None  # the autopilot's next sequence number
        self.system = 0
        self.lost = 0  # messages of the autopilot, by its sequence numbers
        self.received: Counter[str] = Counter()  # of the autopilot, by name
        self.newest: dict[str, Any] = {}
        self.texts: deque[str] = deque(maxlen=50)  # what the autopilot said in words
        self.beats_s: list[float] = []  # when its heartbeats came
        self.came_s = time.monotonic()  # when its newest message came
        self.longest_s = 0.0  # its longest silence; may be set back
        self.datagrams: list[tuple[float, int, int]] | None = None  # a list keeps when, which way, how large

    @property
    def total(self) -> int:
        """Messages of the autopilot."""
        return sum(self.received.values())

    def send(self, message: Any) -> None:
        """One message to the vehicle; nothing before it has been heard."""
        if self._peer is not None:
            data = message.pack(self.mav)
            self.mav.seq = (self.mav.seq + 1) % 256
            self._keep(messages.UP, data)
            try:
                self._socket.sendto(data, self._peer)
            except OSError:  # the end of the tunnel is dead for the moment
                return

    def _keep(self, way: int, data: bytes) -> None:
        if self.datagrams is not None:
            self.datagrams.append((time.monotonic(), way, len(data)))

    def step(self) -> list[Any]:
        """What has come of the autopilot, after a short wait for it."""
        now = time.monotonic()
        if now - self._beat_s >= _HEARTBEAT_S:
            self._beat_s = now
            kind, none = mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID
            self.send(mavlink.MAVLink_heartbeat_message(kind, none, 0, 0, mavlink.MAV_STATE_ACTIVE, 3))
        self._socket.settimeout(_WAIT_S)
        try:
            data, self._peer = self._socket.recvfrom(65_536)
        except OSError:
            return []
        self._keep(messages.DOWN, data)
        return [message for message in self.mav.parse_buffer(data) or [] if self._take(message)]

    def _take(self, message: Any) -> bool:
        kind = message.get_type()
        if kind == "BAD_DATA":
            return False
        raw = message.get_msgbuf()  # pymavlink gives messages that it does not know no header
        sequence, component = (raw[4], raw[6]) if raw[0] == _MAVLINK2 else (raw[2], raw[4])
        if component != AUTOPILOT:
            return False
        ahead = 0 if self._next is None else (sequence - self._next) % 256
        if ahead < _LATE:
            self.lost += ahead
            self._next = (sequence + 1) % 256
        else:
            self.lost -= 1  # it was overtaken, and is here now
        if kind.startswith("UNKNOWN"):  # of another dialect
            return False
        now = time.monotonic()
        self.longest_s, self.came_s = max(self.longest_s, now - self.came_s), now
        self.system = message.get_srcSystem()
        self.received[kind] += 1
        self.newest[kind] = message
        if kind == "STATUSTEXT":
            self.texts.append(message.text)
        elif kind == "HEARTBEAT":
            self.beats_s.append(now)
        return True

    def wait(self, until: Callable[[], object], limit_s: float, what: str) -> float:
        """Listen until it holds; returns the seconds. Raises LateError."""
        begun = time.monotonic()
        while not until():
            self.step()
            if time.monotonic() - begun > limit_s:
                heard = "; ".join(list(self.texts)[-3:]) or "nothing"
                raise LateError(f"{what} did not come within {limit_s:g} s; the autopilot said: {heard}")
        return time.monotonic() - begun

    def listen(self, seconds: float) -> None:
        """Let time pass."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()

    def ask(self, request: Callable[[], None], kinds: Sequence[str], limit_s: float, right: Any = None) -> Any:
        """Send a request, again and again, until one of these messages comes. Raises LateError."""
        begun, asked = time.monotonic(), 0.0
        while (now := time.monotonic()) - begun < limit_s:
            if now - asked > _ASK_AGAIN_S:
                asked = now
                request()
            for message in self.step():
                if message.get_type() in kinds and (right is None or right(message)):
                    return message
        said = "; ".join(list(self.texts)[-3:]) or "nothing"
        raise LateError(f"no {' or '.join(kinds)} within {limit_s:g} s; the autopilot said: {said}")

    def command(self, number: int, *values: float, limit_s: float = 15.0) -> int:
        """COMMAND_LONG, sent again until it is answered; the result."""
        seven = [*values, *[0.0] * (7 - len(values))]

        def request() -> None:
            self.send(mavlink.MAVLink_command_long_message(self.system, AUTOPILOT, number, 0, *seven))

        return int(self.ask(request, ("COMMAND_ACK",), limit_s, lambda ack: ack.command == number).result)

    def set_integer(self, name: str, value: int) -> None:
        """PX4's integers travel as the bits of a float. Raises LateError."""
        bits = struct.unpack("<f", struct.pack("<i", value))[0]
        self.set_parameter(name, bits, mavlink.MAV_PARAM_TYPE_INT32)

    def set_parameter(self, name: str, value: float, kind: int = mavlink.MAV_PARAM_TYPE_REAL32) -> None:
        """Set one, and see it answered. `value` is the float that is sent, whatever the autopilot makes of it."""
        key = name.encode()

        def request() -> None:
            self.send(mavlink.MAVLink_param_set_message(self.system, AUTOPILOT, key, value, kind))

        self.ask(request, ("PARAM_VALUE",), 10.0, lambda answer: answer.param_id == name)

    def parameters(self, limit_s: float) -> dict[str, float]:
        """Download all: `seconds`, `count`, and `missing` of the first list, which are then asked for one by one."""
        values: dict[int, Any] = {}
        count, first_missing = 0, None
        begun = newest = time.monotonic()
        self.send(mavlink.MAVLink_param_request_list_message(self.system, AUTOPILOT))
        while not count or len(values) < count:
            for message in self.step():
                if message.get_type() == "PARAM_VALUE" and message.param_index != _WITHOUT_INDEX:
                    newest, count = time.monotonic(), message.param_count
                    values[message.param_index] = message
            now = time.monotonic()
            if now - begun > limit_s:
                raise LateError(f"{len(values)} of {count} parameters within {limit_s:g} s")
            if now - newest > _PARAMETERS_AGAIN_S and len(values) < (count or 1):
                newest = now
                if not count:
                    self.send(mavlink.MAVLink_param_request_list_message(self.system, AUTOPILOT))
                    continue
                missing = [each for each in range(count) if each not in values]
                first_missing = len(missing) if first_missing is None else first_missing
                for each in missing[:_PARAMETERS_AT_ONCE]:
                    self.send(mavlink.MAVLink_param_request_read_message(self.system, AUTOPILOT, b"", each))
        return {"seconds": time.monotonic() - begun, "count": count, "missing": first_missing or 0}

    def upload(self, items: Sequence[Any], limit_s: float) -> float:
        """Write a mission; seconds until it is accepted."""
        count = len(items)
        begun = asked = time.monotonic()
        message = mavlink.MAVLink_mission_count_message(self.system, AUTOPILOT, count)
        self.send(message)
        while (now := time.monotonic()) - begun < limit_s:
            for answer in self.step():
                kind = answer.get_type()
                if kind in ("MISSION_REQUEST_INT", "MISSION_REQUEST") and answer.seq < count:
                    asked = now
                    self.send(items[answer.seq])
                elif kind == "MISSION_ACK":
                    if answer.type != mavlink.MAV_MISSION_ACCEPTED:
                        raise LateError(f"the autopilot refused the mission with {answer.type}")
                    return time.monotonic() - begun
            if now - asked > 5 * _ASK_AGAIN_S:
                asked = now
                self.send(message)
        raise LateError(f"the mission was not accepted within {limit_s:g} s")

    def download(self, limit_s: float) -> tuple[float, list[Any]]:
        """Read the mission back: seconds, and its items."""
        begun = time.monotonic()

        def ask_count() -> None:
            self.send(mavlink.MAVLink_mission_request_list_message(self.system, AUTOPILOT))

        count = self.ask(ask_count, ("MISSION_COUNT",), limit_s).count
        items = []
        for number in range(count):

            def ask_item(wanted: int = number) -> None:
                self.send(mavlink.MAVLink_mission_request_int_message(self.system, AUTOPILOT, wanted))

            def right(item: Any, wanted: int = number) -> bool:
                return bool(item.seq == wanted)

            items.append(self.ask(ask_item, ("MISSION_ITEM_INT",), limit_s, right))
        self.send(mavlink.MAVLink_mission_ack_message(self.system, AUTOPILOT, mavlink.MAV_MISSION_ACCEPTED))
        return time.monotonic() - begun, items


def waypoint(system: int, number: int, north_m: float, east_m: float, up_m: float, **more: Any) -> Any:
    """An item of a mission, metres from `home`; `command` and `hold_s` are those of a plain waypoint unless given."""
    home = more.get("home", HOME)  # degrees
    latitude = round((home[0] + north_m / _DEGREE_M) * 1e7)
    longitude = round((home[1] + east_m / (_DEGREE_M * math.cos(math.radians(home[0])))) * 1e7)
    frame = mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT
    command = more.get("command", mavlink.MAV_CMD_NAV_WAYPOINT)
    return mavlink.MAVLink_mission_item_int_message(
        system, AUTOPILOT, number, frame, command, 0, 1, more.get("hold_s", 0.0), 0, 0, 0, latitude, longitude, up_m
    )
