# SPDX-License-Identifier: Apache-2.0
"""The detector of one end as a ROS node: the proxy's and the kernel's counters in, `threat` and `/diagnostics` out.

It works when counters come, ten times a second; the proxy sends them because this node listens.
"""

import socket
import time
from collections.abc import Iterable
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import LinkQuality, ServerStats, ThreatReport, TunnelStatus
from rclpy.duration import Duration
from rclpy.time import Time as ClockTime
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.parameters import ParameterError
from pqc_mav_common.socket_table import own_network
from pqc_mav_detect import classes, conversions
from pqc_mav_detect.detector import Detector, ModelError, Verdict
from pqc_mav_detect.detectors import make
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.kernel import Files
from pqc_mav_detect.node_parameters import PARAMETERS
from pqc_mav_detect.statuses import Statuses
from pqc_mav_detect.window import LinkView, Reading, Windows

NODE_NAME = "pqc_detect"
REPORT_S = 1.0
SILENT_S = 3.0  # without counters for this long the detector is blind, and says so
# A stamp that is older says that this process was late. Then the time of arrival counts, as the kernel's counters are
# read then.
FRESH_S = 0.1
ELSEWHERE = " The tunnel is in another network namespace: what the kernel counts here is not of its packets."
DRONES = 64  # as many latched statuses as a gcs may have


class DetectNode(ManagedNode):
    """Judges the traffic at one proxy."""

    at_rest = "nobody looks for attacks until it is activated again"

    def __init__(self, siblings: Iterable[str] = (), **arguments: Any) -> None:
        """Raises ParameterError."""
        super().__init__(NODE_NAME, **arguments)
        self.take_parameters(PARAMETERS, siblings)
        self._kernel: Files | None = None
        self._network = own_network()
        self._detector = self._chosen()
        self._forget()

    def offer(self) -> None:
        """What it finds."""
        self._threat = self.create_lifecycle_publisher(ThreatReport, "threat", qos.periodic(1))
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        self.every(REPORT_S, self._publish)

    def _forget(self) -> None:
        self._detector.reset()
        self._windows = Windows()
        self._episodes = Episodes()
        self._local: dict[str, LinkView] = {}
        self._peer: dict[str, LinkView] = {}
        self._statuses = Statuses()
        self._elsewhere = False  # whether the engine is in another network namespace
        self._heard_s: float | None = None
        self._began_s = time.monotonic()
        self._said = (classes.Level.NONE, "")

    def _chosen(self) -> Detector:
        try:
            return make(self.values["detector"])
        except ModelError as error:
            raise ParameterError(f"Parameter 'detector' of {NODE_NAME}: {error}.") from None

    # --- lifecycle ---

    def set_up(self) -> None:
        """Listens to the proxy. Raises ParameterError for a detector that cannot be had."""
        values = self.values
        if values["detector"] != self._detector.source:
            self._detector = self._chosen()
        proxy = values["watched_proxy"]
        if values["watch_kernel"]:
            self._kernel = Files(values["watched_interfaces"])
            if self._kernel.missing:
                self.get_logger().warning("the kernel shows no counters in /proc/net: only the proxy's are watched")
            elif absent := self._kernel.absent():
                self.get_logger().warning(f"'watched_interfaces' names what is not there now: {', '.join(absent)}")
        make = self.create_subscription
        make(ServerStats, f"{proxy}/server_stats", self._on_counters, qos.sensor())
        make(LinkQuality, f"{proxy}/link", self._on_link, qos.periodic(DRONES))
        make(TunnelStatus, f"{proxy}/status", self._on_status, qos.latched(DRONES))

    def begin(self) -> None:
        """Begins with nothing seen."""
        self._forget()

    def tear_down(self) -> None:
        """Closes the kernel's files."""
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    # --- what it hears ---

    def _on_status(self, message: TunnelStatus) -> None:
        self._windows.role = message.role
        self._statuses.hear(message)

    def _on_link(self, message: LinkQuality) -> None:
        views = self._peer if message.side == "peer" else self._local
        views[message.drone_id] = LinkView.of(message, time.monotonic())

    def _on_counters(self, message: ServerStats) -> None:
        if not self.active:
            return
        self._elsewhere = message.header.frame_id not in ("", self._network)
        self._heard_s = now_s = self._read_s(message)
        reading = Reading(
            now_s,
            conversions.totals(message),
            conversions.opened(message),
            self._kernel.read(packets=not self._elsewhere) if self._kernel is not None else {},
            dict(self._local),
            dict(self._peer),
            self._statuses.down,
            conversions.refused(message),
            self._statuses.watchful,
        )
        window = self._windows.update(reading)
        if window is None:
            return
        verdict = self._episodes.update(self._detector.update(window), now_s)
        if (verdict.level, verdict.kind) != self._said:
            self._said = (verdict.level, verdict.kind)
            self._log(verdict)
            self._report(verdict)

    def _read_s(self, message: ServerStats) -> float:
        """When the counters were read, by this process's clock."""
        now_s, clock = time.monotonic(), self.get_clock()
        if clock.ros_time_is_active:
            return now_s  # that of a simulation goes in steps
        age_s = (clock.now() - ClockTime.from_msg(message.header.stamp, clock.clock_type)).nanoseconds * 1e-9
        return now_s - age_s if 0.0 <= age_s <= FRESH_S else now_s

    # --- what it says ---

    def _log(self, verdict: Verdict) -> None:
        if verdict.level is classes.Level.NONE:
            self.get_logger().info("nothing unusual any more")
        else:
            self.get_logger().warning(verdict.reason)

    def _header(self) -> Header:
        return Header(stamp=self.get_clock().now().to_msg())

    def _stamp(self, at_s: float) -> Time:
        return (self.get_clock().now() - Duration(seconds=max(0.0, time.monotonic() - at_s))).to_msg()

    def _report(self, verdict: Verdict) -> None:
        self._threat.publish(conversions.report(verdict, self._detector.source, self._header(), self._stamp))

    def _blind(self) -> bool:
        return time.monotonic() - (self._heard_s or self._began_s) > SILENT_S

    def _publish(self) -> None:
        verdict = self._episodes.verdict
        if self._blind():
            level, said = Level.WARN, "no counters from the proxy: nothing can be seen"
        else:
            self._report(verdict)
            level = Level.OK if verdict.level is classes.Level.NONE else Level.WARN
            said = verdict.reason
            if self._elsewhere and self._kernel is not None:
                level = Level.WARN
                said += ELSEWHERE
            if self._windows.blinded:
                level = Level.WARN
                said += " This machine stood still: delay, loss, silence and handshakes are not judged for 10 s."
        values = {
            "detector": self._detector.source,
            "level": verdict.level.name,
            "kind": verdict.kind,
            "response": verdict.response,
        }
        found = Diagnostic("attacks", level, said, values)
        node = self.get_fully_qualified_name().strip("/")
        message = DiagnosticArray(header=self._header(), status=to_messages(node, socket.gethostname(), [found]))
        self._diagnostics.publish(message)
