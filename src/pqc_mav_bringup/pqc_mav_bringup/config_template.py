# SPDX-License-Identifier: Apache-2.0
"""The documented configuration files of the proxy and the policy, which `make docs` writes.

They are generated from the engine's schema and the policy's tables; a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pqc_mav_tunnel

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_common.parameter_file import documented, head
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_policy.node_parameters import node_specs

EXAMPLE_DRONE = "drone1"
EXAMPLE_PATH = "lte"
KEYS_ROOT = "~/.pqcmav/keys"
# Keys without a default have to be filled in; these values make both ends find each other on one machine.
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "drone": {"keys": f"{KEYS_ROOT}/drones/{EXAMPLE_DRONE}", "drone_id": EXAMPLE_DRONE, "peer": "127.0.0.1"},
    "gcs": {"keys": f"{KEYS_ROOT}/gcs", "drones": [EXAMPLE_DRONE]},
}
# The demo stays on this machine, whatever else listens on it.
DEMO: Mapping[str, Mapping[str, Any]] = {
    "drone": {**EXAMPLES["drone"], "keys": f"keys/drones/{DEMO_DRONE}", "drone_id": DEMO_DRONE, "bind": "127.0.0.1"},
    "gcs": {**EXAMPLES["gcs"], "keys": "keys/gcs", "drones": [DEMO_DRONE], "bind": "127.0.0.1"},
}

# Given, even as its default, it is another thing than left out: a drone with a signing key then would not sign.
LEFT_OUT = "sign"


def _specs(role: str) -> list[ParameterSpec]:
    """Every parameter of one end, the role with its value."""
    specs = [ParameterSpec.from_schema(entry) for entry in pqc_mav_tunnel.config_schema(role)]
    return [replace(spec, default=role) if spec.name == "role" else spec for spec in specs]


def _set(role: str) -> list[ParameterSpec]:
    """The parameters of one end of the demo that its file sets."""
    return [spec for spec in _specs(role) if spec.name == "role" or spec.name in DEMO[role]]


def _block(role: str, values: Mapping[str, Any]) -> list[str]:
    """The parameters of one node, indented below `ros__parameters:`."""
    indent = " " * 6
    lines = documented(_specs(role), indent, values)
    left_out = f"{indent}{LEFT_OUT}:"
    lines = [_commented([line], indent)[0] if line.startswith(left_out) else line for line in lines]
    if role == "gcs":
        lines += _nested_example("drone", values["drones"][0], pqc_mav_tunnel.per_drone_schema(), indent)
    else:
        lines += _nested_example("path", EXAMPLE_PATH, pqc_mav_tunnel.per_path_schema(), indent)
    return lines[:-1]


def _nested_example(kind: str, name: str, schema: Iterable[Mapping[str, Any]], indent: str) -> list[str]:
    block = [f"{indent}{kind}:", f"{indent}  {name}:"]
    block += documented(map(ParameterSpec.from_schema, schema), indent + "    ")
    return [
        f"{indent}# One block per {kind}; keys left out have defaults. To use this one, remove the first #.",
        *_commented(block, indent),
    ]


def _commented(lines: Iterable[str], indent: str) -> list[str]:
    """An example that is not in force: a block for a drone or path that the list does not name would be refused."""
    return [f"{indent}#{line.removeprefix(indent)}" if line else line for line in lines]


def _nested(specs: Sequence[ParameterSpec], indent: str) -> list[str]:
    """Parameters whose names may have one prefix: those come last, below it."""
    lines = documented([spec for spec in specs if "." not in spec.name], indent)
    prefixes = dict.fromkeys(spec.name.split(".")[0] for spec in specs if "." in spec.name)
    for prefix in prefixes:
        inside = [
            replace(spec, name=spec.name.removeprefix(f"{prefix}."))
            for spec in specs
            if spec.name.startswith(f"{prefix}.")
        ]
        lines += [f"{indent}# Of the strategy {prefix}.", f"{indent}{prefix}:", *documented(inside, indent + "  ")]
    return lines[:-1]


def render(name: str) -> str:
    """The text of `drone.yaml`, `gcs.yaml`, `demo.yaml` or `policy.yaml`."""
    if name == "policy":
        lines = head("The drone's policy: which suite the tunnel uses and when keys are renewed.", "policy_config")
        lines[-1:] = [
            "# 'source' is the row of the published table ([pqcmav-paper] Table II) or the document a default comes",
            "# from; a default without one is this project's own. Documents: docs/references.md.",
            "",
        ]
        lines += ["/**:", "  pqc_policy:", "    ros__parameters:", *_nested(node_specs(), " " * 6)]
        return "\n".join(lines) + "\n"
    if name == "demo":
        lines = head("Both ends of the demo. Each start makes its own keys and ports, which win over these.")
        lines[-1:] = ["# The other keys, which have their defaults, are explained in drone.yaml and gcs.yaml.", ""]
        for role in ("drone", "gcs"):
            lines += [
                f"/**/{role}:",
                "  pqc_proxy:",
                "    ros__parameters:",
                *documented(_set(role), " " * 6, DEMO[role]),
            ]
        return "\n".join(lines[:-1]) + "\n"
    title = {
        "drone": "The airborne end. To fill in: keys, drone_id and peer.",
        "gcs": "The ground end. To fill in: keys and drones, and where each drone's MAVLink goes.",
    }[name]
    lines = [*head(title), "/**:", "  pqc_proxy:", "    ros__parameters:", *_block(name, EXAMPLES[name])]
    return "\n".join(lines) + "\n"
