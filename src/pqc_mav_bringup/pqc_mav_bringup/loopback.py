# SPDX-License-Identifier: Apache-2.0
"""The environment in which ROS stays on this machine, for what is started here. tools/env.sh sets the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pqc_mav_bringup.share import config_file

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
# Fast DDS 2 (Jazzy) reads the first. Fast DDS 3 (Kilted) reads the second, and complains in each process of the first.
PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
LOCAL = frozenset({"LOCALHOST", "OFF"})


def profile_variable(environment: Mapping[str, str]) -> str:
    """Return which of PROFILES the Fast DDS of this environment reads: since its third version it has another name."""
    prefixes = environment.get("AMENT_PREFIX_PATH", "").split(":")
    return PROFILES[any(prefix and (Path(prefix) / "share" / "fastdds").is_dir() for prefix in prefixes)]


def loopback_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What is to be added to an environment: nothing where its owner has already decided."""
    reach = environment.get(RANGE) or "LOCALHOST"
    added = {} if environment.get(RANGE) else {RANGE: reach}
    if reach in LOCAL and not any(environment.get(name) for name in PROFILES):
        added[profile_variable(environment)] = str(config_file("fastdds_loopback.xml"))
    return added
