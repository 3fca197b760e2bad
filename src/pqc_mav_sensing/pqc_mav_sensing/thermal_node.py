# SPDX-License-Identifier: Apache-2.0
"""Node `thermal`: publishes temperature and throttling of this computer."""

import threading
import time
from collections.abc import Iterable
from typing import Any

from pqc_mav_interfaces.msg import ThermalState

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_sensing import conversions, qos, thermal_tree, vcgencmd
from pqc_mav_sensing.node_base import SensingNode
from pqc_mav_sensing.thermal_monitor import ThermalMonitor

NODE_NAME = "pqc_thermal"
PUBLISH_S = 1.0
FIRMWARE_S = 1.0

PARAMETERS = (
    ParameterSpec("thermal_root", str(thermal_tree.ROOT), "Folder of the kernel's thermal zones and cooling devices."),
    ParameterSpec(
        "thermal_simulated",
        False,
        "Whether a simulation writes 'thermal_root': messages then say source 'model' instead of 'sysfs'.",
    ),
    ParameterSpec("thermal_zone", "", "Type of the zone that counts; empty = the processor's, else the first."),
    ParameterSpec("thermal_rate_hz", 4.0, "How often the zones are read.", 0.5, 50.0, unit="Hz"),
    ParameterSpec("thermal_stale_s", 3.0, "Age at which a temperature is invalid.", 0.5, 60.0, unit="s"),
    ParameterSpec("thermal_window_s", 30.0, "Window of the temperature's slope.", 2.0, 600.0, unit="s"),
)


class ThermalNode(SensingNode):
    """Temperature of the companion computer."""

    def __init__(self, siblings: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(NODE_NAME, PARAMETERS, siblings, **arguments)
        self._lock = threading.Lock()

    def offer(self) -> None:
        """The temperature."""
        super().offer()
        self._thermal = self.create_lifecycle_publisher(ThermalState, "thermal", qos.state())
        self.every(PUBLISH_S, self._publish)

    def set_up(self) -> None:
        """Makes what watches the zones."""
        values = self.values
        self._root = values.path("thermal_root")
        self._period_s: float = 1.0 / values["thermal_rate_hz"]
        self._source = "model" if values["thermal_simulated"] else "sysfs"
        # A simulated tree has nothing to do with this board's firmware.
        self._vcgencmd = "" if values["thermal_simulated"] else vcgencmd.find()
        self._firmware: vcgencmd.Throttling | None = None
        self._firmware_s = 0.0
        self._monitor = ThermalMonitor(
            values["thermal_zone"], stale_s=values["thermal_stale_s"], rate_window_s=values["thermal_window_s"]
        )

    def begin(self) -> None:
        """Reads the zones."""
        self.sample_with("thermal", self._look)

    def diagnose(self) -> list[Diagnostic]:
        """One entry: temperature and what is done about it."""
        with self._lock:
            view, refused = self._monitor.view(time.monotonic()), self._monitor.refused
        values: dict[str, object] = {"zone": view.zone, "refused": refused, "root": self._root, "source": self._source}
        if self._firmware is not None:
            values["firmware_since_start"] = "; ".join(self._firmware.since_start)
        elif self._vcgencmd and self._firmware_s:
            values["firmware"] = "vcgencmd gives no answer: this user needs /dev/vcio, which the group 'video' may use"
        if not view.valid:
            return [Diagnostic("temperature", Level.ERROR, view.reason, values)]
        if view.throttled:
            return [Diagnostic("temperature", Level.WARN, f"slowed down: {view.throttle_reason}", values)]
        hot = view.temperature_c >= view.trip_passive_c
        text = f"{view.temperature_c:.1f} Cel" + (", above the passive trip point" if hot else "")
        return [Diagnostic("temperature", Level.WARN if hot else Level.OK, text, values)]

    def _look(self, now_s: float) -> float:
        if self._vcgencmd and now_s - self._firmware_s >= FIRMWARE_S:
            self._firmware_s = now_s
            self._firmware = vcgencmd.read(self._vcgencmd)
        tree = thermal_tree.read(self._root)
        with self._lock:
            self._monitor.look(now_s, tree, self._firmware)
        return now_s + self._period_s

    def _publish(self) -> None:
        with self._lock:
            view = self._monitor.view(time.monotonic())
        source = self._source if view.zone_types else "none"
        self._thermal.publish(conversions.thermal_message(view, source, self.header(view.at_s)))
