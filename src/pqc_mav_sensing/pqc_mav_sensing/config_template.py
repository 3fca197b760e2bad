# SPDX-License-Identifier: Apache-2.0
"""Writes `sensing.yaml`, in which every parameter of every node is documented.

    python3 -m pqc_mav_sensing.config_template FILE

All of it comes from the nodes' own tables: a test compares them.
"""

import importlib
import sys
from pathlib import Path

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


def main() -> None:
    """Writes the file named as argument."""
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
