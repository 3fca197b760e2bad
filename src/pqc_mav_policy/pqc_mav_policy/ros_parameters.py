# SPDX-License-Identifier: Apache-2.0
"""The node's ROS parameters: declared from the tables, checked by them, refused with one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_common import parameters as ros
from pqc_mav_policy.node_parameters import EXPERT_PREFIX, MEASURED_PREFIX, NodeParameters, node_specs
from pqc_mav_policy.parameter_table import build, names
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters

NODE_NAME = "pqc_policy"


@dataclass(frozen=True)
class NodeConfig:
    """Everything the node was given, checked."""

    node: NodeParameters
    settings: Settings


def parse(given: Mapping[str, Any]) -> NodeConfig:
    """From parameter values by name. Raises ParameterError for an unknown name or a bad value."""
    return config_of(ros.check(NODE_NAME, [ros.AUTOSTART, *node_specs()], ros.plain_values(given)))


def config_of(values: ros.Values) -> NodeConfig:
    """From values that were checked already."""
    measured, expert = (
        {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
        for prefix in (MEASURED_PREFIX, EXPERT_PREFIX)
    )
    node = build(NodeParameters, {name: values[name] for name in names(NodeParameters)})
    settings = Settings(
        policy=build(PolicyParameters, {name: values[name] for name in names(PolicyParameters)}),
        measured=build(MeasuredParameters, measured, MEASURED_PREFIX),
        expert=build(ExpertParameters, expert, EXPERT_PREFIX),
        performance_file=_path(node.performance_file),
        rl_policy_file=_path(node.rl_policy_file),
    )
    return NodeConfig(node, settings)


def changed(values: ros.Values) -> dict[str, Any]:
    """Those that differ from their defaults, as JSON has them."""
    found = {spec.name: values[spec.name] for spec in node_specs() if values[spec.name] != spec.default}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def waiting(in_force: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What was set and waits for the next configure: name -> the value in force, and the one that was set.

    `in_force` as `changed` has it, `told` what ROS says of the node's parameters. Raises ParameterError.
    """
    counts, asked = (ros.check(NODE_NAME, node_specs(), each) for each in (in_force, ros.plain_values(told)))
    return {name: (counts[name], asked[name]) for name in told if asked[name] != counts[name]}


def look(name: str, value: Any) -> None:
    """Reads the file, or looks up the suites, that a parameter names. Raises ValueError and TunnelError."""
    if name in ("suites", "pinned_suite"):
        for suite in filter(None, (value,) if isinstance(value, str) else value):
            suite_id(suite)
    elif name == "performance_file" and value:
        Settings(performance_file=_path(value)).performance()
    elif name == "rl_policy_file" and value:
        from pqc_mav_policy.strategies.rl.strategy import table_of  # who flies another one does without

        table_of(Settings(rl_policy_file=_path(value)))


def suite_id(name: str) -> str:
    """By id or short code. Raises TunnelError."""
    import pqc_mav_tunnel  # not for who only reads parameters

    return str(pqc_mav_tunnel.find_suite(name).id)


def _path(text: str) -> Path | None:
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError as error:  # of ~user without such a user
        raise ros.ParameterError(f"'{text}' is no path: {error}") from None
