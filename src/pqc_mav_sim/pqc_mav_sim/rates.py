# SPDX-License-Identifier: Apache-2.0
"""Which telemetry message is due when: per-stream absolute deadlines on a clock the caller supplies.

The k-th message of a stream is due at `start + phase + k * period`, computed from k and never by adding up periods, so
the total rate is exact over any span and no wake-up delay accumulates. Phases are spread so that messages do not bunch.
"""

import heapq
from dataclasses import dataclass

from pymavlink.dialects.v20 import common as mavlink

MIN_TOTAL_HZ = 5.0
MAX_TOTAL_HZ = 10_000.0
MAX_STREAM_HZ = 1_000.0
STALE_S = 0.25
_GOLDEN = 0.618033988749895


@dataclass(frozen=True)
class StreamSpec:
    """A telemetry message and its rate (Hz) at the default total; a fixed rate does not scale with the total."""

    msg_id: int
    hz: float
    fixed: bool = False

    @property
    def name(self) -> str:
        """The message name."""
        return str(mavlink.mavlink_map[self.msg_id].msgname)


STREAMS: tuple[StreamSpec, ...] = (
    StreamSpec(mavlink.MAVLINK_MSG_ID_HEARTBEAT, 1, fixed=True),
    StreamSpec(mavlink.MAVLINK_MSG_ID_ATTITUDE, 50),
    StreamSpec(mavlink.MAVLINK_MSG_ID_ATTITUDE_QUATERNION, 50),
    StreamSpec(mavlink.MAVLINK_MSG_ID_HIGHRES_IMU, 40),
    StreamSpec(mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED, 30),
    StreamSpec(mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT, 25),
    StreamSpec(mavlink.MAVLINK_MSG_ID_SCALED_IMU, 20),
    StreamSpec(mavlink.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW, 20),
    StreamSpec(mavlink.MAVLINK_MSG_ID_VFR_HUD, 15),
    StreamSpec(mavlink.MAVLINK_MSG_ID_ALTITUDE, 10),
    StreamSpec(mavlink.MAVLINK_MSG_ID_ATTITUDE_TARGET, 10),
    StreamSpec(mavlink.MAVLINK_MSG_ID_POSITION_TARGET_LOCAL_NED, 10),
    StreamSpec(mavlink.MAVLINK_MSG_ID_RC_CHANNELS, 10),
    StreamSpec(mavlink.MAVLINK_MSG_ID_BATTERY_STATUS, 5),
    StreamSpec(mavlink.MAVLINK_MSG_ID_GPS_RAW_INT, 5),
    StreamSpec(mavlink.MAVLINK_MSG_ID_SYS_STATUS, 5),
    StreamSpec(mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE, 3),
    StreamSpec(mavlink.MAVLINK_MSG_ID_SCALED_PRESSURE, 3),
    StreamSpec(mavlink.MAVLINK_MSG_ID_ESTIMATOR_STATUS, 2),
    StreamSpec(mavlink.MAVLINK_MSG_ID_SYSTEM_TIME, 2),
    StreamSpec(mavlink.MAVLINK_MSG_ID_VIBRATION, 2),
    StreamSpec(mavlink.MAVLINK_MSG_ID_HOME_POSITION, 1),
    StreamSpec(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT, 1),
)
DEFAULT_TOTAL_HZ = sum(stream.hz for stream in STREAMS)


def allocate(total_hz: float, streams: tuple[StreamSpec, ...] = STREAMS) -> dict[int, float]:
    """Return Hz per message id so that they sum to total_hz; fixed streams keep theirs, the others share the rest.

    Raises ValueError when total_hz is outside MIN_TOTAL_HZ..MAX_TOTAL_HZ.
    """
    if not MIN_TOTAL_HZ <= total_hz <= MAX_TOTAL_HZ:
        raise ValueError(f"rate {total_hz:g} is out of range: give {MIN_TOTAL_HZ:g} to {MAX_TOTAL_HZ:g} messages/s")
    fixed = sum(s.hz for s in streams if s.fixed)
    scale = (total_hz - fixed) / sum(s.hz for s in streams if not s.fixed)
    return {s.msg_id: s.hz if s.fixed else s.hz * scale for s in streams}


