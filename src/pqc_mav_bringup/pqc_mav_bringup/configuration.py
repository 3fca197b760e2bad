# SPDX-License-Identifier: Apache-2.0
"""Looks at a process's configuration file before anything starts: is it there, and is it for this end?"""

from __future__ import annotations

from pathlib import Path

from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_common import config_file
from pqc_mav_common.errors import ProcessError

ROLE = "role"
_ENDS = {"drone": "airborne", "gcs": "ground"}


def check(process: Process) -> None:
    """Raises BringupError when the file is missing, or when a proxy is given that of the other end.

    ROS' launch only warns of a missing file and goes on with the defaults, and the role that the system sets would
    silently win over that in the file. Whatever else may be wrong in a file, its node says.
    """
    for path in process.parameter_files:
        if not Path(path).is_file():
            raise BringupError(f"There is no configuration file '{path}'.")
    wanted = process.parameters.get(ROLE)
    if wanted is None or not process.config:
        return
    try:
        given = config_file.parameters(config_file.load(process.config), process.namespace, process.node).get(ROLE)
    except ProcessError as error:
        raise BringupError(str(error)) from None
    if given in _ENDS and given != wanted:
        raise BringupError(
            f"{process.config} configures the {_ENDS[given]} end ('role: {given}'), but this is the {_ENDS[wanted]} "
            f"end: it needs a file with 'role: {wanted}'."
        )
