# SPDX-License-Identifier: Apache-2.0
"""The agent on the ground: measures its side of each run on the controller's word; none of it through the tunnel.

Services below the node's name: `~/ping` (Trigger), `~/get_info`, `~/clock_sync`, `~/start_suite`, `~/set_traffic`,
`~/stop_suite`, `~/shutdown` (Trigger). One controller at a time: the first to start a suite holds the agent until the
suite ends, or has been silent for LEASE_S.
"""

import threading
import time
from collections.abc import Iterable
from typing import Any

from pqc_mav_interfaces.srv import ClockSync, GetInfo, SetTraffic, StartSuite, StopSuite
from pqc_mav_tunnel import short_code
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from std_srvs.srv import Trigger

from pqc_mav_bench.collectors.clock_id import clock_id
from pqc_mav_bench.collectors.environment import environment
from pqc_mav_bench.collectors.proxy_watch import ProxyWatch
from pqc_mav_bench.errors import LEASE_S, TAKEN, BenchError
from pqc_mav_bench.models import ValidationError
from pqc_mav_bench.options import MOST_HANDSHAKES
from pqc_mav_bench.side_recorder import SideRecorder
from pqc_mav_bench.workload.spec import EndSpec
from pqc_mav_common.key_values import nested, to_key_values
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.parameters import ParameterSpec

NODE_NAME = "bench_agent"
CHECK_S = 1.0
NOT_ACTIVE = "The agent is not active."
PARAMETERS = (
    ParameterSpec("proxy", "/gcs/pqc_proxy", "Node name of the gcs' proxy."),
    ParameterSpec("drone_id", "", "The drone whose link is measured; empty = the only one of the proxy."),
)


