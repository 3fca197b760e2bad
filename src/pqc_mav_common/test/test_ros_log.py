# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pqc_mav_common import ros_log


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"ROS_LOG_DIR": "/a"}, "/a"),
        ({"ROS_LOG_DIR": "", "ROS_HOME": "/b"}, "/b/log"),
        ({}, str(Path("~/.ros/log").expanduser())),
    ],
)
def test_the_folder_is_that_of_rcl(environment: dict[str, str], where: str) -> None:
    assert str(ros_log.folder(environment)) == where


def test_a_folder_is_made_and_one_that_cannot_be_is_refused(tmp_path: Path) -> None:
    assert ros_log.refusal(tmp_path / "new" / "log") == "" and (tmp_path / "new" / "log").is_dir()
    (tmp_path / "file").touch()
    assert ros_log.refusal(tmp_path / "file" / "log") == "Not a directory"
    assert ros_log.arguments({"ROS_LOG_DIR": str(tmp_path)}) == []


def test_a_full_disk_costs_the_log_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is there and may be written, but no file can be made any more: what rcl would end with."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert list(tmp_path.iterdir()) == [] and ros_log.refusal(tmp_path) == "" and list(tmp_path.iterdir()) == []
    monkeypatch.setattr(os, "open", full)
    assert ros_log.arguments({"ROS_LOG_DIR": str(tmp_path)}) == list(ros_log.KEEP_NONE)


@pytest.mark.parametrize("keeps", [True, False])
def test_ros_starts_without_a_log_folder(tmp_path: Path, keeps: bool) -> None:
    """And would not without the arguments: that is what they are for."""
    pytest.importorskip("rclpy", reason="ROS 2 is not there")
    (tmp_path / "file").touch()
    program = "import sys, rclpy; rclpy.init(args=sys.argv[1:]); rclpy.create_node('x').get_logger().info('said')"
    environment = {**os.environ, "ROS_LOG_DIR": str(tmp_path / "file" / "log")}
    given = [] if keeps else ros_log.arguments(environment)
    ended = subprocess.run(
        [sys.executable, "-c", program, *given],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode == 0) is not keeps, ended.stderr
    assert ("said" in ended.stderr) is not keeps
