# SPDX-License-Identifier: Apache-2.0
"""The flight recorder as a ROS node: parameters, `/diagnostics`, and the topics into the file."""

import platform
import socket
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages
from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.parameters import ParameterSpec
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


class FlightRecorderNode(ManagedNode):
    """Records while it is active; each activation begins a file."""

    refusals = (ProcessError, ValueError, RecordingError)
    fixed = frozenset({"path"})
    at_rest = "the recording is complete"

    def __init__(self, **arguments: Any) -> None:
        """Raises ParameterError."""
        super().__init__(NODE_NAME, **arguments)
        self.take_parameters(PARAMETERS)
        self._recorder: Recorder | None = None
        self._topics: TopicRecorder | None = None

    def offer(self) -> None:
        """Its diagnostics."""
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        self.every(TICK_S, self._publish)

    def set_up(self) -> None:
        """Looks whether there is something to record to."""
        if not self.values["path"]:
            raise ProcessError("The parameter 'path' is empty; give a file (*.mcap) or a folder to record to.")
        try:
            recording_path(self.values["path"])
        except RecordingError as error:
            raise ProcessError(one_line(error)) from None

    def refused(self, error: Exception) -> ProcessError:
        """What cannot be recorded to now, such as a full disk, is no fault of the configuration: it may pass."""
        if isinstance(error, RecordingError):
            return ProcessError(one_line(error), ExitCode.START)
        return super().refused(error)

    def begin(self) -> None:
        """Begins a file."""
        values = self.values
        path, namespaces = values["path"], values["namespaces"]
        self._said_problem = False
        self._recorder = Recorder(recording_path(path), metadata(namespaces), min_free_mib=values["min_free_mib"])
        self._topics = TopicRecorder(self, self._recorder, namespaces, values["topics"], self.get_logger().warning)
        self.get_logger().info(f"recording to {self._recorder.path}")

    def end(self) -> None:
        """Completes the file and says what is in it."""
        try:
            said = self.finish()
        except ProcessError as error:
            self.get_logger().error(str(error))
        else:
            if said:
                self.get_logger().info(said)

    def close(self) -> None:
        """Nothing yet: `finish` comes when the executor has ended, so that the last message is in the file."""

    def finish(self) -> str:
        """Completes the file. What is in it, "" where none was begun. Raises ProcessError when it ended early."""
        recorder, self._recorder = self._recorder, None
        topics, self._topics = self._topics, None
        if recorder is None or topics is None:
            return ""
        topics.close()
        try:
            path = recorder.stop()
        except RecordingError as error:
            raise ProcessError(str(error), ExitCode.FAILED) from None
        size = path.stat().st_size / MIB
        if recorder.problem:
            raise ProcessError(
                f"the recording {path}, {size:.1f} MiB, ended early: {recorder.problem}", ExitCode.FAILED
            )
        return f"{recorder.messages} messages of {len(topics.topics)} topics in {path}, {size:.1f} MiB"

    def _publish(self) -> None:
        if self._recorder is None or self._topics is None:
            return
        found = diagnose(self._recorder, len(self._topics.topics))
        if found.level is Level.ERROR and not self._said_problem:
            self._said_problem = True
            self.get_logger().error(found.message)
        message = DiagnosticArray(status=to_messages(self.get_name(), socket.gethostname(), [found]))
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)
