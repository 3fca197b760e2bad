# SPDX-License-Identifier: Apache-2.0
"""Finds a package's executable and builds the command line of a process."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_bringup.share import prefixes
from pqc_mav_common import ros_log

TUNNELD = "pqcmav-tunneld"
_ENGINE_LEVELS = {"warn": "warning", "fatal": "error"}  # what an engine calls those of ROS


def of_package(package: str, executable: str) -> str | None:
    """Path of an executable that a ROS package has installed in its `lib/<package>/`; None where there is none."""
    for prefix in prefixes():
        path = prefix / "lib" / package / executable
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def find_executable(package: str, executable: str, hint: str = "") -> str:
    """Path of an executable: the ROS package's, else one on the PATH. Raises BringupError."""
    found = of_package(package, executable) or shutil.which(executable)
    if found:
        return found
    advice = hint or "build the workspace and source its environment"
    raise BringupError(f"'{executable}' of package {package} is not installed here: {advice}.")


def yaml_scalar(value: Any) -> str:
    """A parameter value as the YAML that `-p name:=value` expects; JSON is YAML, and quotes keep "1" a string."""
    return json.dumps(value)


def command(process: Process) -> list[str]:
    """The command line of a process: programs as they are, ROS nodes with name, namespace and parameters.

    Later values win in ROS: the files first, the settings after them.
    """
    if is_daemon(process):
        return _daemon_line(process)
    line = [find_executable(process.package, process.executable, process.hint), *process.arguments]
    ros: list[str] = []
    if process.node:
        ros += ["-r", f"__node:={process.node}"]
    if process.namespace and (process.node or process.parameters):
        ros += ["-r", f"__ns:={process.namespace}"]
    for name, other in process.remaps.items():
        ros += ["-r", f"{name}:={other}"]
    for file in process.parameter_files:
        ros += ["--params-file", file]
    for name, value in process.parameters.items():
        ros += ["-p", f"{name}:={yaml_scalar(value)}"]
    ros += log_level(process)
    if process.node or ros:  # mavros names its nodes itself
        ros += ros_log.arguments({**os.environ, **process.environment})[1:]
    return [*line, "--ros-args", *ros] if ros else line


def is_daemon(process: Process) -> bool:
    """Whether it is a pqcmav-tunneld that takes the place of a proxy's engine."""
    return process.executable == TUNNELD and bool(process.node)


def _daemon_line(process: Process) -> list[str]:
    line = [find_executable(process.package, process.executable, process.hint), *process.arguments]
    line += ["--node", f"{process.namespace}/{process.node}"]
    for name, value in process.parameters.items():
        if name == "control_socket":
            line += ["--door", value]
        if name == "autostart":
            line += [] if value else ["--paused"]
        elif name != "use_sim_time":
            line += ["--set", f"{name}={yaml_scalar(value)}"]
    if process.log_level not in ("", "info"):
        line += ["--set", f"log_level={_ENGINE_LEVELS.get(process.log_level, process.log_level)}"]
    return [*line, *process.parameter_files]


def priority(process: Process) -> list[str]:
    """What stands before the command line of a process that gives way to others."""
    return ["nice", "-n", str(process.nice)] if process.nice and shutil.which("nice") else []


def log_level(process: Process) -> list[str]:
    """The ROS arguments for a log level other than ROS' own default."""
    return [] if process.log_level in ("", "info") else ["--log-level", process.log_level]
