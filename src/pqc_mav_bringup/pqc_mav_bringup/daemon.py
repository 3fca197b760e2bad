# SPDX-License-Identifier: Apache-2.0
"""A pqcmav-tunneld as a process of its own beside the proxy node that asks it: where its door is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pqc_mav_bringup.configuration import check, given, written
from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_bringup.executables import TUNNELD, command, find_executable, is_daemon
from pqc_mav_bringup.proxy import AUTO, TUNNEL
from pqc_mav_common.local_socket import DAEMON, FOLDER_VARIABLE, SYSTEM_FOLDER, Control, ControlError, Place, doors_of

DOOR = "control_socket"
AUTOSTART = "autostart"  # of every node; no key of the engine
LONGEST = 107  # sockaddr_un
LOOK_S = 20.0  # longest look at a configuration


def with_set_around(processes: Iterable[Process], around: Iterable[tuple[str, Any] | str]) -> list[Process]:
    """The same, with what a launch file sets for every node of a group, by name or by a file, which a daemon would not
    hear of: where it has such a key, and its own files and arguments say nothing. Raises BringupError for a file that
    is not good."""
    around = list(around)

    def known(process: Process) -> dict[str, Any]:
        if not around or not is_daemon(process):
            return {}
        import pqc_mav_tunnel

        values: dict[str, Any] = {}
        for each in around:
            values |= written(process, each) if isinstance(each, str) else dict([each])
        keys = {AUTOSTART, *(spec["key"] for spec in pqc_mav_tunnel.config_schema(process.parameters["role"]))}
        return {name: values[name] for name in values.keys() & keys - given(process).keys()}

    return [replace(each, parameters={**known(each), **each.parameters}) for each in processes]


def arranged(processes: Iterable[Process], group: str = "") -> list[Process]:
    """The same, with one door for each daemon and its node, which bears the name of a group of launch files. Raises
    BringupError where there can be none.

    A daemon that nobody asked for is left out then, and stderr says why: its node has the engine inside.
    """
    made = list(processes)
    for at, node in enumerate(made):
        if node.parameters.get(TUNNEL.name) in (DAEMON, AUTO):
            of = next(there for there, each in enumerate(made) if is_daemon(each) and each.namespace == node.namespace)
            made[at], made[of] = _pair(node, made[of], group)
    return [each for each in made if not is_daemon(each) or DOOR in each.parameters]


def _pair(node: Process, daemon: Process, group: str) -> tuple[Process, Process]:
    """Both with a door, or as they were but for the node's engine, which is inside it."""
    check(node)
    config = given(node)
    asked_for = node.parameters[TUNNEL.name] == DAEMON
    try:
        place = str(door(config, os.environ, group))
        if not asked_for:
            find_executable(daemon.package, daemon.executable)
            _refuse_served(Path(place))
    except BringupError as error:
        if asked_for:
            raise
        print(f"{node.label}: its tunnel is inside it: {error}", file=sys.stderr)
        return replace(node, parameters={k: v for k, v in node.parameters.items() if k != TUNNEL.name}), daemon
    # A node that waits for a lifecycle manager, as its file may say, has a tunnel that waits, too.
    waits = {AUTOSTART: False} if config.get(AUTOSTART) is False else {}
    return (
        replace(node, parameters={**node.parameters, TUNNEL.name: DAEMON, DOOR: place}),
        replace(daemon, parameters={**daemon.parameters, DOOR: place, **waits}),
    )


def _refuse_served(place: Path) -> None:
    try:
        Control(Place(place)).close()
    except (OSError, ControlError):
        return
    raise BringupError(f"Another engine serves {place}.")


def check_daemon(process: Process) -> None:
    """Has its program look at the configuration and the keys. Raises BringupError with what it says of them.

    ROS' launch would start everything first, and must not read keys itself: its process takes part in DDS. A lifecycle
    manager may give the rest of the configuration later.
    """
    if not is_daemon(process) or process.parameters.get(AUTOSTART) is False:
        return
    line = [*command(process), "--check"]
    try:
        looked = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=LOOK_S, check=False)
    except subprocess.TimeoutExpired:
        raise BringupError(f"{TUNNELD} --check gave no answer within {LOOK_S:g} s.") from None
    if looked.returncode != 0:
        said = looked.stderr.strip().splitlines() or [f"{TUNNELD} --check ended with exit code {looked.returncode}."]
        raise BringupError(said[-1].removeprefix(f"{TUNNELD}: "))


def door(config: Mapping[str, Any], environment: Mapping[str, str], group: str = "") -> Path:
    """Where the daemon of a configuration opens its door, in a folder that no other user can change."""
    try:
        places = doors_of(config, environment, group)
    except ControlError as error:
        raise BringupError(str(error)) from None
    named = config.get(DOOR, "auto") != "auto"
    for place in places:
        if named or _usable(place.parent):
            _check(place.parent)
            if len(os.fsencode(place)) > LONGEST:
                raise BringupError(f"{place} is too long for a socket's name, of {LONGEST} bytes at most.")
            return place
    where = " or ".join(str(place.parent) for place in places)
    raise BringupError(
        f"A daemon needs a folder for its door, and this user cannot write to {where}: set {FOLDER_VARIABLE} to one of "
        "your own."
    )


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o755 if folder == SYSTEM_FOLDER else 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _check(folder: Path) -> None:
    try:
        found = folder.stat()
    except OSError as error:
        raise BringupError(f"There is no folder {folder} for the door ({error.strerror}).") from None
    shared = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    if found.st_uid not in (os.geteuid(), 0) or shared:
        raise BringupError(
            f"{folder} is open to other users, who could put a door of their own there: it must belong to this user or "
            "to root, and others must not write there."
        )
