# SPDX-License-Identifier: Apache-2.0
"""The policy node: telemetry in, one decision a second out, and rekeys asked of the proxy without ever waiting."""

import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import pqc_mav_tunnel
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import (
    BatteryHealth,
    HandshakeReport,
    LinkQuality,
    PolicyDecision,
    SystemLoad,
    ThermalState,
    ThreatReport,
    TunnelStatus,
    VehicleState,
)
from pqc_mav_interfaces.srv import PinSuite, Rekey, SetMode
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import to_messages
from pqc_mav_common.errors import ProcessError, one_line
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_policy.availability import Availability
from pqc_mav_policy.controller import Controller, Request, Tick
from pqc_mav_policy.diagnosis import diagnose
from pqc_mav_policy.node_parameters import Mode, node_specs
from pqc_mav_policy.pace import Pace
from pqc_mav_policy.registry import engine_catalogue
from pqc_mav_policy.ros_parameters import NodeConfig, changed, config_of, look, suite_id
from pqc_mav_policy.settings import make
from pqc_mav_policy.shape_request import ShapeRequest
from pqc_mav_policy.telemetry import snapshot
from pqc_mav_policy.telemetry.telemetry import PEER, Telemetry

NODE_NAME = "pqc_policy"
TICK_S = 1.0
POLLS = 5  # of the clock per tick
NOT_CONFIGURED = "The policy is not configured yet."
MODES: tuple[Mode, ...] = ("auto", "hold", "manual")


