# SPDX-License-Identifier: Apache-2.0
"""Looks at a process's configuration before anything starts: is its file there, is it for this end, would it run?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_common import config_file
from pqc_mav_common.errors import ProcessError
from pqc_mav_common.local_socket import ATTACH

PROXY = "pqc_proxy"  # name of its node
ROLE = "role"
_ENDS = {"drone": "airborne", "gcs": "ground"}


def check(process: Process) -> None:
    """Raises BringupError when the file is missing, or when a proxy is given that of the other end or of other nodes.

    ROS' launch only warns of a missing file and goes on with the defaults, and the role that the system sets would
    silently win over that in the file. Whatever else may be wrong in a file, its node says.
    """
    for path in process.parameter_files:
        if not Path(path).is_file():
            raise BringupError(f"There is no configuration file '{path}'.")
    wanted = process.parameters.get(ROLE)
    if wanted is None or not process.config:
        return
    given = written(process, process.config).get(ROLE)
    if given in _ENDS and given != wanted:
        raise BringupError(
            f"{process.config} configures the {_ENDS[given]} end ('role: {given}'), but this is the {_ENDS[wanted]} "
            f"end: it needs a file with 'role: {wanted}'."
        )
    name = "/".join(["", *filter(None, (process.namespace.strip("/"), process.node))])
    needs_none = "keys" in process.parameters or process.parameters.get("tunnel") == ATTACH
    if not needs_none and config_file.without_a_block(["--params-file", process.config], [name]):
        raise BringupError(f"{process.config} has no block for the node {name}: nothing of it would count.")


def engine_of(process: Process) -> Mapping[str, Any]:
    """The configuration of a proxy as its engine completes it. Raises BringupError for what that one refuses.

    It opens nothing, but reads the keys: a wrong suite or peer is said before anything else has been started. A node
    that a lifecycle manager configures later may get the rest then, and where there is no engine for Python, that of
    the proxy in C++ has to say it.
    """
    asks_another = process.parameters.get("tunnel", "inside") != "inside"  # whose configuration it is
    if process.node != PROXY or asks_another or not find_spec("pqc_mav_tunnel"):
        return {}
    config = given(process)
    if config.get("autostart") is False:
        return {}
    import pqc_mav_tunnel

    from pqc_mav_proxy.parameters import engine_config

    try:
        engine = pqc_mav_tunnel.Engine(engine_config(config))
    except (pqc_mav_tunnel.TunnelError, ValueError) as error:
        raise BringupError(str(error)) from None
    return dict(engine.config())


def given(process: Process) -> dict[str, Any]:
    """What its files and its settings say. Raises BringupError for a file that is not good."""
    found: dict[str, Any] = {}
    for path in process.parameter_files:
        found |= written(process, path)
    found |= process.parameters
    found.pop("use_sim_time", None)  # ROS' own
    return found


def written(process: Process, path: str) -> dict[str, Any]:
    """What a file says for its node. Raises BringupError for one that is not good."""
    try:
        return config_file.parameters(config_file.load(path), process.namespace, process.node)
    except ProcessError as error:
        raise BringupError(str(error)) from None
