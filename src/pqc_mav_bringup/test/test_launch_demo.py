# SPDX-License-Identifier: Apache-2.0
"""launch_testing: demo.launch.py brings both ends up, MAVLink arrives, and everything ends cleanly."""

import unittest

import pytest

pytest.importorskip(
    "launch_testing.actions",
    reason="launch_testing is not installed; test_up.py of pqc_mav_cli drives 'pqcmav up demo'",
)

import launch_testing.actions
import launch_testing.asserts
import launch_testing.markers
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription
from pqc_mav_bringup.share import share_directory


@pytest.mark.launch_test
@launch_testing.markers.keep_alive
def generate_test_description() -> LaunchDescription:
    source = PythonLaunchDescriptionSource(str(share_directory() / "launch" / "demo.launch.py"))
    return LaunchDescription(
        [
            IncludeLaunchDescription(source, launch_arguments={"rate": "50"}.items()),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestRunning(unittest.TestCase):
    def test_both_ends_come_up(self, proc_output) -> None:
        proc_output.assertWaitFor("gcs, encrypted UDP port", timeout=60)
        proc_output.assertWaitFor("HANDSHAKING -> UP", timeout=60)

    def test_the_ground_client_sees_the_vehicle(self, proc_output) -> None:
        proc_output.assertWaitFor("lost 0 dup 0", timeout=60, stream="stdout")


@launch_testing.post_shutdown_test()
class TestEnded(unittest.TestCase):
    def test_exit_codes(self, proc_info) -> None:
        # The ground client says with 1 and 3 what it thinks of an unfinished flight.
        launch_testing.asserts.assertExitCodes(proc_info, [0, 1, 3])
        proxies = [info for info in proc_info if "pqc_proxy" in info.process_name]
        self.assertEqual([info.returncode for info in proxies], [0, 0])