@dataclass
class _Stream:
    msg_id: int
    phase: float
    default_hz: float
    hz: float
    base: float = 0.0
    count: int = 0
    generation: int = 0

    def deadline(self) -> float:
        return self.base + self.count / self.hz


class StreamScheduler:
    """Deadlines of all streams. Times are seconds on any monotonic clock."""

    def __init__(
        self, total_hz: float, start: float, streams: tuple[StreamSpec, ...] = STREAMS, on_request: bool = False
    ) -> None:
        """`on_request`: streams that scale with the total are off until somebody asks for them, as with ArduPilot."""
        fixed = {stream.msg_id for stream in streams if stream.fixed}
        self._streams: dict[int, _Stream] = {}
        self._heap: list[tuple[float, int, int]] = []
        self.skipped = 0
        for i, (msg_id, hz) in enumerate(allocate(total_hz, streams).items()):
            phase = i * _GOLDEN % 1.0
            sent = not on_request or msg_id in fixed
            stream = _Stream(msg_id, phase, hz, hz if sent else 0.0, base=start + phase / hz)
            self._streams[msg_id] = stream
            if sent:
                self._push(stream)

    def _push(self, stream: _Stream) -> None:
        heapq.heappush(self._heap, (stream.deadline(), stream.generation, stream.msg_id))

    @property
    def total_hz(self) -> float:
        """Messages/s of all streams together, as they are set now."""
        return sum(s.hz for s in self._streams.values())

    def next_deadline(self) -> float | None:
        """Return when the next message is due, None when every stream is switched off."""
        while self._heap:
            deadline, generation, msg_id = self._heap[0]
            if generation == self._streams[msg_id].generation:
                return deadline
            heapq.heappop(self._heap)
        return None

    def due(self, t: float) -> list[int]:
        """Return the message ids due at t in order of their deadlines and schedule their successors.

        Messages more than STALE_S late are skipped and counted: late telemetry is dropped, never sent in a burst.
        """
        ready: list[int] = []
        while (deadline := self.next_deadline()) is not None and deadline <= t:
            _, _, msg_id = heapq.heappop(self._heap)
            stream = self._streams[msg_id]
            stream.count += 1
            if t - deadline > STALE_S:
                behind = int((t - STALE_S - deadline) * stream.hz)
                stream.count += behind
                self.skipped += behind + 1
            else:
                ready.append(msg_id)
            self._push(stream)
        return ready

    def interval_us(self, msg_id: int) -> int:
        """Return a stream's interval in microseconds, -1 when it is off, 0 when the message is no stream."""
        stream = self._streams.get(msg_id)
        if stream is None:
            return 0
        return round(1e6 / stream.hz) if stream.hz > 0.0 else -1

    def set_interval(self, msg_id: int, interval_us: float, t: float) -> bool:
        """Change a stream as MAV_CMD_SET_MESSAGE_INTERVAL asks: > 0 microseconds, 0 default rate, -1 off.

        Returns:
            False, and changes nothing, when the message is no stream or the rate is above MAX_STREAM_HZ. The heartbeat
            cannot be switched off, since clients would lose the vehicle.
        """
        stream = self._streams.get(msg_id)
        if stream is None:
            return False
        if interval_us == 0:
            hz = stream.default_hz
        elif interval_us == -1 and msg_id != mavlink.MAVLINK_MSG_ID_HEARTBEAT:
            hz = 0.0
        elif 1e6 / MAX_STREAM_HZ <= interval_us < 3.6e9:
            hz = 1e6 / interval_us
        else:
            return False
        stream.generation += 1
        stream.hz = hz
        if hz > 0.0:
            stream.base, stream.count = t + stream.phase / hz, 0
            self._push(stream)
        return True
