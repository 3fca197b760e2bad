# SPDX-License-Identifier: Apache-2.0
"""Makes launch actions from a system description. The only module that imports `launch`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription
from pqc_mav_bringup import configuration, mavros
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError, Process, SystemDescription, resolve
from pqc_mav_bringup.executables import find_executable
from pqc_mav_bringup.loopback import loopback_environment
from pqc_mav_bringup.systems import DEMO
from pqc_mav_common.siblings import MARK, new_mark


def launch_description(system: SystemDescription) -> LaunchDescription:
    """Declares the system's arguments and starts its processes."""
    declared = [
        DeclareLaunchArgument(
            argument.name,
            default_value=argument.default,
            description=argument.description,
            choices=list(argument.choices) or None,
        )
        for argument in system.arguments
    ]
    start = _start_demo if system is DEMO else _start
    local = [SetEnvironmentVariable(name, value) for name, value in loopback_environment(os.environ).items()]
    return LaunchDescription([*declared, *local, OpaqueFunction(function=start, args=[system])])


def argument_values(context: LaunchContext, system: SystemDescription) -> dict[str, str]:
    """The values `ros2 launch` was given, with the defaults of the others."""
    return {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in system.arguments}


def _start(context: LaunchContext, system: SystemDescription) -> list[Any]:
    return process_actions(resolve(system, argument_values(context, system)))


def _start_demo(context: LaunchContext, system: SystemDescription) -> list[Any]:
    session = DemoSession(argument_values(context, system))

    def remove_keys(_event: Any, _context: LaunchContext) -> None:
        session.close()

    return [
        RegisterEventHandler(OnShutdown(on_shutdown=remove_keys)),
        *process_actions(resolve(system, session.values)),
    ]


def process_actions(processes: list[Process]) -> list[Any]:
    """One launch action per process, with its respawn policy; one mark in the environment of all."""
    mark = {MARK: new_mark()}
    return [action for process in processes for action in _process_actions(process, {**mark, **process.environment})]


def _process_actions(process: Process, environment: Mapping[str, str]) -> list[Any]:
    configuration.check(process)
    executable = find_executable(process.package, process.executable, process.hint)
    mavros.check_data(process, os.environ)
    respawn = {"respawn": True, "respawn_delay": process.respawn.delay_s} if process.respawn else {}
    if not process.node and not process.parameters:
        started: Any = ExecuteProcess(
            cmd=[executable, *process.arguments],
            name=process.label,
            output="screen",
            additional_env=environment,
            **respawn,
        )
    else:
        started = Node(
            package=process.package,
            executable=process.executable,
            name=process.node or None,
            namespace=process.namespace,
            parameters=[*process.parameter_files, dict(process.parameters)],
            remappings=list(process.remaps.items()),
            arguments=list(process.arguments),
            output="screen",
            emulate_tty=True,
            additional_env=environment,
            **respawn,
        )
    if process.respawn is None:
        return [started]

    final = process.respawn.never_after

    def on_exit(event: Any, _context: LaunchContext) -> None:
        # Another start would fail in the same way. Raising makes `ros2 launch` end everything and return an error; the
        # process has already printed its own error line.
        if event.returncode in final:
            raise BringupError(f"{process.label} refused its configuration (exit code {event.returncode})")

    return [RegisterEventHandler(OnProcessExit(target_action=started, on_exit=on_exit)), started]
