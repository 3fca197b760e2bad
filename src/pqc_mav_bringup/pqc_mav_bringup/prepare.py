# SPDX-License-Identifier: Apache-2.0
"""Everything about a system's processes that can be known, and refused, before one of them starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pqc_mav_bringup import configuration, daemon, mavros
from pqc_mav_bringup.description import Process
from pqc_mav_bringup.executables import command, priority
from pqc_mav_bringup.loopback import loopback_environment
from pqc_mav_bringup.ready import Ready
from pqc_mav_common.siblings import MARK, new_mark


def prepare(processes: Sequence[Process], environment: Mapping[str, str] | None = None) -> list[Ready]:
    """What the supervisor starts, all with one mark. Raises BringupError when a program or file is missing."""
    for process in processes:
        configuration.check(process)
    processes = daemon.arranged(processes)
    commands = [(process, (*priority(process), *command(process))) for process in processes]
    for process in processes:
        mavros.check_data(process, os.environ)
        configuration.engine_of(process)
    more = dict(environment or {})
    common = {"PYTHONUNBUFFERED": "1", MARK: new_mark(), **loopback_environment({**os.environ, **more}), **more}
    return [
        Ready(process.label, line, {**common, **process.environment}, process.respawn) for process, line in commands
    ]
