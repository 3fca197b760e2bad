# SPDX-License-Identifier: Apache-2.0
"""The page docs/configuration.md, made from the engine's configuration schema (see docs.py)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pqc_mav_tunnel
from markdown_table import table

from pqc_mav_common.parameters import ParameterSpec, yaml_text

Entry = Mapping[str, Any]

_HEAD = """\
# Configuration

<!-- Made by 'make docs' from the engine's config_schema.cpp: change that table instead. -->

The engine's schema defines every key. The ROS parameters, the checks of YAML files, the commented files in
[`config/`](../config) and this page are made from it. The engine checks every value before it opens a socket. An
unknown key, a wrong type, a value out of range and a missing required key are each refused with one sentence; for an
unknown key it names the closest one that exists.

## Where keys are given

| host | form | given as |
|---|---|---|
| `pqcmav up drone`, `pqcmav up gcs` | ROS 2 parameter file | `--config FILE`; the command's options win over it |
| `ros2 launch pqc_mav_bringup drone.launch.py` | the same file | `config:=FILE`; the launch arguments win over it |
| [`pqcmav-tunneld`](tunneld.md) | plain YAML, or the same with `--node` | its arguments; `--set KEY=VALUE` wins |
| Python | a mapping | `pqc_mav_tunnel.Engine({...})` |

[`config/drone.yaml`](../config/drone.yaml) and [`config/gcs.yaml`](../config/gcs.yaml) are complete parameter files:
copy one and change what you need; a key you leave out has its default. What is set later (`ros2 param set`) is
checked at once and counts from the node's [next configure](launch.md#lifecycle) on, `shape_kbit` and `station` at
once; what names the ends, protects the link or says where plaintext goes is fixed from the start. A running tunnel
changes its suite by a [rekey](rekey.md).

As files for `pqcmav-tunneld`: [tunneld.md](tunneld.md). Bounds without a decimal point are those of whole numbers.
"""


def _names(schema: Iterable[Entry]) -> set[str]:
    return {entry["key"] for entry in schema}


def valid(spec: ParameterSpec) -> str:
    """Return what the key accepts: its choices, or type, bounds and unit."""
    if not spec.choices:
        return re.sub(r"^(whole )?number; ", "", spec.valid()).replace("; ", ", ")
    choices = ", ".join(f"`{choice}`" for choice in spec.choices)
    return f"any of {choices}" if isinstance(spec.default, tuple) else choices


def _plain(text: str) -> str:
    """Return text of the schema as Markdown that shows it unchanged."""
    return re.sub(r"([<*_])", r"\\\1", text)


def rows(schema: Iterable[Entry]) -> list[list[str]]:
    """Return one row per key: name, valid values, default, meaning."""
    return [
        [
            f"`{spec.name}`",
            valid(spec),
            "**required**" if spec.required else f"`{yaml_text(spec.default)}`",
            _plain(spec.description),
        ]
        for spec in map(ParameterSpec.from_schema, schema)
    ]


def sections() -> list[tuple[str, list[Entry]]]:
    """Return title and keys of each table but the last."""
    drone, gcs = pqc_mav_tunnel.config_schema("drone"), pqc_mav_tunnel.config_schema("gcs")
    shared = _names(drone) & _names(gcs)
    return [
        ("Both ends", [entry for entry in drone if entry["key"] in shared]),
        ("Drone only", [entry for entry in drone if entry["key"] not in shared]),
        ("Gcs only", [entry for entry in gcs if entry["key"] not in shared]),
    ]


def text() -> str:
    """Return the whole page."""
    titles = ("key", "valid values", "default", "meaning")
    lines = [_HEAD]
    for title, entries in sections():
        lines += [f"## {title}", "", *table(titles, rows(entries)), ""]
    lines += [
        "## Per drone, on the gcs",
        "",
        "Each under `drone.<id>.`, for the ids in `drones`.",
        "",
        *table(titles, rows(pqc_mav_tunnel.per_drone_schema())),
        "",
        "## Per path, on the drone",
        "",
        "Each under `path.<name>.`, for the names in `paths` ([how](paths.md)).",
        "",
        *table(titles, rows(pqc_mav_tunnel.per_path_schema())),
        "",
    ]
    return "\n".join(lines)
