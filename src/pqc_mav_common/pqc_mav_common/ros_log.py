# SPDX-License-Identifier: Apache-2.0
"""ROS starts no process that cannot write its log folder: where that is so, it is told to keep no log file."""

import os
from collections.abc import Mapping
from pathlib import Path

KEEP_NONE = ("--ros-args", "--disable-external-lib-logs")


def folder(environment: Mapping[str, str]) -> Path:
    """Where rcl keeps its log files."""
    named = environment.get("ROS_LOG_DIR")
    return Path(os.path.expanduser(named or f"{environment.get('ROS_HOME') or '~/.ros'}/log"))  # noqa: PTH111


def refusal(where: Path) -> str:
    """Why no file can be made in a folder, which is made if need be; "" where one can."""
    try:
        where.mkdir(parents=True, exist_ok=True)
        # access(2) would know of rights and of what is read-only, but not of a file system that is full.
        tried = where / f".tried-{os.getpid()}"
        os.close(os.open(tried, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        tried.unlink()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def arguments(environment: Mapping[str, str]) -> list[str]:
    """ROS arguments for a process of this environment."""
    return list(KEEP_NONE) if refusal(folder(environment)) else []
