# SPDX-License-Identifier: Apache-2.0
"""The node's ROS parameters: declared from the tables, checked by them, refused with one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_common import parameters as ros
from pqc_mav_policy.node_parameters import EXPERT_PREFIX, NodeParameters, node_specs
from pqc_mav_policy.parameter_table import build, names
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters

NODE_NAME = "pqc_policy"


@dataclass(frozen=True)
class NodeConfig:
    """Everything the node was given, checked."""

    node: NodeParameters
    settings: Settings


def parse(given: Mapping[str, Any]) -> NodeConfig:
    """From parameter values by name. Raises ParameterError for an unknown name or a bad value."""
    return _config(ros.check(NODE_NAME, node_specs(), ros.plain_values(given)))


def declare(node: Any, siblings: Iterable[str] = ()) -> NodeConfig:
    """Checks what the user gave a node and declares every parameter, read-only. Raises ParameterError.

    `siblings` are the names of parameters of nodes that share the process.
    """
    return _config(ros.take(node, node_specs(), siblings))


def _config(values: ros.Values) -> NodeConfig:
    expert = {name.removeprefix(EXPERT_PREFIX): v for name, v in values.items() if name.startswith(EXPERT_PREFIX)}
    node = build(NodeParameters, {name: values[name] for name in names(NodeParameters)})
    settings = Settings(
        policy=build(PolicyParameters, {name: values[name] for name in names(PolicyParameters)}),
        expert=build(ExpertParameters, expert, EXPERT_PREFIX),
        performance_file=_path(node.performance_file),
        rl_policy_file=_path(node.rl_policy_file),
    )
    return NodeConfig(node, settings)


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