class AgentNode(ManagedNode):
    """Its parameters are PARAMETERS. Raises ParameterError."""

    at_rest = "the traffic has ended, and it measures nothing until it is activated again"

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__(NODE_NAME, **node_arguments)
        self.take_parameters(PARAMETERS)
        self._recorder: SideRecorder | None = None
        self.shutdown_asked = threading.Event()
        self._controller = ""
        self._heard_s = 0.0
        self._suite = ""
        # Measuring calls may wait for counters; the others answer meanwhile, the clock above all.
        slow, quick = MutuallyExclusiveCallbackGroup(), ReentrantCallbackGroup()
        self.create_service(Trigger, "~/ping", self._ping, callback_group=quick)
        self.create_service(GetInfo, "~/get_info", self._get_info, callback_group=quick)
        self.create_service(ClockSync, "~/clock_sync", self._clock_sync, callback_group=quick)
        self.create_service(StartSuite, "~/start_suite", self._start_suite, callback_group=slow)
        self.create_service(SetTraffic, "~/set_traffic", self._set_traffic, callback_group=slow)
        self.create_service(StopSuite, "~/stop_suite", self._stop_suite, callback_group=slow)
        self.create_service(Trigger, "~/shutdown", self._shutdown, callback_group=quick)
        self.create_timer(CHECK_S, self._end_silence, callback_group=slow)

    def set_up(self) -> None:
        """Listens to the proxy."""
        self.watch = ProxyWatch(self, self.values["proxy"], self.values["drone_id"])
        self.get_logger().info(f"agent for {self.watch.name}")

    def begin(self) -> None:
        """Nobody holds the agent yet."""
        self._controller = self._suite = ""
        self._recorder = SideRecorder(self.watch)

    def end(self) -> None:
        """Ends the traffic and its process."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()

    @property
    def recorder(self) -> SideRecorder:
        """What measures this side. Raises BenchError while the agent is not active."""
        if self._recorder is None:
            raise BenchError(NOT_ACTIVE)
        return self._recorder

    # --- quick ones ---

    def _ping(self, _request: Any, response: Any) -> Any:
        if not self.active:
            response.message = NOT_ACTIVE
            return response
        response.success = self.watch.is_up and self.watch.counters() is not None
        response.message = "ready" if response.success else f"no session at {self.watch.name} yet"
        return response

    def _get_info(self, _request: Any, response: Any) -> Any:
        for name, value in environment().items():
            setattr(response, name, value)
        response.role = "gcs"
        drone_id = self.watch.drone_id if self.active else self.values["drone_id"]
        response.config = to_key_values({"proxy": self.values["proxy"], "drone_id": drone_id, "clock_id": clock_id()})
        return response

    def _clock_sync(self, _request: Any, response: Any) -> Any:
        response.t2_ns = time.monotonic_ns()
        response.t3_ns = time.monotonic_ns()
        return response

    def _shutdown(self, _request: Any, response: Any) -> Any:
        response.success, response.message = True, "the agent ends"
        self.shutdown_asked.set()
        return response

    # --- measuring ---

    def _refusal(self, controller: str) -> str:
        """Why this controller may not use the agent; "" when it may. It holds the agent from then on."""
        if not self.active:
            return NOT_ACTIVE
        if not controller:
            return "A controller must give its identity."
        if self._suite and controller != self._controller:
            return f"{TAKEN} ({self._controller})."
        self._controller, self._heard_s = controller, time.monotonic()
        return ""

    def _end_silence(self) -> None:
        """A controller that was killed ends nothing, so its run is ended here."""
        if self._suite and time.monotonic() - self._heard_s >= LEASE_S:
            self.get_logger().warning(f"{self._controller} was silent for {LEASE_S:g} s; its run is ended")
            self._suite = ""
            if self._recorder is not None:
                self._recorder.abort()

    def _start_suite(self, request: Any, response: Any) -> Any:
        response.message = self._refusal(request.controller)
        if response.message:
            return response
        try:
            self.recorder.begin(request.suite, _handshakes(request.handshakes))
        except (BenchError, ValueError) as error:
            response.message = str(error)
            return response
        self._suite = request.suite
        response.ok, response.message = True, "sampling"
        response.agent_ns = time.monotonic_ns()
        return response

    def _set_traffic(self, request: Any, response: Any) -> Any:
        response.message = self._refusal(request.controller)
        if response.message:
            return response
        try:
            if request.run and request.workload:
                self.recorder.start_traffic(self._spec(request.workload))
            elif request.run:
                pass  # the controller is still there
            elif request.quiet:
                response.sent = self.recorder.quiet()
            else:
                response.sent = self.recorder.stop_traffic(request.expected)
        except (BenchError, ValidationError, ValueError) as error:
            response.message = str(error)
            return response
        response.ok, response.message = True, "traffic runs" if request.run else "traffic has stopped"
        return response

    def _spec(self, told: Iterable[Any]) -> EndSpec:
        """What the controller says, with the address only this side knows: where ground software listens."""
        status = self.watch.status
        return EndSpec.model_validate({**nested(told), "side": "gcs", "address": status.plain_peer if status else ""})

    def _stop_suite(self, request: Any, response: Any) -> Any:
        response.message = self._refusal(request.controller)
        if not response.message and request.suite != self._suite:
            started = short_code(self._suite) or "none"
            response.message = f"Suite {short_code(request.suite)} was not started here, but {started}."
        if response.message:
            return response
        try:
            response.metrics = to_key_values(self.recorder.finish())
        except (BenchError, ValueError) as error:
            if self._recorder is not None:
                self._recorder.abort()
            response.message = str(error)
            return response
        finally:
            self._suite = ""
        response.ok, response.message = True, "measured"
        return response


def _handshakes(announced: int) -> int:
    """How many handshakes a controller announces; 1 if it says nothing. Raises ValueError."""
    if announced > MOST_HANDSHAKES:
        raise ValueError(f"The controller announced {announced} handshakes; {MOST_HANDSHAKES} are possible.")
    return max(1, announced)
