# SPDX-License-Identifier: Apache-2.0
"""Checks of mavros, the MAVLink bridge: is it installed with its data, and is one running that others can command?"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pqc_mav_cli.doctor.finding import Finding, ok, warn
from pqc_mav_common.exposure import CURE, look
from pqc_mav_common.siblings import MAVROS, Sibling, siblings


def installed(prefixes: Iterable[Path]) -> bool:
    """A ROS package without a Python module: its share folder tells."""
    return any((prefix / "share" / "mavros").is_dir() for prefix in prefixes)


def geoid_data(environment: Mapping[str, str]) -> Finding:
    """What mavros aborts without."""
    from pqc_mav_bringup import geoid

    said = geoid.problem(environment)
    what, _, cure = said.partition(": ")
    return warn("mavros", what, cure) if said else ok("mavros", f"{geoid.NAME} is there")


def open_sockets(running: Iterable[Sibling], domain: int) -> list[Finding]:
    """One line for each mavros of this machine that others can reach; none where none runs."""
    try:
        found = look((process for process in running if process.name == MAVROS), domain)
    except OSError:
        return []  # no /proc here: nothing can be said
    open_to_others = (*found.open, *found.foreign)
    return [
        *(warn("mavros", f"{each} is open to the network, past the tunnel", CURE) for each in open_to_others),
        *(warn("mavros", f"{each} belongs to another user: its sockets cannot be seen") for each in found.unseen),
    ]


def checks() -> list[Finding]:
    """All of the above here."""
    from pqc_mav_bringup.share import prefixes

    there = installed(prefixes())
    text = "installed: --mavlink mavros works" if there else "not installed: --mavlink udp works without it"
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    return [
        ok("mavros", text),
        *([geoid_data(os.environ)] if there else []),
        *open_sockets(siblings(""), int(domain) if domain.isdigit() else 0),
    ]
