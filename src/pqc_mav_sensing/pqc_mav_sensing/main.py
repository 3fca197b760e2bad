# SPDX-License-Identifier: Apache-2.0
"""The sensing processes: all nodes in one (`pqc_sensing`), or one each (`pqc_battery`, `pqc_thermal`, ...)."""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_common.process import leave, run_nodes
from pqc_mav_sensing.errors import SensingError

# Node -> where its class and parameters are. Imported only when it runs, because each needs other libraries.
NODES: Mapping[str, tuple[str, str]] = {
    "battery": ("pqc_mav_sensing.battery_node", "BatteryNode"),
    "thermal": ("pqc_mav_sensing.thermal_node", "ThermalNode"),
    "power": ("pqc_mav_sensing.power_node", "PowerNode"),
    "system": ("pqc_mav_sensing.system_node", "SystemNode"),
}
FLAG = "--nodes"


def wanted_nodes(arguments: list[str]) -> list[str]:
    """Takes `--nodes battery,thermal` out of the arguments; all nodes without it. Raises SensingError."""
    if FLAG not in arguments:
        return list(NODES)
    at = arguments.index(FLAG)
    if at + 1 >= len(arguments):
        raise SensingError(f"{FLAG} needs a list of nodes: any of {','.join(NODES)}.")
    names = [name.strip() for name in arguments[at + 1].split(",") if name.strip()]
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        raise SensingError(f"{FLAG} {arguments[at + 1]}: the nodes are {','.join(NODES)}.")
    del arguments[at : at + 2]
    return list(dict.fromkeys(names))


def main(program: str, nodes: Sequence[str] | None = None, argv: Sequence[str] | None = None) -> int:
    """Runs nodes until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""

    def makers(arguments: list[str]) -> list[Any]:
        senses = load(nodes or wanted_nodes(arguments))
        siblings = [spec.name for sense in senses for spec in sense.parameters]
        return [partial(sense.make, siblings) for sense in senses]

    return run_nodes(program, makers, argv, package="pqc_mav_sensing")


@dataclass(frozen=True)
class Sense:
    """A node that was imported: its parameters, and how to make it with the names of those of its siblings."""

    parameters: Sequence[ParameterSpec]
    make: Callable[[Iterable[str]], Any]


def load(names: Iterable[str]) -> list[Sense]:
    """Imports the nodes of these names, of NODES. Raises ImportError."""
    modules = [(importlib.import_module(NODES[name][0]), NODES[name][1]) for name in names]
    return [Sense(module.PARAMETERS, getattr(module, kind)) for module, kind in modules]


def run(program: str = "pqc_sensing", nodes: Sequence[str] | None = None) -> None:
    """Console script `pqc_sensing`; those below run a node each."""
    leave(main(program, nodes))


run_battery = partial(run, "pqc_battery", ["battery"])
run_thermal = partial(run, "pqc_thermal", ["thermal"])
run_power = partial(run, "pqc_power", ["power"])
run_system = partial(run, "pqc_system", ["system"])


if __name__ == "__main__":
    run()
