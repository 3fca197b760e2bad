# SPDX-License-Identifier: Apache-2.0
"""What the sensing nodes share: parameters, a sampling thread, time stamps of monotonic times, diagnostics."""

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Diagnostic, to_messages
from pqc_mav_common.errors import one_line
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_sensing.sampling_thread import SamplingThread

DIAGNOSTICS_S = 1.0


class SensingNode(ManagedNode):
    """A node whose sensor is read on a thread of its own; its callbacks only publish what is known."""

    def __init__(
        self, name: str, wanted: Sequence[ParameterSpec], siblings: Iterable[str] = (), **arguments: Any
    ) -> None:
        """Raises ParameterError for parameters that are unknown or out of range."""
        super().__init__(name, **arguments)
        self.take_parameters(wanted, siblings)
        self._threads: list[SamplingThread] = []
        self._hardware_id = socket.gethostname()

    def offer(self) -> None:
        """Its diagnostics; each node adds its own topics."""
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        self.every(DIAGNOSTICS_S, self._publish_diagnostics)

    def diagnose(self) -> list[Diagnostic]:
        """The state of this node's subcomponents, once a second."""
        raise NotImplementedError

    def sample_with(self, name: str, step: Callable[[float], float]) -> None:
        """Run a step on a thread of its own until `end`."""
        thread = SamplingThread(name, step, self._on_error)
        self._threads.append(thread)
        thread.start()

    def header(self, at_s: float | None = None) -> Header:
        """A header whose stamp is that of a moment of the monotonic clock; None = now."""
        stamp_ns = self.get_clock().now().nanoseconds
        if at_s is not None:
            stamp_ns -= max(0, int((time.monotonic() - at_s) * 1e9))
        seconds, rest_ns = divmod(max(0, stamp_ns), 1_000_000_000)
        return Header(stamp=Time(sec=seconds, nanosec=rest_ns))

    def end(self) -> None:
        """Ends the threads."""
        for thread in self._threads:
            thread.stop()
        self._threads.clear()

    def _on_error(self, error: Exception) -> None:
        self.get_logger().error(f"{type(error).__name__}: {one_line(error)}", throttle_duration_sec=10.0)

    def _publish_diagnostics(self) -> None:
        messages = to_messages(self.get_name(), self._hardware_id, self.diagnose())
        self._diagnostics.publish(DiagnosticArray(header=self.header(), status=messages))
