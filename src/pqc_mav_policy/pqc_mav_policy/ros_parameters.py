"""The node's ROS parameters: declared from the tables, checked by them, refused with one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pqc_mav_common import parameters as ros
from pqc_mav_policy.node_parameters import EXPERT_PREFIX, NodeParameters, node_schema
from pqc_mav_policy.parameter_table import ParameterError, build
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters


@dataclass(frozen=True)
class NodeConfig:
    """Everything the node was given, checked."""

    node: NodeParameters
    settings: Settings


def parse(given: Mapping[str, Any]) -> NodeConfig:
    """From parameter values by name. Raises ParameterError for an unknown name or a bad value."""
    values = ros.plain_values(given)
    names = {entry["key"] for entry in node_schema()}
    for name in values:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise ParameterError(f"There is no parameter '{name}'.{hint}")
    expert = {name.removeprefix(EXPERT_PREFIX): v for name, v in values.items() if name.startswith(EXPERT_PREFIX)}
    policy = {name: value for name, value in values.items() if name in PolicyParameters.model_fields}
    node = build(NodeParameters, {n: v for n, v in values.items() if n in NodeParameters.model_fields})
    settings = Settings(
        policy=build(PolicyParameters, policy),
        expert=build(ExpertParameters, expert, EXPERT_PREFIX),
        performance_file=_path(node.performance_file),
        rl_policy_file=_path(node.rl_policy_file),
    )
    return NodeConfig(node, settings)


def declare(node: Any) -> NodeConfig:
    """Checks what the user gave a node and declares every parameter, read-only. Raises ParameterError."""
    given = ros.given_parameters(node)
    config = parse(given)
    values = ros.plain_values(given)
    ros.declare(node, [ros.ParameterSpec.from_schema(entry) for entry in node_schema()], values)
    return config


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
