# SPDX-License-Identifier: Apache-2.0
"""Fixtures and helpers of the tests of every package. Only tests import this module: it needs pytest."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.free_ports import held_domain

DEADLINE_S = 90.0
GONE_S = 10.0  # a node that did not say goodbye is seen for 20 s, the lease of its participant


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Take a ROS domain that no other test run on this machine uses, unless tools/run_tests.py has taken one."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    with held_domain() as number:
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield
        del os.environ["ROS_DOMAIN_ID"]


def on_request(why: str) -> pytest.MarkDecorator:
    """Mark a test that is only run where the environment has PQCMAV_SLOW=1; `why` says what it costs."""
    return pytest.mark.skipif(not os.environ.get("PQCMAV_SLOW"), reason=f"{why}; PQCMAV_SLOW=1 runs it")


def until(condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
    """Wait until the condition holds and return what it gave; `what` says in the failure what did not come."""
    deadline = time.monotonic() + deadline_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {deadline_s:g} s: {what}")
        time.sleep(0.01)
    return found


class Running:
    """A process that runs until it is stopped; its output lines are collected. Kill it at the end of the test."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, words: str, after: int = 0) -> None:
        """Wait until a line contains `words`, beyond the first `after` lines."""
        with self._changed:
            found = self._changed.wait_for(lambda: any(words in line for line in self.lines[after:]), DEADLINE_S)
        assert found, f"no {words!r} in:\n" + "\n".join(self.lines)

    def end(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        self._reader.join(DEADLINE_S)
        return code

    def kill(self) -> None:
        """End it, whatever happened."""
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip())
                self._changed.notify_all()


class Onlooker:
    """A node that sees others from outside, as `ros2 node list` and `ros2 param dump` do. Use it in a `with` block."""

    def __enter__(self) -> Onlooker:
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self._node = Node("onlooker", context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *exc: object) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def sees(self, name: str) -> bool:
        """Whether the ROS graph has a node of this full name."""
        found = self._node.get_node_names_and_namespaces()
        return name in (f"{namespace.rstrip('/')}/{node}" for node, namespace in found)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        """The answer of a service."""
        client = self._node.create_client(kind, service)
        try:
            assert client.wait_for_service(DEADLINE_S), f"no server offers {service}"
            future = client.call_async(request)
            self._executor.spin_until_future_complete(future, DEADLINE_S)
            assert future.done(), f"no answer from {service}"
            return future.result()
        finally:
            self._node.destroy_client(client)

    def dump(self, name: str) -> str:
        """The parameter file that `ros2 param dump` writes of a node."""
        import yaml
        from rcl_interfaces.srv import GetParameters, ListParameters
        from rclpy.parameter import parameter_value_to_python

        listed = self.call(ListParameters, f"{name}/list_parameters", ListParameters.Request())
        names = sorted(listed.result.names)
        values = self.call(GetParameters, f"{name}/get_parameters", GetParameters.Request(names=names)).values
        assert len(values) == len(names), f"{name}: {len(values)} values of {len(names)} parameters"
        tree: dict[str, Any] = {}
        for parameter, value in zip(names, values, strict=True):
            *folders, leaf = parameter.split(".")
            block = tree
            for folder in folders:
                block = block.setdefault(folder, {})
            block[leaf] = parameter_value_to_python(value)
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
