# SPDX-License-Identifier: Apache-2.0
"""Makes launch actions from a system description. The only module that imports `launch`."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LoadComposableNodes, Node
from launch_ros.descriptions import ComposableNode

from launch import Action, LaunchContext, LaunchDescription
from pqc_mav_bringup import composed, configuration, daemon, mavros
from pqc_mav_bringup.child import PATIENCE_S
from pqc_mav_bringup.description import (
    BringupError,
    Process,
    ProcessDescription,
    SystemDescription,
    refuse_unknown,
    resolve,
)
from pqc_mav_bringup.executables import command, find_executable, is_daemon, log_level, priority
from pqc_mav_bringup.loopback import loopback_environment
from pqc_mav_bringup.respawn import ExitCode, Lives
from pqc_mav_common.siblings import MARK, new_mark

PUSHED = "ros_namespace"  # where launch_ros' PushRosNamespace keeps the namespace of a group
SET_AROUND = "global_params"  # and its SetParameter[sFromFile] what they set for all nodes: names with values, paths
# The kernel ends a process with the `ros2 launch` that started it, however that ends: a second launch would otherwise
# find its ports held by the orphans of the first. setpriv comes with util-linux, which every Debian and Ubuntu has.
_PREFIX = "setpriv --pdeathsig SIGTERM" if shutil.which("setpriv") else ""
# launch gives a process 5 s after SIGTERM, in which a recorder on a slow card does not complete its file.
_SIGKILL_TIMEOUT = LaunchConfiguration("sigkill_timeout", default=f"{PATIENCE_S:g}")


class Session(Protocol):
    """What a system needs that must not be reused: `values` are the arguments with it filled in."""

    values: Mapping[str, str]

    def close(self) -> None:
        """Removes what was made."""


def launch_description(
    system: SystemDescription, session: Callable[[Mapping[str, str]], Session] | None = None
) -> LaunchDescription:
    """Declares the system's arguments and starts its processes, in a session of that kind where there is one."""
    declared = [
        DeclareLaunchArgument(
            argument.name,
            default_value=argument.default,
            description=argument.description,
            choices=list(argument.allowed) or None,
        )
        for argument in system.arguments
    ]
    local = [SetEnvironmentVariable(name, value) for name, value in loopback_environment(os.environ).items()]
    shown = [Runs(process) for process in system.processes]
    return LaunchDescription([*declared, *local, *shown, OpaqueFunction(function=_start, args=[system, session])])


class Runs(Action):
    """Starts nothing: 'ros2 launch --print-description' shows what the function that starts the processes will run."""

    def __init__(self, process: ProcessDescription) -> None:
        super().__init__()
        self._process = process

    def __str__(self) -> str:
        process = self._process
        conditions = [f"{name}:={value}" for name, value in process.when.items()]
        conditions += [f"{name} is not '{value}'" for name, value in process.unless.items()]
        asked = f", if {' and '.join(conditions)}" if conditions else ""
        return f"runs {process.package}/{process.executable} in namespace '{process.namespace}'{asked}"

    def execute(self, _context: LaunchContext) -> None:
        """Nothing: see `_start`."""


def argument_values(context: LaunchContext, system: SystemDescription) -> dict[str, str]:
    """The values `ros2 launch` was given, with the defaults of the others."""
    return {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in system.arguments}


def _start(
    context: LaunchContext, system: SystemDescription, kind: Callable[[Mapping[str, str]], Session] | None
) -> list[Any]:
    if is_asked_for(system, sys.argv):
        refuse_unknown(system, (word.partition(":=")[0] for word in context.argv or () if ":=" in word))
    given = argument_values(context, system)
    under = str(context.launch_configurations.get(PUSHED, "")).strip("/")
    around = context.launch_configurations.get(SET_AROUND, ())
    if kind is None:
        processes = daemon.with_set_around(resolve(system, given, under), around)
        return process_actions(processes, given.get(composed.ARGUMENT.name, "false"), under)
    session = kind(given)

    def close(_event: Any, _context: LaunchContext) -> None:
        session.close()

    return [
        RegisterEventHandler(OnShutdown(on_shutdown=close)),
        *process_actions(resolve(system, session.values, under), group=under),
    ]


def is_asked_for(system: SystemDescription, command_line: Sequence[str]) -> bool:
    """Whether `ros2 launch` was told to start this system's own file: what is included has other files' arguments
    around it, too."""
    return any(Path(word).name == f"{system.name}.launch.py" for word in command_line)


