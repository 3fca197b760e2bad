# SPDX-License-Identifier: Apache-2.0
"""The environment in which ROS stays on this machine, for what is started here. tools/env.sh sets the same."""

from __future__ import annotations

from collections.abc import Mapping

from pqc_mav_bringup.share import config_file

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
# Fast DDS 2 (Jazzy) reads the first, Fast DDS 3 the second.
PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
LOCAL = frozenset({"LOCALHOST", "OFF"})


def loopback_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What is to be added to an environment: nothing where its owner has already decided."""
    reach = environment.get(RANGE) or "LOCALHOST"
    added = {} if environment.get(RANGE) else {RANGE: reach}
    if reach in LOCAL and not any(environment.get(name) for name in PROFILES):
        added |= {name: str(config_file("fastdds_loopback.xml")) for name in PROFILES}
    return added