class PqcPolicyNode(ManagedNode):
    """Decides for the drone whose proxy runs in the same namespace."""

    # Parameters, strategies, tables and suite names are refused with one sentence.
    refusals = (ProcessError, ValueError, pqc_mav_tunnel.TunnelError)
    at_rest = "it decides nothing until it is activated again, and the suite stays as it is"

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        tick_s: float = TICK_S,
        siblings: Iterable[str] = (),
        **node_arguments: Any,
    ) -> None:
        """Raises ParameterError. With other parameters, strategies and tables it is configuring that fails."""
        super().__init__(NODE_NAME, **node_arguments)
        self._now = clock
        self._tick_s = tick_s
        self.take_parameters(node_specs(), siblings)
        self.config: NodeConfig | None = None
        self._rekey: Any = None  # the client of the proxy's service
        self._shape: ShapeRequest | None = None
        self._hardware_id = socket.gethostname()
        # From the start: who asks a policy without a configuration is told so, instead of waiting for no answer.
        self.create_service(SetMode, "~/set_mode", self._set_mode)
        self.create_service(PinSuite, "~/pin_suite", self._pin_suite)

    def why_not(self, name: str, value: Any) -> str:
        """Files are read and suites looked up when they are set: the next configure would be too late to say."""
        try:
            look(name, value)
        except self.refusals as error:
            return one_line(error)
        return ""

    def offer(self) -> None:
        """What it decides."""
        self._decision = self.create_lifecycle_publisher(PolicyDecision, "~/decision", qos.latched(1))
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.periodic(1))
        self.every(self._tick_s / POLLS, self._on_clock)

    def set_up(self) -> None:
        """Makes the strategy and listens to what it decides by."""
        config = config_of(self.values)
        node, settings = config.node, config.settings
        catalogue = engine_catalogue()
        telemetry = Telemetry(settings.policy.near_switch_s, node.threat_timeout_s)
        strategy = make(node.strategy, catalogue, settings)
        self.controller = Controller(strategy, catalogue, settings.policy, telemetry, self._now())
        self.controller.mode = node.mode
        self.controller.pin = suite_id(node.pinned_suite) if node.pinned_suite else ""
        wanted = [suite_id(name) for name in node.suites]
        named = [catalogue[name] for name in wanted]
        named += [found] if (found := catalogue.find(settings.policy.target_suite)) else []
        if drafts := [suite.short_code for suite in named if not (suite.standard or settings.policy.allow_drafts)]:
            self.get_logger().warning(
                f"'suites' and 'target_suite' name {', '.join(drafts)}, which no published standard specifies: without "
                "'allow_drafts: true' it is not chosen"
            )
        self._availability = Availability(self, node.proxy, wanted, self.controller.allow)
        self._request_timeout_s = node.request_timeout_s
        self._sequence = 0
        self._failure = ""  # HandshakeReport's identifier of the newest failed handshake
        self._took_s: float | None = None  # the newest rekey's handshake
        self._call: Any = None  # the future of its answer
        self._subscribe(node.proxy)
        self._rekey = self.create_client(Rekey, f"{node.proxy}/rekey")
        self._shape = ShapeRequest(self, node.proxy) if settings.policy.shed_kbit else None
        self._pace = Pace(self._tick_s, self._now())
        self._in_force = changed(self.values)
        self.config = config
        self.get_logger().info(f"strategy {node.strategy}, mode {node.mode}")

    def tear_down(self) -> None:
        """Forgets the strategy; a request under way is left to the proxy, which shapes no more for the policy."""
        self.config = None
        shape, self._shape = self._shape, None
        if shape is not None and (self.controller.shaped or shape.waiting):
            shape.leave(self.controller.own_kbit)
        self._rekey = None

    def _subscribe(self, proxy: str) -> None:
        telemetry = self.controller.telemetry

        def heard(stream: str) -> Callable[[Any], None]:
            # The publisher of a reading says whether it is still valid; what counts here is when it was last heard.
            return lambda message: telemetry.on(stream, message, self._now())

        # Best effort takes what reliable and best-effort publishers offer; the next reading comes within a second.
        sensor = qos_profile_sensor_data
        self.create_subscription(BatteryHealth, "battery", heard("battery"), sensor)
        self.create_subscription(ThermalState, "thermal", heard("thermal"), sensor)
        self.create_subscription(VehicleState, "vehicle", heard("vehicle"), sensor)
        self.create_subscription(SystemLoad, "system", heard("system"), sensor)
        self.create_subscription(ThreatReport, "threat", heard("threat"), sensor)
        self.create_subscription(TunnelStatus, f"{proxy}/status", self._on_status, qos.latched(1))
        self.create_subscription(LinkQuality, f"{proxy}/link", self._on_link, qos.periodic(2))
        self.create_subscription(HandshakeReport, f"{proxy}/handshake", self._on_handshake, qos.event())

    def _on_status(self, message: TunnelStatus) -> None:
        self.controller.telemetry.on_status(message, self._now(), self._age_s(message.header))
        if self._shape is not None and not self._shape.waiting:
            self.controller.on_rate(message.shape_kbit)

    def _on_link(self, message: LinkQuality) -> None:
        now = self._now()
        self.controller.telemetry.on_link(message, now)
        if message.side == PEER and self._pace.on_report(now) and self.active:
            self._tick()

    def _on_clock(self) -> None:
        if self._pace.on_clock(self._now()):
            self._tick()

    def _on_handshake(self, message: HandshakeReport) -> None:
        if message.kind.startswith("ratchet"):
            return  # of another size: it says nothing of what a handshake takes, and blames no suite
        self._failure = "" if message.ok else message.error
        self._took_s = message.handshake_ms / 1e3 if message.ok and message.rekey else None

    def _age_s(self, header: Header) -> float:
        """How long ago a latched message was made."""
        made_ns = header.stamp.sec * 1_000_000_000 + header.stamp.nanosec
        age_ns: int = self.get_clock().now().nanoseconds - made_ns
        return max(0.0, age_ns / 1e9)

    def destroy_node(self) -> None:
        """Tell the proxy that nobody asks it to shape any more, and withdraw the node."""
        if hasattr(self, "_shape"):  # Kilted also destroys a node whose making failed
            self.tear_down()
        super().destroy_node()

    # --- deciding and acting ---

    def _tick(self) -> None:
        self._collect_answer()
        tick = self.controller.tick(self._now())
        if tick.request is not None:
            self._ask(tick.request)
        if self._shape is not None:
            self._drive(self._shape, tick)
        self._report(tick)

    def _drive(self, shape: ShapeRequest, tick: Tick) -> None:
        """Tells the proxy to shape, or to leave off."""
        taken = shape.answered(tick.now)
        if taken is not None:
            self.controller.shaped = taken != self.controller.own_kbit
            why = self.controller.shedding.why or "there is room again"
            self.get_logger().info(f"the proxy shapes to {taken} kbit/s (0 = not at all, -1 = what it finds): {why}")
        elif tick.shape_kbit is not None:
            shape.ask(tick.shape_kbit, tick.now)

    def _ask(self, request: Request) -> None:
        what = self.controller.ladder.code(request.suite) or "fresh keys"
        self.get_logger().info(f"asking for {what} ({request.kind}): {request.reason}")
        self._failure, self._took_s = "", None
        if self._rekey is None or not self._rekey.service_is_ready():
            self._call = None
            self.controller.answered(False, "The proxy does not offer its service rekey.", self._now(), "unreachable")
            return
        wanted = Rekey.Request(suite=request.suite, reason=request.reason, kind=str(request.kind))
        self._call = self._rekey.call_async(wanted)

    def _collect_answer(self) -> None:
        """Takes the answer once it is there; a request without an answer is given up after a while."""
        controller, call = self.controller, self._call
        if controller.pending is None or call is None:
            return
        now = self._now()
        if call.done():
            self._call = None
            if (error := call.exception()) is not None:
                controller.answered(False, f"The call failed: {one_line(error)}.", now, "cancelled")
                return
            answer = call.result()
            if answer.ok:
                controller.telemetry.on_rekeyed(answer.suite, int(answer.epoch), now)
            controller.answered(answer.ok, one_line(answer.message), now, self._failure, self._took_s)
            # One line for each level: rclpy raises when the same line of a program logs with another severity.
            if answer.ok:
                self.get_logger().info(one_line(answer.message))
            else:
                self.get_logger().warning(one_line(answer.message))
        elif now - controller.pending[1] > self._request_timeout_s:
            self._call = None
            if self._rekey is not None:
                self._rekey.remove_pending_request(call)
            controller.answered(False, "The proxy did not answer in time.", now, "cancelled")

    # --- topics ---

    def _report(self, tick: Tick) -> None:
        controller, decision = self.controller, tick.decision
        outcome = controller.last_outcome
        header = Header(stamp=self.get_clock().now().to_msg())
        self._sequence += 1
        self._decision.publish(
            PolicyDecision(
                header=header,
                sequence=self._sequence,
                strategy=controller.strategy.name,
                mode=tick.mode,
                action=str(decision.action),
                guard=decision.guard,
                reason=decision.reason,
                from_suite=decision.from_suite,
                to_suite=decision.to_suite,
                from_rank=controller.rank(decision.from_suite),
                to_rank=controller.rank(decision.to_suite),
                phase=int(tick.inputs.vehicle.phase),
                kind=str(decision.kind) if decision.acts else "",
                requested=tick.request is not None,
                outcome=outcome.message if outcome else "",
                outcome_ok=outcome.ok if outcome else False,
                inputs=snapshot.dump(tick.inputs, tick.now, tick.conditions, self._in_force),
            )
        )
        shape = self._shape.problem if self._shape is not None else ""
        report = diagnose(tick, controller, self._availability.problem, shape)
        messages = to_messages(self.get_name(), self._hardware_id, [report])
        self._diagnostics.publish(DiagnosticArray(header=header, status=messages))

    # --- services ---

    def _set_mode(self, request: SetMode.Request, response: SetMode.Response) -> SetMode.Response:
        if self.config is None:
            response.message = NOT_CONFIGURED
            return response
        controller = self.controller
        if request.mode not in MODES:
            response.message = f"'{request.mode}' is not a mode; the modes are {', '.join(MODES)}."
        elif request.mode == "manual" and not controller.pin and not self._current():
            response.message = "There is no session whose suite could be kept; pin a suite by name."
        else:
            controller.mode = request.mode
            if request.mode == "manual":
                controller.pin = controller.pin or self._current()
            response.ok = True
            kept = f", keeping {controller.ladder.code(controller.pin)}" if request.mode == "manual" else ""
            response.message = f"Mode {request.mode}{kept}."
            self.get_logger().info(response.message)
        response.mode = controller.mode
        return response

    def _pin_suite(self, request: PinSuite.Request, response: PinSuite.Response) -> PinSuite.Response:
        if self.config is None:
            response.message = NOT_CONFIGURED
            return response
        controller = self.controller
        if not request.suite:
            controller.pin, controller.mode = "", "auto"
            response.ok, response.message = True, "Released; mode auto."
            return response
        try:
            suite = suite_id(request.suite)
        except pqc_mav_tunnel.TunnelError as error:
            response.message = one_line(error)
            return response
        code = controller.ladder.code(suite)
        if not self._availability.usable(suite):
            response.message = f"{code} cannot be pinned: {self._availability.why_not(suite)}"
            return response
        if controller.too_low(suite):
            response.message = f"{code} cannot be pinned: {controller.too_low(suite)}."
            return response
        controller.pin, controller.mode = suite, "manual"
        response.ok, response.message = True, f"Pinned {code}; mode manual."
        self.get_logger().info(response.message)
        return response

    def _current(self) -> str:
        return self.controller.telemetry.snapshot(self._now(), ()).session.suite
