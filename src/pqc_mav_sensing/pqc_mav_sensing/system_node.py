# SPDX-License-Identifier: Apache-2.0
"""Node `system`: publishes the load of this computer."""

import threading
import time
from collections.abc import Iterable
from typing import Any

from pqc_mav_interfaces.msg import SystemLoad

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_sensing import conversions, qos
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.node_base import SensingNode
from pqc_mav_sensing.system_reader import SystemReader, SystemView

NODE_NAME = "pqc_system"
PERIOD_S = 1.0
STALE_S = 3.0
NEARLY_FULL_PERCENT = 95.0

PARAMETERS = (
    ParameterSpec("interface", "", "Network interface the tunnel uses; empty = the sum of all."),
    ParameterSpec("disk", "/", "Any path on the file system that holds logs and recordings."),
)


class SystemNode(SensingNode):
    """Processor, memory, disk and network."""

    def __init__(self, siblings: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(NODE_NAME, PARAMETERS, siblings, **arguments)
        self._lock = threading.Lock()

    def offer(self) -> None:
        """The load."""
        super().offer()
        self._system = self.create_lifecycle_publisher(SystemLoad, "system", qos.state())
        self.every(PERIOD_S, self._publish)

    def set_up(self) -> None:
        """Makes the reader."""
        self._reader = SystemReader(self.values["interface"], str(self.values.path("disk")))
        self._newest: tuple[float, SystemView] | None = None
        self._reason = "nothing has been read yet"

    def begin(self) -> None:
        """Reads the figures."""
        self.sample_with("system", self._look)

    def diagnose(self) -> list[Diagnostic]:
        """One entry: what is nearly exhausted."""
        newest, reason = self._fresh()
        if newest is None:
            return [Diagnostic("load", Level.ERROR, reason)]
        view = newest[1]
        memory = 100.0 * view.memory_used_mib / view.memory_total_mib
        values = {"cpu_percent": f"{view.cpu_percent:.0f}", "memory_percent": f"{memory:.0f}", "load_1": view.load_1}
        full = [
            f"{name} at {percent:.0f} %"
            for name, percent in (("memory", memory), ("disk", view.disk_used_percent))
            if percent >= NEARLY_FULL_PERCENT
        ]
        if full:
            return [Diagnostic("load", Level.WARN, ", ".join(full), values)]
        return [Diagnostic("load", Level.OK, f"processor at {view.cpu_percent:.0f} %", values)]

    def _fresh(self) -> tuple[tuple[float, SystemView] | None, str]:
        with self._lock:
            newest, reason = self._newest, self._reason
        if newest is None or time.monotonic() - newest[0] > STALE_S:
            return None, reason or "nothing could be read recently"
        return newest, ""

    def _look(self, now_s: float) -> float:
        try:
            view = self._reader.look()
        except SensorError as error:
            with self._lock:
                self._newest, self._reason = None, str(error)
        else:
            with self._lock:
                self._newest, self._reason = (now_s, view), ""
        return now_s + PERIOD_S

    def _publish(self) -> None:
        newest, reason = self._fresh()
        if newest is None:
            message = SystemLoad(header=self.header(), source="none", valid=False, reason=reason)
        else:
            message = conversions.system_message(newest[1], self.header(newest[0]))
        self._system.publish(message)
