# SPDX-License-Identifier: Apache-2.0
"""ROS parameters from the engine's configuration schema.

The schema (`config_schema`, `per_drone_schema`, `per_path_schema`) defines names, types, defaults and bounds, and the
engine alone judges values: what the user gave goes to it unchanged, and its sentence is the one the user reads. The
parameters declared here show the result; what is set later counts from the next configure on, shape_kbit and station at
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pqc_mav_common.local_socket import INSIDE, TUNNELS
from pqc_mav_common.parameters import AUTOSTART, ParameterError, ParameterSpec

ROLE = "role"
ROLES = ("drone", "gcs")
DRONES = "drones"
PATHS = "paths"
PEER = "peer"
TUNNEL = ParameterSpec(
    "tunnel",
    INSIDE,
    "Where the engine runs: inside this node, in the pqcmav-tunneld that was started with it (daemon), or in one that "
    "runs already (attach).",
    choices=TUNNELS,
)
PATH_KEYS = frozenset({"control_socket", "keys", "state_dir"})


def specs(role: str, schema: Iterable[Mapping[str, Any]]) -> list[ParameterSpec]:
    """Specs of all keys of a role; the role's own default is the given role."""
    made = [ParameterSpec.from_schema(entry) for entry in schema]
    return [replace(spec, default=role) if spec.name == ROLE else spec for spec in made]


def nested_specs(prefix: str, names: Sequence[str], schema: Iterable[Mapping[str, Any]]) -> list[ParameterSpec]:
    """Specs of the keys below `drone.<id>.` for each drone of a gcs, or `path.<name>.` for each path of a drone.

    One named twice is declared once; the engine then refuses it with a sentence.
    """
    entries = list(schema)
    return [ParameterSpec.from_schema(entry, f"{prefix}.{name}.") for name in dict.fromkeys(names) for entry in entries]


def engine_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """What goes to the engine: the user's values, unchanged except that `~` in paths becomes the home folder.

    `autostart` and `tunnel` are the node's own.
    """
    config = {name: value for name, value in given.items() if name not in (AUTOSTART.name, TUNNEL.name)}
    for name in PATH_KEYS & config.keys():
        if isinstance(config[name], str) and config[name]:
            config[name] = str(Path(config[name]).expanduser())
    return config


def shown(spec: ParameterSpec, config: Mapping[str, Any]) -> Any:
    """The value to declare. One that does not fit is declared as the default; the engine then refuses it."""
    value = config.get(spec.name, spec.default)
    if spec.name == PEER and isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))  # several ground stations: the engine takes both forms
    try:
        return spec.check("", value)
    except ParameterError:
        return spec.default
