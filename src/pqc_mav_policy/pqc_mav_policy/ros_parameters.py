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


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
