# SPDX-License-Identifier: Apache-2.0
"""The page docs/policy-parameters.md, made from the policy's parameter tables (see docs.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from configuration_doc import valid
from markdown_table import table

from pqc_mav_common.parameters import ParameterSpec, yaml_text
from pqc_mav_policy.node_parameters import EXPERT_PREFIX, MEASURED_PREFIX, NodeParameters
from pqc_mav_policy.parameter_table import schema
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters

Entry = Mapping[str, Any]

_HEAD = """\
# Parameters of the policy

<!-- Made by 'make docs' from pqc_mav_policy's parameter tables: change those instead. -->

ROS parameters of the node `pqc_policy`. They are read when the node is configured; a later change counts from its
[next configure](launch.md#lifecycle) on. Give them in a
ROS 2 parameter file (`pqcmav up drone --policy-config FILE`, `ros2 launch ... policy_config:=FILE`);
[`config/policy.yaml`](../config/policy.yaml) is a complete one. A misspelt name or a value out of range is refused with
one sentence.

*Source* names the row of the published table ([pqcmav-paper], Table II) or the document a default comes from. If it
is empty, the figure is this project's own.
"""


def rows(entries: Iterable[Entry]) -> list[list[str]]:
    """Return one row per parameter: name, valid values, default, meaning, source."""
    return [
        [
            f"`{spec.name}`",
            valid(spec),
            f"`{yaml_text(spec.default)}`",
            spec.description,
            f"`{published}`" if "_" in published else published,
        ]
        for spec, published in ((ParameterSpec.from_schema(entry), entry["published"]) for entry in entries)
    ]


def text() -> str:
    """Return the whole page."""
    sections = (
        ("The node", schema(NodeParameters)),
        ("Every strategy", schema(PolicyParameters)),
        ("Strategy measured", schema(MeasuredParameters, MEASURED_PREFIX)),
        ("Strategy expert", schema(ExpertParameters, EXPERT_PREFIX)),
    )
    titles = ("parameter", "valid values", "default", "meaning", "source")
    lines = [_HEAD]
    for title, entries in sections:
        lines += [f"## {title}", "", *table(titles, rows(entries)), ""]
    return "\n".join([*lines, "[pqcmav-paper]: references.md#pqcmav-paper", ""])
