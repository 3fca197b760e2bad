# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy`: watch the drone's policy, let it explain itself, set its mode, pin a suite, list suites by cost."""

import json
import os
import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console, print_json
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.policy.compare_command import compare
from pqc_mav_cli.policy.judge_command import judge
from pqc_mav_cli.policy.learn_command import learn
from pqc_mav_cli.policy.train_command import train

policy_app = typer.Typer(
    no_args_is_help=True, help="The drone's policy: its decisions and reasons, its mode, and suites by cost."
)
policy_app.command()(compare)
policy_app.command()(judge)
policy_app.command()(learn)
policy_app.command()(train)

NODE = "pqc_policy"
LONGEST_S = 86400.0  # a day
Namespace = Annotated[str, typer.Option(help="ROS namespace of the drone.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def _time(seconds: float) -> float:
    """A time that can be waited for. Raises CliError."""
    if not 0.0 <= seconds <= LONGEST_S:  # nor is a NaN
        raise CliError(f"--timeout is {seconds:g}; it must be between 0 and {LONGEST_S:g} s.", ExitCode.USAGE)
    return seconds


Timeout = Annotated[float, typer.Option(callback=_time, help="Seconds to wait for the policy.")]


class Mode(str, Enum):
    """The policy's modes."""

    auto = "auto"
    hold = "hold"
    manual = "manual"


@policy_app.command()
def watch(
    namespace: Namespace = "drone",
    every: Annotated[bool, typer.Option("--every", help="Show every decision, not only changes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Show decisions as they are made, until Ctrl-C: one line whenever action, rule, suite or outcome changes."""
    from pqc_mav_cli.policy import view as policy_view

    shown: tuple[str, ...] | None = None
    with _decisions(namespace) as arrived:
        message = _next(arrived, namespace, timeout)
        try:
            while True:
                if every or policy_view.identity(message) != shown:
                    shown = policy_view.identity(message)
                    print(json.dumps(policy_view.as_json(message)) if as_json else policy_view.line(message))
                    sys.stdout.flush()
                message = arrived.get()
        except KeyboardInterrupt:
            return


@policy_app.command()
def explain(namespace: Namespace = "drone", as_json: AsJson = False, timeout: Timeout = 5.0) -> None:
    """Explain the newest decision: its reason, every condition with value and limit, and its inputs.

    Parameters that were set and wait for the node's next configure are named; the limits are those in force.
    """
    from pqc_mav_cli.policy import view as policy_view
    from pqc_mav_policy.ros_parameters import waiting
    from pqc_mav_policy.strategies.cascade.explain import laid_open
    from pqc_mav_policy.telemetry import snapshot

    with _decisions(namespace) as arrived:
        message = _next(arrived, namespace, timeout)
    try:
        inputs, now = snapshot.of_decision(message)
        own, limits = snapshot.own_conditions(message), snapshot.limits(message)
        in_force = snapshot.own_parameters(message)
    except snapshot.SnapshotError as error:
        raise CliError(f"The policy in {namespace} has another version: {error}") from None
    if limits is None or in_force is None:
        raise CliError(f"The policy in {namespace} has an earlier version: its decisions do not say by which limits.")
    found = laid_open(own, inputs, limits, now)
    waits = waiting(in_force, _parameters(namespace, timeout))
    if as_json:
        conditions, not_yet = policy_view.conditions_json(found), policy_view.waiting_json(waits)
        print_json({**policy_view.as_json(message), "conditions": conditions, "waiting": not_yet})
        return
    out = console()
    out.print(policy_view.line(message))
    out.print(policy_view.conditions_table(found))
    out.print(policy_view.summary(inputs))
    for each in policy_view.waiting_lines(waits):
        out.print(each)


@policy_app.command()
def mode(
    mode: Annotated[Mode, typer.Argument(help="auto: decide and act; hold: only decide; manual: keep the suite.")],
    namespace: Namespace = "drone",
    as_json: AsJson = False,
    timeout: Timeout = 5.0,
) -> None:
    """Set how the policy acts."""
    from pqc_mav_interfaces.srv import SetMode

    answer = _call(SetMode, "set_mode", SetMode.Request(mode=mode.value), namespace, timeout)
    _answered(answer, as_json, {"mode": answer.mode})


@policy_app.command()
def pin(
    suite: Annotated[str, typer.Argument(help="Suite to keep: short code or id; 'none' releases it (mode auto).")],
    namespace: Namespace = "drone",
    as_json: AsJson = False,
    timeout: Timeout = 5.0,
) -> None:
    """Pin the policy to one suite, whatever the telemetry says."""
    from pqc_mav_interfaces.srv import PinSuite

    if not suite:
        raise CliError("Name the suite to pin, or 'none' to release the pin.", ExitCode.USAGE)
    name = "" if suite == "none" else suite
    if name:
        import pqc_mav_tunnel

        with engine_errors():
            name = pqc_mav_tunnel.find_suite(name).id
    answer = _call(PinSuite, "pin_suite", PinSuite.Request(suite=name), namespace, timeout)
    _answered(answer, as_json, {"suite": name})


@policy_app.command()
def table(
    measured: Annotated[
        Path | None,
        typer.Option(help="Handshakes measured on this machine: engine.json.gz of 'make bench'.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List all suites, not only the 72 core suites.")] = False,
    as_json: AsJson = False,
) -> None:
    """List suites from light to heavy next to their published tiers and handshake times."""
    from pqc_mav_cli.policy import view as policy_view
    from pqc_mav_policy.registry import engine_catalogue
    from pqc_mav_policy.suite_table import rows

    catalogue = engine_catalogue()
    handshakes: dict[str, float] = {}
    source = "published computation of the primitives (Raspberry Pi 5)"
    if measured is not None:
        from pqc_mav_policy_lab.flight_model.costs import CostError, measured_costs

        try:
            costs = measured_costs(measured, catalogue)
        except CostError as error:
            raise CliError(str(error), ExitCode.USAGE) from None
        handshakes = {name: seconds * 1000 for name, seconds in costs.compute_s.items()}
        source = costs.source
    found = rows([suite for suite in catalogue.values() if every or suite.core], handshakes)
    if as_json:
        print_json(policy_view.suites_json(found, source))
        return
    console().print(policy_view.suites_table(found))


@contextmanager
def _decisions(namespace: str) -> Iterator[queue.SimpleQueue[Any]]:
    """PolicyDecision messages of a drone as they come, the newest old one first."""
    from pqc_mav_cli.ros_session import in_namespace, ros_node

    with ros_node("pqcmav_policy") as node:
        from pqc_mav_interfaces.msg import PolicyDecision

        from pqc_mav_common import qos

        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        topic = in_namespace(namespace, f"{NODE}/decision")
        node.create_subscription(PolicyDecision, topic, arrived.put, qos.latched(1))
        yield arrived


def _next(arrived: queue.SimpleQueue[Any], namespace: str, timeout: float) -> Any:
    from pqc_mav_cli.ros_session import in_namespace, reachable

    try:
        return arrived.get(timeout=timeout)
    except queue.Empty:
        topic = in_namespace(namespace, f"{NODE}/decision")
        raise CliError(
            f"No decision on {topic} within {timeout:g} s ({reachable(os.environ)}); is the policy running?"
        ) from None


def _parameters(namespace: str, timeout: float) -> dict[str, Any]:
    """The policy's parameters as they were set last; those that it has not are left out."""
    from rcl_interfaces.srv import GetParameters
    from rclpy.parameter import parameter_value_to_python

    from pqc_mav_policy.node_parameters import node_specs

    wanted = [spec.name for spec in node_specs()]
    answer = _call(GetParameters, "get_parameters", GetParameters.Request(names=wanted), namespace, timeout)
    values = [parameter_value_to_python(value) for value in answer.values]
    return {name: value for name, value in zip(wanted, values, strict=False) if value is not None}


def _call(kind: Any, service: str, request: Any, namespace: str, timeout: float) -> Any:
    from pqc_mav_cli.ros_session import ask, in_namespace, ros_node

    with ros_node("pqcmav_policy") as node:
        return ask(node, kind, in_namespace(namespace, f"{NODE}/{service}"), request, timeout, timeout)


def _answered(answer: Any, as_json: bool, more: dict[str, Any]) -> None:
    if not answer.ok:
        raise CliError(answer.message)
    if as_json:
        print_json({"ok": True, "message": answer.message, **more})
    else:
        print(answer.message)
