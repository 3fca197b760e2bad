# SPDX-License-Identifier: Apache-2.0
"""The flight recorder as a ROS node: parameters, `/diagnostics`, and the topics into the file."""

from __future__ import annotations

import platform
import socket
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages
from pqc_mav_common.parameters import ParameterSpec, take
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.recorder import MIB, MIN_FREE_MIB, Recorder, recording_path
from pqc_mav_recorder.topics import NAMESPACES, TopicRecorder

NODE_NAME = "flight_recorder"
TICK_S = 1.0

PARAMETERS = (
    ParameterSpec(
        "path", "", "File (*.mcap) to record to, or a folder for a file named after the time.", required=True
    ),
    ParameterSpec("namespaces", NAMESPACES, "Namespaces; every topic below one of them is recorded."),
    ParameterSpec("topics", (), "Further topics to record, by full name."),
    ParameterSpec(
        "min_free_mib",
        float(MIN_FREE_MIB),
        "Recording ends in good order when less space than this is left on the disk.",
        0.0,
        1_048_576.0,
        unit="MiB",
    ),
)


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
        """Raises ParameterError, or RecordingError when the file cannot be begun."""
        super().__init__(NODE_NAME, **arguments)
        values = take(self, PARAMETERS)
        path, namespaces = values["path"], values["namespaces"]
        if not path:
            raise RecordingError("The parameter 'path' is empty; give a file (*.mcap) or a folder to record to.")
        self.recorder = Recorder(recording_path(path), metadata(namespaces), min_free_mib=values["min_free_mib"])
        self._topics = TopicRecorder(self, self.recorder, namespaces, values["topics"], self.get_logger().warning)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        self._said_problem = False
        self._tick = self.create_timer(TICK_S, self._publish)
        self.get_logger().info(f"recording to {self.recorder.path}")

    @property
    def topics(self) -> int:
        """How many topics are recorded."""
        return len(self._topics.topics)

    def _publish(self) -> None:
        found = diagnose(self.recorder, self.topics)
        if found.level is Level.ERROR and not self._said_problem:
            self._said_problem = True
            self.get_logger().error(found.message)
        message = DiagnosticArray(status=to_messages(self.get_name(), socket.gethostname(), [found]))
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)
