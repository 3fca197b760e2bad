#!/usr/bin/env python3
"""Writes docs/policy-parameters.md out of the policy's parameter tables (see generated_doc.py)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from configuration_doc import valid, value
from generated_doc import DOCS, main, table

from pqc_mav_policy.node_parameters import EXPERT_PREFIX, NodeParameters
from pqc_mav_policy.parameter_table import schema
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters

PAGE = DOCS / "policy-parameters.md"
Entry = Mapping[str, Any]

_HEAD = """\
# Parameters of the policy

<!-- Made by tools/policy_doc.py from pqc_mav_policy's parameter tables: change those instead. -->

ROS parameters of the node `pqc_policy`, read once at start and read-only afterwards. They are given in a ROS 2
parameter file (`pqcmav up drone --policy-config FILE`, `ros2 launch ... policy_config:=FILE`);
[`config/policy.yaml`](../config/policy.yaml) is a complete one. A misspelt name and a value out of range are refused
with one sentence.

*Source* names the row of the published table (document 001) or the document a default comes from; where it is empty
the figure is this project's.
"""


def rows(entries: Iterable[Entry]) -> list[list[str]]:
    """One row per parameter: name, valid values, default, meaning, source."""
    return [
        [
            f"`{entry['key']}`",
            valid(entry),
            f"`{value(entry, entry['default'])}`",
            entry["description"],
            f"`{entry['published']}`" if "_" in entry["published"] else entry["published"],
        ]
        for entry in entries
    ]


def text() -> str:
    """The whole page."""
    sections = (
        ("The node", schema(NodeParameters)),
        ("Every strategy", schema(PolicyParameters)),
        ("Strategy expert", schema(ExpertParameters, EXPERT_PREFIX)),
    )
    titles = ("parameter", "valid values", "default", "meaning", "source")
    lines = [_HEAD]
    for title, entries in sections:
        lines += [f"## {title}", "", *table(titles, rows(entries)), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(PAGE, text))
