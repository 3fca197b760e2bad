# SPDX-License-Identifier: Apache-2.0
"""`sensing.yaml`, which `make docs` writes: every parameter of every node, out of the nodes' own tables."""

import importlib

from pqc_mav_common.parameter_file import documented, head
from pqc_mav_sensing.main import NODES

_TITLE = "The drone's senses: battery and mission phase, temperature, power and load of the companion computer."


def render() -> str:
    """The text of the file."""
    lines = [*head(_TITLE, "sensing_config"), "/**:"]
    for name in NODES:
        module = importlib.import_module(NODES[name][0])
        lines += [f"  {module.NODE_NAME}:", "    ros__parameters:", *documented(module.PARAMETERS, " " * 6)]
    return "\n".join(lines[:-1]) + "\n"
