"""The flight recorder as a ROS node: parameters, `/diagnostics`, and the topics into the file."""

from __future__ import annotations

import platform
import socket
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.qos import QoSProfile

from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.recorder import MIB, MIN_FREE_MIB, Recorder, recording_path
from pqc_mav_recorder.topics import NAMESPACES, TopicRecorder

NODE_NAME = "flight_recorder"
TICK_S = 1.0
MAX_MIN_FREE_MIB = 1_048_576.0


def metadata(namespaces: Sequence[str]) -> dict[str, str]:
    """What a recording says about where it comes from."""
    return {
        "recorder": "pqcmav",
        "host": socket.gethostname(),
        "machine": platform.machine(),
        "namespaces": ",".join(namespaces),
        "log_time": "wall clock at the start plus monotonic time",
    }


def diagnose(recorder: Recorder, topics: int) -> Diagnostic:
    """How the recording is doing. Dropped messages stay a warning for the rest of the flight: the file lacks them."""
    size_mib = recorder.size / MIB
    level, message = Level.OK, f"{recorder.messages} messages of {topics} topics, {size_mib:.1f} MiB"
    if recorder.problem:
        level, message = Level.ERROR, recorder.problem
    elif recorder.dropped:
        level, message = Level.WARN, f"{recorder.dropped} messages were not recorded because the disk is too slow"
    values: dict[str, object] = {
        "file": recorder.path,
        "messages": recorder.messages,
        "dropped": recorder.dropped,
        "topics": topics,
        "size_mib": f"{size_mib:.3f}",
    }
    return Diagnostic("recording", level, message, values)


class FlightRecorderNode(Node):
    """Records from its start until `close`."""

    def __init__(self, **arguments: Any) -> None:
        """Raises RecordingError when the file cannot be begun."""
        super().__init__(NODE_NAME, **arguments)
        path = self._parameter("path", "", "File (*.mcap) to record to, or a folder for a file named after the time.")
        namespaces = self._parameter(
            "namespaces", list(NAMESPACES), "Namespaces; every topic below one of them is recorded."
        )
        extra = self._parameter("topics", [""], "Further topics to record, by full name.")
        min_free = self._parameter(
            "min_free_mib",
            float(MIN_FREE_MIB),
            "Recording ends in good order when less space than this is left on the disk [MiB].",
            0.0,
            MAX_MIN_FREE_MIB,
        )
        if not path:
            raise RecordingError("The parameter 'path' is empty; give a file (*.mcap) or a folder to record to.")
        self.recorder = Recorder(recording_path(path), metadata(namespaces), min_free_mib=min_free)
        self._topics = TopicRecorder(
            self, self.recorder, namespaces, [name for name in extra if name], self.get_logger().warning
        )
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", QoSProfile(depth=10))
        self._said_problem = False
        self._tick = self.create_timer(TICK_S, self._publish)
        self.get_logger().info(f"recording to {self.recorder.path}")

    @property
    def topics(self) -> int:
        """How many topics are recorded."""
        return len(self._topics.topics)

    def _parameter(self, name: str, default: Any, description: str, low: float = 0.0, high: float = 0.0) -> Any:
        descriptor = ParameterDescriptor(description=description, read_only=True)
        if isinstance(default, float):
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        try:
            return self.declare_parameter(name, default, descriptor).value
        except ParameterException as error:  # of another type, out of range
            raise RecordingError(f"Parameter '{name}': {error}") from None

    def _publish(self) -> None:
        found = diagnose(self.recorder, self.topics)
        if found.level is Level.ERROR and not self._said_problem:
            self._said_problem = True
            self.get_logger().error(found.message)
        message = DiagnosticArray(status=to_messages(self.get_name(), socket.gethostname(), [found]))
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)
