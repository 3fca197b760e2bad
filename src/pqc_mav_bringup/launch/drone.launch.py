# SPDX-License-Identifier: Apache-2.0
"""Launches the airborne end: "ros2 launch pqc_mav_bringup drone.launch.py --show-args" lists the arguments."""

from launch import LaunchDescription
from pqc_mav_bringup.launch_actions import launch_description
from pqc_mav_bringup.systems import DRONE


def generate_launch_description() -> LaunchDescription:
    return launch_description(DRONE)
