# SPDX-License-Identifier: Apache-2.0
"""The controller on the drone's side, master of a campaign: the action `~/run_campaign`, progress as feedback."""

import os
import socket
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
from pqc_mav_interfaces.action import RunCampaign
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Trigger

from pqc_mav_bench.campaign import Campaign, Progress
from pqc_mav_bench.collectors.environment import VERSIONS, environment
from pqc_mav_bench.controller_ends import RosDrone, RosGround
from pqc_mav_bench.errors import BenchError, OptionsError
from pqc_mav_bench.options import told_options
from pqc_mav_bench.plan import new_campaign, resumed_campaign
from pqc_mav_bench.policy_aside import PolicyAside
from pqc_mav_bench.schema.run import SchemaError
from pqc_mav_bench.store import DEFAULT_ROOT, controller_lock
from pqc_mav_bench.suite_session import SuiteSession
from pqc_mav_common.lifecycle import Entities, ManagedNode
from pqc_mav_common.parameters import ParameterSpec

NODE_NAME = "bench_controller"
PARAMETERS = (
    ParameterSpec("root", str(DEFAULT_ROOT), "Folder below which campaigns are stored."),
    ParameterSpec("proxy", "/drone/pqc_proxy", "Node name of the drone's proxy."),
    ParameterSpec("agent", "/gcs/bench_agent", "Node name of the agent on the ground."),
    ParameterSpec("drone_id", "", "The drone whose link is measured; empty = the only one of the proxy."),
    ParameterSpec(
        "policy",
        "/drone/pqc_policy",
        "Node name of the drone's policy, held while a campaign runs; empty: there is none.",
    ),
    ParameterSpec("power", "power", "Topic with this computer's power, if anything publishes it."),
    ParameterSpec("shutdown_agent", False, "End the agent after a complete campaign."),
)


class ControllerNode(ManagedNode):
    """Its parameters are PARAMETERS. Raises ParameterError."""

    fixed = frozenset({"root"})
    at_rest = "a campaign under way has ended and is on disk"

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__(NODE_NAME, **node_arguments)
        self.take_parameters(PARAMETERS)
        # What arrives is handled by a node with one thread: on a busy machine an executor of several spins until a
        # message is taken, and the benchmark's own processor time is part of what it measures.
        self.observer = Node(
            f"{NODE_NAME}_observer",
            namespace=self.get_namespace(),
            context=self.context,
            use_global_arguments=False,
        )
        self._heard: Entities | None = None
        self._drone: RosDrone | None = None
        self._policy: PolicyAside | None = None
        self._stop = threading.Event()
        self._busy = threading.Lock()
        group = ReentrantCallbackGroup()
        self.create_service(Trigger, "~/ping", self._ping, callback_group=group)
        self._action = ActionServer(
            self,
            RunCampaign,
            "~/run_campaign",
            execute_callback=self._execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT if self._idle() else GoalResponse.REJECT,
            cancel_callback=self._cancel,
            callback_group=group,
        )

    def set_up(self) -> None:
        """Listens to the drone's proxy and looks for the agent."""
        values = self.values
        self._root = values.path("root")
        self._shutdown_agent = values["shutdown_agent"]
        self._heard = Entities(self.observer)
        self._ground = RosGround(self.observer, values["agent"], f"{socket.gethostname()}:{os.getpid()}")
        self._policy = PolicyAside(self.observer, values["policy"])
        self._drone = RosDrone(self.observer, values["proxy"], values["drone_id"], values["power"])

    def end(self) -> None:
        """Stops a running campaign, which is on disk."""
        self._stop.set()
        with self._busy:
            pass  # it has ended

    def tear_down(self) -> None:
        """Ends the helper processes and hears nothing more."""
        drone, self._drone = self._drone, None
        if drone is not None:
            drone.close()
        heard, self._heard = self._heard, None
        if heard is not None:
            heard.destroy()

    def close(self) -> None:
        """Stops a running campaign and ends the helper processes."""
        super().close()
        self.tear_down()
        self._action.destroy()

    def _idle(self) -> bool:
        return self.active and not self._busy.locked()

    def _ping(self, _request: Any, response: Any) -> Any:
        response.success = True
        response.message = "busy" if self._busy.locked() else "idle" if self.active else "not active"
        return response

    def _cancel(self, _goal: Any) -> Any:
        self._stop.set()
        return CancelResponse.ACCEPT

    def _execute(self, goal: Any) -> Any:
        result = RunCampaign.Result()
        drone = self._drone
        if drone is None or not self._busy.acquire(blocking=False):
            result.message = "This controller runs a campaign already, or is not active."
            goal.abort()
            return result
        try:
            self._stop.clear()
            self._campaign(drone, goal, result)
        except (BenchError, SchemaError) as error:
            result.message = str(error)
        except Exception as error:  # the client must hear of it; the process goes on
            self.get_logger().error(f"unexpected: {error!r}")
            result.message = f"Unexpected: {type(error).__name__}: {error}"
        finally:
            self._busy.release()
        if goal.is_cancel_requested:
            goal.canceled()
        elif result.ok:
            goal.succeed()
        else:
            goal.abort()
        return result

    def _campaign(self, drone: RosDrone, goal: Any, result: Any) -> None:
        request = goal.request
        with controller_lock(self._root):
            versions = {name: str(environment()[name]) for name in VERSIONS}
            if request.resume:
                if not request.run_directory:
                    raise OptionsError("To resume, give the folder of the campaign.")
                plan = resumed_campaign(Path(request.run_directory), self.get_logger().warning)
            else:
                plan = new_campaign(self._root, told_options(request.options), versions)
            result.run_directory = str(plan.store.folder)
            session = SuiteSession(
                drone,
                self._ground,
                plan.options,
                plan.store.name,
                lambda suite: pqc_mav_tunnel.find_suite(suite).as_dict(),
                self._stop,
            )
            campaign = Campaign(
                plan.store, plan.options, plan.schedule, session, self._ground,
                lambda progress: goal.publish_feedback(feedback(progress)), self.get_logger().warning, self._stop,
            )  # fmt: skip
            policy = self._policy
            assert policy is not None
            held = policy.step_aside(plan.store)
            if held:
                self.get_logger().info(held)
            try:
                complete = campaign.run()
            finally:
                if wrong := policy.go_on(plan.store):
                    self.get_logger().warning(wrong)
                counts = plan.schedule.counts()
                result.passed, result.failed = counts.completed, counts.failed
        result.ok = complete
        done = f"{counts.completed} passed, {counts.failed} failed, {counts.pending} pending"
        result.message = f"Complete: {done}." if complete else f"Stopped: {done}; 'pqcmav bench resume' continues."
        if complete and self._shutdown_agent:
            self._ground.shutdown()


def feedback(progress: Progress) -> Any:
    """Progress as the action's feedback."""
    return RunCampaign.Feedback(**asdict(progress))
