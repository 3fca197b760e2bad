# SPDX-License-Identifier: Apache-2.0
"""Where this package's configuration, launch and unit files are: installed, or next to the source."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = "pqc_mav_bringup"


def prefixes() -> list[Path]:
    """The ROS prefixes in use, most important first (AMENT_PREFIX_PATH)."""
    return [Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]


def share_directory() -> Path:
    """This package's share folder; the source folder when the package is not installed."""
    for prefix in prefixes():
        if (prefix / "share" / PACKAGE / "config").is_dir():
            return prefix / "share" / PACKAGE
    return Path(__file__).resolve().parent.parent


def config_file(name: str) -> Path:
    """A configuration file, such as drone.yaml, gcs.yaml or demo.yaml."""
    return share_directory() / "config" / name
