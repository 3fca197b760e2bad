# SPDX-License-Identifier: Apache-2.0
"""Proxy and mavros as components of one process, where `composed` asks for it. Only `ros2 launch` can load them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pqc_mav_bringup import mavros, proxy
from pqc_mav_bringup.description import Argument, BringupError, Process
from pqc_mav_common.errors import ProcessError

NAME = "pqc_container"
PACKAGE = "rclcpp_components"
CONTAINERS: Mapping[str, str] = {"true": "component_container_mt", "isolated": "component_container_isolated"}
SIM_TIME = "use_sim_time"
_MANAGER = "ComponentManager"  # what the node of a container calls itself
HINT = "composed:=true needs the ROS 2 package rclcpp_components; composed:=false works without it"
ARGUMENT = Argument(
    "composed",
    "With 'ros2 launch' and the proxy in C++: true = proxy and mavros share one process with several threads, isolated "
    "= one process with an executor of its own for each node, false = one process each.",
    "false",
    ("false", *CONTAINERS),
)


@dataclass(frozen=True)
class Component:
    """A node that a container loads, with its parameters from files and arguments; the arguments win."""

    package: str
    plugin: str
    name: str
    namespace: str
    parameters: Mapping[str, Any]
    remaps: Mapping[str, str]


def refuse(given: Mapping[str, str]) -> None:
    """Raises BringupError where another than `ros2 launch` is asked for it."""
    if given.get(ARGUMENT.name, "false") != "false":
        raise BringupError("'composed' is for 'ros2 launch'; here every node has a process of its own.")


def split(processes: Sequence[Process], wanted: str) -> tuple[list[Process], list[Process]]:
    """Those that become components, and the others. Raises BringupError for a proxy that cannot be one."""
    if wanted not in CONTAINERS:
        return [], list(processes)
    inside = [each for each in processes if each.package == mavros.PACKAGE or each.executable == proxy.NODE]
    if any(each.package == proxy.PACKAGES[proxy.PY] for each in inside):
        raise BringupError(f"composed:={wanted} needs the proxy in C++: {proxy.HINT}.")
    return inside, [process for process in processes if process not in inside]


def container(inside: Sequence[Process], wanted: str) -> Process:
    """The process that holds them.

    mavros makes a node for each of its plugins, of which the container knows nothing: they take namespace, parameters
    and remaps of the whole process, as they do in `mavros_node`. So the process has those of mavros, and the name of
    the container is a matter of the container's own node (`names`). Without mavros there is nothing to be taken.
    """
    first = inside[0]
    environment = {name: value for process in inside for name, value in process.environment.items()}
    given = next((process for process in inside if process.package == mavros.PACKAGE), None)
    return replace(
        first,
        label=f"{first.namespace}/{NAME}".lstrip("/"),
        package=PACKAGE,
        executable=CONTAINERS[wanted],
        node="",
        namespace=given.namespace if given else first.namespace,
        config="",
        files=given.parameter_files if given else (),
        # Of the clock, because mavros' plugins are not among what is loaded with parameters of its own.
        parameters={name: value for name, value in first.parameters.items() if name == SIM_TIME},
        remaps={},
        environment=environment,
        hint=HINT,
    )


def names(inside: Sequence[Process], life: int) -> tuple[str, list[str]]:
    """The full name of the container's node in its nth life, and the ROS arguments that make it so, of no other node.

    They have to come before those for the whole process: the first rule that fits is taken.
    """
    name = NAME if life == 1 else f"{NAME}_{life}"
    namespace = f"/{inside[0].namespace.strip('/')}"
    rules = ["-r", f"{_MANAGER}:__node:={name}", "-r", f"{name}:__ns:={namespace}"]
    return f"{namespace.rstrip('/')}/{name}", rules


def components(inside: Iterable[Process]) -> list[Component]:
    """What the container loads for these processes."""
    found: list[Component] = []
    for process in inside:
        found += _mavros(process) if process.package == mavros.PACKAGE else [_proxy(process)]
    return found


def _proxy(process: Process) -> Component:
    return _component(process, f"{process.package}::ProxyNode", process.node, process.parameters)


def _mavros(process: Process) -> list[Component]:
    """As mavros_node makes them of its parameters: the router has the connections, the other node the vehicle."""
    given = process.parameters
    link = f"/uas{given['tgt_system']}"
    router = {
        **{f"{name}s": [given[name]] for name in mavros.URLS if given.get(name)},
        "uas_urls": [link],
    }
    vehicle = {
        "uas_url": link,
        "target_system_id": given["tgt_system"],
        "target_component_id": given["tgt_component"],
        # Its own id is the vehicle's unless said otherwise.
        "system_id": given.get("system_id", given["tgt_system"]),
        "fcu_protocol": given["fcu_protocol"],
    }
    return [
        _component(process, "mavros::router::Router", "mavros_router", router),
        _component(process, "mavros::uas::UAS", "mavros", vehicle),
    ]


def _component(process: Process, plugin: str, name: str, parameters: Mapping[str, Any]) -> Component:
    common = {SIM_TIME: True} if process.parameters.get(SIM_TIME) else {}
    merged = {**common, **_from_files(process, name), **parameters}
    return Component(
        package=process.package,
        plugin=plugin,
        name=name,
        namespace=process.namespace,
        # The default of every list is the empty one, which a request to load a node cannot express.
        parameters={key: value for key, value in merged.items() if value != []},
        remaps=process.remaps,
    )


def _from_files(process: Process, name: str) -> dict[str, Any]:
    """What the files say of this node. launch_ros would pass over every block but `/**` and that of the whole name, so
    over `/**: pqc_proxy` of our own files, without a word; and a container passes no file on to what it loads."""
    from pqc_mav_common import config_file  # with PyYAML, which the Debian package has not

    found: dict[str, Any] = {}
    try:
        for path in process.parameter_files:
            found.update(config_file.parameters(config_file.load(path), process.namespace, name))
    except ProcessError as error:
        raise BringupError(str(error)) from None
    return found
