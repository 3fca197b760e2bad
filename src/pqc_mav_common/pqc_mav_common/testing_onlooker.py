# SPDX-License-Identifier: Apache-2.0
"""A node that sees others from outside, and a process that is started again from what it saw. Only tests import it."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import rclpy
import yaml
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python

from pqc_mav_common.action_call import ActionCall
from pqc_mav_common.executors import Spun
from pqc_mav_common.testing import DEADLINE_S, GONE_S, until

# A server that was killed is seen for a while and takes questions with it, and one that met this node a moment ago may
# answer before it knows the way back. A question is asked again after the first time, a transition counts by what came
# of it after the second.
ANSWER_S, TRANSITION_S = 2.0, 10.0
Own = TypeVar("Own", bound="Onlooker")


@pytest.fixture(scope="module")
def ros() -> Iterator[None]:
    """ROS in this process."""
    rclpy.init()
    yield
    rclpy.try_shutdown()


def _answered(pending: Any, limit_s: float) -> bool:
    end = time.monotonic() + limit_s
    while not pending.done() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(pending.done())


def diagnosed(arrays: Sequence[Any], name: str) -> tuple[int, str]:
    """Level and text of the last diagnosis of this name in messages of `/diagnostics`; -1 where there is none."""
    for array in reversed(arrays):
        for status in array.status:
            if status.name == name:
                return status.level[0], status.message
    return -1, ""


class Onlooker:
    """What it collects comes by itself: it spins in a thread of its own. Use it in a `with` block."""

    def __init__(self) -> None:
        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self.node = Node("onlooker", context=self._context, enable_rosout=False)
        self._executor = Spun(SingleThreadedExecutor(context=self._context))
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        self._clients: dict[tuple[Any, str], Any] = {}
        self._actions: dict[tuple[Any, str], ActionCall] = {}

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *exc: object) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def sees(self, name: str) -> bool:
        """Whether the ROS graph has a node of this full name, as `ros2 node list` shows it."""
        found = self.node.get_node_names_and_namespaces()
        return name in (f"{namespace.rstrip('/')}/{node}" for node, namespace in found)

    def collect(self, kind: Any, topic: str, profile: Any) -> list[Any]:
        """The messages of a topic from now on."""
        seen: list[Any] = []
        self.node.create_subscription(kind, topic, seen.append, profile)
        return seen

    def newest(self, kind: Any, topic: str, profile: Any) -> list[Any]:
        """What a subscriber that comes now gets first. It leaves again: hundreds that stay would slow everybody."""
        seen: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, seen.append, profile)
        try:
            until(lambda: seen, f"a message of {topic}")
            return list(seen)
        finally:
            # By the thread that spins: an executor that finds what it waits for destroyed by another one ends with
            # InvalidHandle, and this node would hear nothing any more.
            until(self.node.executor.create_task(self.node.destroy_subscription, subscription).done, "its end")

    def ask(self, kind: Any, service: str, request: Any | None = None) -> Any:
        """A pending answer of a service."""
        key = (kind, service)
        if key not in self._clients:
            self._clients[key] = self.node.create_client(kind, service)
        client = self._clients[key]
        assert client.wait_for_service(DEADLINE_S), f"no server offers {service}"
        return client.call_async(kind.Request() if request is None else request)

    def call(self, kind: Any, service: str, request: Any | None = None) -> Any:
        """The answer of a service; it is asked once more long after any answer would have come."""
        pending = self.ask(kind, service, request)
        if not _answered(pending, DEADLINE_S / 2):
            pending = self.ask(kind, service, request)
        until(pending.done, f"an answer from {service}")
        return pending.result()

    def act(self, kind: Any, name: str, goal: Any) -> tuple[Any, list[Any]]:
        """Result and feedback of an action. The result may overtake the last feedback.

        At the first call the server may not have met this node's reader of feedback yet: then the first is missing.
        """
        heard: list[Any] = []
        if (kind, name) not in self._actions:
            self._actions[(kind, name)] = ActionCall(self.node, kind, name)
        call = self._actions[(kind, name)]
        assert call.wait_ready(DEADLINE_S), f"no server offers {name}"
        pending = call.begin(goal, heard.append)
        assert pending.wait(DEADLINE_S), f"no result from {name}"
        assert not pending.failure, pending.failure
        return pending.result, heard

    # --- lifecycle ---

    def state(self, name: str) -> str:
        """What `ros2 lifecycle get` says."""
        end = time.monotonic() + DEADLINE_S
        while not _answered(pending := self.ask(GetState, f"{name}/get_state"), ANSWER_S):
            assert time.monotonic() < end, f"{name} does not tell its state"
        return str(pending.result().current_state.label)

    def change(self, name: str, *transitions: str) -> bool:
        """What `ros2 lifecycle set` does, one after the other; whether each succeeded."""
        return all(self._changed(name, transition) for transition in transitions)

    def _changed(self, name: str, transition: str) -> bool:
        before = self.state(name)
        request = ChangeState.Request()
        request.transition.label = transition
        pending = self.ask(ChangeState, f"{name}/change_state", request)
        return bool(pending.result().success) if _answered(pending, TRANSITION_S) else self.state(name) != before

    # --- parameters ---

    def put(self, name: str, parameter: str, value: Any) -> Any:
        """What `ros2 param set` does: the answer."""
        request = SetParameters.Request(parameters=[Parameter(parameter, value=value).to_parameter_msg()])
        return self.call(SetParameters, f"{name}/set_parameters", request).results[0]

    def values(self, name: str) -> dict[str, Any]:
        """Its parameters and their values, by name."""
        names = sorted(self.call(ListParameters, f"{name}/list_parameters").result.names)
        values = self.call(GetParameters, f"{name}/get_parameters", GetParameters.Request(names=names)).values
        return dict(zip(names, map(parameter_value_to_python, values), strict=True))

    def dump(self, name: str) -> str:
        """The parameter file that `ros2 param dump` writes of a node."""
        tree: dict[str, Any] = {}
        for parameter, value in self.values(name).items():
            *folders, leaf = parameter.split(".")
            block = tree
            for folder in folders:
                block = block.setdefault(folder, {})
            block[leaf] = value
        return str(yaml.dump({name: {"ros__parameters": tree}}, default_flow_style=False))


def run_twice(
    command: Sequence[str], namespace: str, nodes: Sequence[str], arguments: Sequence[str], folder: Path
) -> tuple[str, str]:
    """Run a process with these ROS arguments, then again from what `ros2 param dump` says of its nodes.

    Return both dumps. Each time the nodes must be gone from the ROS graph soon after SIGINT has ended the process.
    """
    names = [f"{namespace}/{node}" for node in nodes]
    start = [*command, "--ros-args", "-r", f"__ns:={namespace}"]
    first = _dumps([*start, *arguments], names, folder / "first.log")
    dump = folder / "dump.yaml"
    dump.write_text(first)
    return first, _dumps([*start, "--params-file", str(dump)], names, folder / "again.log")


def _dumps(command: Sequence[str], names: Sequence[str], log: Path) -> str:
    with Onlooker() as onlooker, log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            until(lambda: process.poll() is not None or all(map(onlooker.sees, names)), f"{names} up")
            assert process.poll() is None, log.read_text()
            dumped = "".join(onlooker.dump(name) for name in names)
            process.send_signal(signal.SIGINT)
            assert process.wait(DEADLINE_S) == 0, log.read_text()
            until(lambda: not any(map(onlooker.sees, names)), f"{names} gone from the graph", GONE_S)
            return dumped
        finally:
            process.kill()
            process.wait()
