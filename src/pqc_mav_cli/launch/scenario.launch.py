# SPDX-License-Identifier: Apache-2.0
"""Launches a scenario of the demo and judges it: launch ends with an error where the policy did not do what it must.

ros2 launch pqc_mav_cli scenario.launch.py scenario:=hot
"""

from typing import Any

from launch.actions import DeclareLaunchArgument, ExecuteProcess, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration, PythonExpression

from launch import LaunchContext, LaunchDescription
from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.executables import find_executable
from pqc_mav_cli.demo.scenarios import SCENARIOS


def judge(event: Any, context: LaunchContext) -> None:
    """What makes launch fail."""
    if event.returncode != 0 and not context.is_shutdown:
        raise BringupError(f"The scenario failed (exit code {event.returncode}); its last lines say why.")


def generate_launch_description() -> LaunchDescription:
    scenario = LaunchConfiguration("scenario")
    plot = PythonExpression(["'", LaunchConfiguration("plot"), "' or 'pqcmav-demo-", scenario, ".png'"])
    command = [find_executable("pqc_mav_cli", "pqcmav"), "demo", "--scenario", scenario, "--plot", plot]
    flight = ExecuteProcess(cmd=[*command, "--rate", LaunchConfiguration("rate")], name="scenario", output="screen")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scenario",
                default_value="nominal",
                choices=list(SCENARIOS),
                description="Event of the flight. It takes about 100 s, in a ROS domain of its own.",
            ),
            DeclareLaunchArgument("rate", default_value="320", description="Messages per second of the vehicle."),
            DeclareLaunchArgument(
                "plot", default_value="", description="File for the plot; empty = pqcmav-demo-<scenario>.png, here."
            ),
            RegisterEventHandler(OnProcessExit(target_action=flight, on_exit=judge)),
            flight,
        ]
    )
