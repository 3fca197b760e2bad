"""Writes the documented configuration files out of the engine's schema.

Every key stands in them with its meaning, type, valid values and default, all from the schema, so the files cannot
fall behind it: a test compares them.

    python3 -m pqc_mav_bringup.config_template FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import pqc_mav_tunnel

from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_policy.node_parameters import node_schema

WIDTH = 116
EXAMPLE_DRONE = "drone1"
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
_TYPES = {
    "bool": "true or false",
    "int": "whole number",
    "float": "number",
    "string": "text",
    "string_list": "list of texts",
}


def _facts(entry: Mapping[str, Any]) -> str:
    """Type, valid values and default of a key on one line."""
    facts = [_TYPES[entry["type"]]]
    if entry["choices"]:
        facts = ["one of " + ", ".join(entry["choices"])]
    if entry["min"] is not None and entry["max"] is not None:
        facts.append(f"{_value(entry, entry['min'])} to {_value(entry, entry['max'])}")
    if entry["unit"]:
        facts[-1] += f" [{entry['unit']}]"
    facts.append("required" if entry["required"] else f"default {_value(entry, entry['default'])}")
    return "; ".join(facts)


def _value(entry: Mapping[str, Any], value: Any) -> str:
    """A value as YAML that ROS reads in the key's type."""
    if entry["type"] == "float":
        text = repr(float(value))
        return text if "e" in text or "." in text else text + ".0"
    if entry["type"] == "int":
        return str(int(value))
    return json.dumps(value)


def _entries(schema: Iterable[Mapping[str, Any]], values: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for entry in schema:
        room = WIDTH - len(indent)
        lines += [f"{indent}# {line}" for line in wrap(entry["description"], room)]
        lines += [f"{indent}# {line}" for line in wrap(_facts(entry), room)]
        lines.append(f"{indent}{entry['key']}: {_value(entry, values.get(entry['key'], entry['default']))}")
        lines.append("")
    return lines


def _block(role: str, values: Mapping[str, Any]) -> list[str]:
    """The parameters of one node, indented below `ros__parameters:`."""
    indent = " " * 6
    schema = [{**entry, "default": role} if entry["key"] == "role" else entry for entry in _schema(role)]
    lines = _entries(schema, values, indent)
    if role == "gcs":
        lines += [
            f"{indent}# One block per drone; what is left out has its default. Below one, without the first #.",
            *_commented(
                [
                    f"{indent}drone:",
                    f"{indent}  {values['drones'][0]}:",
                    *_entries(pqc_mav_tunnel.per_drone_schema(), {}, indent + "    "),
                ],
                indent,
            ),
        ]
    return lines[:-1]


def _commented(lines: Iterable[str], indent: str) -> list[str]:
    """An example that is not in force: a block for a drone that `drones:=` does not name would be refused."""
    return [f"{indent}#{line.removeprefix(indent)}" if line else line for line in lines]


def with_examples(text: str) -> str:
    """The text of a file with its commented-out examples in force."""
    return re.sub(r"^( {6})#(?=drone:| {2})", r"\1", text, flags=re.MULTILINE)


def _schema(role: str) -> list[dict[str, Any]]:
    return list(pqc_mav_tunnel.config_schema(role))


def _nested(schema: Iterable[Mapping[str, Any]], indent: str) -> list[str]:
    """Entries whose keys may have one prefix: those come last, below it."""
    entries = list(schema)
    lines = _entries([entry for entry in entries if "." not in entry["key"]], {}, indent)
    prefixes = dict.fromkeys(entry["key"].split(".")[0] for entry in entries if "." in entry["key"])
    for prefix in prefixes:
        inside = [
            {**entry, "key": entry["key"].removeprefix(f"{prefix}.")}
            for entry in entries
            if entry["key"].startswith(f"{prefix}.")
        ]
        lines += [f"{indent}# Of the strategy {prefix}.", f"{indent}{prefix}:", *_entries(inside, {}, indent + "  ")]
    return lines[:-1]


def _head(title: str, option: str = "config") -> list[str]:
    flag = option.replace("_", "-")
    return [
        f"# {title}",
        f"# A ROS 2 parameter file: 'pqcmav up ... --{flag} FILE' and 'ros2 launch ... {option}:=FILE' read it.",
        "# Keys may be left out; a key nobody knows and a value out of range are refused with a sentence that says so.",
        "",
    ]


def render(name: str) -> str:
    """The text of `drone.yaml`, `gcs.yaml`, `demo.yaml` or `policy.yaml`."""
    if name == "policy":
        lines = _head("The drone's policy: which suite the tunnel uses and when keys are renewed.", "policy_config")
        lines += ["/**:", "  pqc_policy:", "    ros__parameters:", *_nested(node_schema(), " " * 6)]
        return "\n".join(lines) + "\n"
    if name == "demo":
        lines = _head("Both ends of the demo. Each start makes its own keys and ports, which win over these.")
        for role in ("drone", "gcs"):
            lines += [f"/**/{role}:", "  pqc_proxy:", "    ros__parameters:", *_block(role, DEMO[role]), ""]
        return "\n".join(lines[:-1]) + "\n"
    title = {
        "drone": "The airborne end. To fill in: keys, drone_id and peer.",
        "gcs": "The ground end. To fill in: keys and drones, and where each drone's MAVLink goes.",
    }[name]
    lines = [*_head(title), "/**:", "  pqc_proxy:", "    ros__parameters:", *_block(name, EXAMPLES[name])]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the files into the folder given as argument."""
    folder = Path(sys.argv[1])
    for name in ("drone", "gcs", "demo", "policy"):
        (folder / f"{name}.yaml").write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
