"""Writes `sensing.yaml`, in which every parameter stands with its meaning, valid values and default.

    python3 -m pqc_mav_sensing.config_template FILE

All of it comes from the nodes' own tables, so the file cannot fall behind them: a test compares them.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from textwrap import wrap

from pqc_mav_sensing.main import NODES
from pqc_mav_sensing.parameters import Parameter

WIDTH = 116
_HEAD = """\
# The drone's senses: battery and mission phase, temperature, power and load of the companion computer.
# A ROS 2 parameter file: 'pqcmav up drone --sensing-config FILE' and 'ros2 launch ... sensing_config:=FILE' read it.
# Keys may be left out; a key nobody knows and a value out of range are refused with a sentence that says so.
"""


def _value(spec: Parameter) -> str:
    return json.dumps(spec.default)


def render() -> str:
    """The text of the file."""
    lines = [_HEAD]
    for name in NODES:
        module = importlib.import_module(NODES[name][0])
        lines += ["/**:" if name == next(iter(NODES)) else "", f"  {module.NODE_NAME}:", "    ros__parameters:"]
        for spec in module.PARAMETERS:
            lines += [f"      # {line}" for line in wrap(spec.description, WIDTH - 8)]
            lines += [f"      # {line}" for line in wrap(f"{spec.facts()}; default {_value(spec)}", WIDTH - 8)]
            lines += [f"      {spec.name}: {_value(spec)}", ""]
        lines.pop()
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the file named as argument."""
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
