# SPDX-License-Identifier: Apache-2.0
"""Launches the demo on this machine alone; "ros2 launch pqc_mav_bringup demo.launch.py --show-args" says more."""

from launch import LaunchDescription
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.launch_actions import launch_description
from pqc_mav_bringup.systems import DEMO


def generate_launch_description() -> LaunchDescription:
    return launch_description(DEMO, DemoSession)