def process_actions(processes: list[Process], composition: str = "false", group: str = "") -> list[Any]:
    """What starts each process and keeps it running by its respawn policy; one mark in the environment of all.

    `composition` as the argument `composed` says; `group` is the namespace of a group of launch files.
    """
    mark = {MARK: new_mark()}
    processes = daemon.arranged(processes, group)
    inside, alone = composed.split(processes, composition)
    keepers = [Keeper(process, {**mark, **process.environment}) for process in alone]
    if inside:
        keepers.insert(0, ContainerKeeper(inside, composition, mark))
    for process in processes:
        mavros.check_data(process, os.environ)
        daemon.check_daemon(process)
    return [action for keeper in keepers for action in keeper.start()]


class Keeper:
    """Keeps one process of a launch running, as the supervisor does: launch's own respawn knows neither back-off nor a
    limit, and starts again what ended well."""

    def __init__(self, process: Process, environment: Mapping[str, str]) -> None:
        configuration.check(process)
        self._process = process
        self._environment = environment
        self._executable = find_executable(process.package, process.executable, process.hint)
        self._lives = Lives(process.respawn)
        self._began = 0.0

    def start(self) -> list[Any]:
        """The actions of one life. An action of launch runs once, so every life has new ones."""
        started = self._action()
        if self._process.respawn is None:
            return [started]
        watch = OnProcessExit(target_action=started, on_exit=self._on_exit, handle_once=True)
        return [RegisterEventHandler(watch), OpaqueFunction(function=self._note_beginning), started]

    def _note_beginning(self, _context: LaunchContext) -> None:
        self._began = time.monotonic()

    def _on_exit(self, event: Any, context: LaunchContext) -> list[Any] | None:
        if context.is_shutdown:
            return None
        label = self._process.label
        verdict = self._lives.ended(event.returncode, time.monotonic() - self._began)
        if verdict.failure:
            # Makes `ros2 launch` end everything and return an error.
            spoken = "refused its configuration" if verdict.failure == ExitCode.CONFIG else "could not start"
            raise BringupError(f"{label} {verdict.text or f'{spoken} (exit code {event.returncode})'}")
        said: list[Any] = [LogInfo(msg=f"{label} {verdict.text}")] if verdict.text else []
        if verdict.again_in_s is None:
            return said
        return [*said, TimerAction(period=verdict.again_in_s, actions=self.start())]

    def _action(self) -> Any:
        process = self._process
        common: dict[str, Any] = {
            "output": "screen",
            "additional_env": self._environment,
            "prefix": " ".join((_PREFIX, *priority(process))).strip(),
            "sigkill_timeout": _SIGKILL_TIMEOUT,
        }
        if is_daemon(process):
            return ExecuteProcess(cmd=command(process), name=process.label, **common)
        if not process.node and not process.parameters:
            return ExecuteProcess(cmd=[self._executable, *process.arguments], name=process.label, **common)
        return Node(
            package=process.package,
            executable=process.executable,
            exec_name=process.executable,  # in the output; the prefix would be its name otherwise
            name=process.node or None,
            namespace=process.namespace,
            parameters=[*process.parameter_files, dict(process.parameters)],
            remappings=list(process.remaps.items()),
            arguments=list(process.arguments),
            ros_arguments=log_level(process),
            emulate_tty=True,
            **common,
        )


class ContainerKeeper(Keeper):
    """Keeps the process running that holds proxy and mavros; every life of it loads them anew.

    And has a name of its own. A killed container is seen in the graph for 20 s more: under the same name, launch_ros
    would ask the dead one to load the nodes, once, and wait for its answer for ever.
    """

    def __init__(self, inside: list[Process], composition: str, mark: Mapping[str, str]) -> None:
        for process in inside:
            configuration.check(process)
        self._inside = inside
        self._life = 0
        self._container = composed.container(inside, composition)
        super().__init__(self._container, {**mark, **self._container.environment})

    def start(self) -> list[Any]:
        """The actions of one life, in which the nodes are loaded too."""
        self._life += 1
        name, _ = composed.names(self._inside, self._life)
        nodes = [
            ComposableNode(
                package=each.package,
                plugin=each.plugin,
                name=each.name,
                namespace=each.namespace,
                parameters=[dict(each.parameters)],
                remappings=list(each.remaps.items()),
            )
            for each in composed.components(self._inside)
        ]
        return [*super().start(), LoadComposableNodes(target_container=name, composable_node_descriptions=nodes)]

    def _action(self) -> Any:
        """A node without a name: launch_ros' own action for containers would give every node in it the container's."""
        container = self._container
        _, rules = composed.names(self._inside, self._life)
        return Node(
            package=container.package,
            executable=container.executable,
            exec_name=container.executable,
            namespace=container.namespace,
            parameters=[*container.parameter_files, *([dict(container.parameters)] if container.parameters else [])],
            ros_arguments=[*rules, *log_level(container)],
            output="screen",
            emulate_tty=True,
            additional_env=self._environment,
            prefix=_PREFIX,
            sigkill_timeout=_SIGKILL_TIMEOUT,
        )
