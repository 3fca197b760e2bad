# SPDX-License-Identifier: Apache-2.0
"""Launches the benchmark on this machine: both ends, agent and controller, which then waits for a campaign.

    ros2 launch pqc_mav_bench benchmark.launch.py
    ros2 action send_goal /bench/drone/bench_controller/run_campaign pqc_mav_interfaces/action/RunCampaign \
      "{options: [{key: suites, value: '[\"ML-768-AG-MD-65\"]'}]}" --feedback
"""

from launch import LaunchDescription
from pqc_mav_bench.launch_system import BENCHMARK, BenchmarkSession
from pqc_mav_bringup.launch_actions import launch_description


def generate_launch_description() -> LaunchDescription:
    return launch_description(BENCHMARK, BenchmarkSession)
