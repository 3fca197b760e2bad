# SPDX-License-Identifier: Apache-2.0
"""Writes parameter files that are their own manual: each parameter has its meaning, valid values and default before it.

All of it comes from the nodes' own tables, so that the files cannot fall behind them.
"""

from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

from pqc_mav_common.parameters import ParameterSpec, yaml_text

WIDTH = 118


def head(title: str, option: str = "config") -> list[str]:
    """The first lines of a file that the option `--option` of `pqcmav up` and the launch argument `option` name."""
    flag = option.replace("_", "-")
    return [
        f"# {title}",
        f"# A ROS 2 parameter file: 'pqcmav up ... --{flag} FILE' and 'ros2 launch ... {option}:=FILE' read it.",
        "# Keys may be left out. An unknown key and a value out of range are refused with a sentence that says so.",
        "",
    ]


def documented(specs: Iterable[ParameterSpec], indent: str, values: Mapping[str, Any] | None = None) -> list[str]:
    """Lines for parameters, each followed by an empty one; those not in `values` have their defaults."""
    lines: list[str] = []
    given = values or {}
    room = WIDTH - len(indent) - len("# ")
    for spec in specs:
        lines += [f"{indent}# {line}" for text in (spec.description, spec.facts()) for line in wrap(text, room)]
        lines += [f"{indent}{spec.name}: {yaml_text(given.get(spec.name, spec.default))}", ""]
    return lines
