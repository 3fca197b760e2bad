# SPDX-License-Identifier: Apache-2.0
"""A pqcmav-tunneld as a process of its own beside the proxy node that asks it: where its door is."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pqc_mav_bringup.configuration import check, given
from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_bringup.executables import TUNNELD, command, is_daemon
from pqc_mav_bringup.proxy import TUNNEL
from pqc_mav_common.local_socket import DAEMON, FOLDER_VARIABLE, SYSTEM_FOLDER, ControlError, doors_of

DOOR = "control_socket"
LOOK_S = 20.0  # longest look at a configuration


def arranged(processes: Iterable[Process]) -> list[Process]:
    """The same, with one door for each daemon and its node. Raises BringupError where there can be none."""
    return [_with_door(each) if is_daemon(each) or _asks_one(each) else each for each in processes]


def check_daemon(process: Process) -> None:
    """Has its program look at the configuration and the keys. Raises BringupError with what it says of them.

    ROS' launch would start everything first, and must not read keys itself: its process takes part in DDS. A lifecycle
    manager may give the rest of the configuration later.
    """
    if not is_daemon(process) or process.parameters.get("autostart") is False:
        return
    line = [*command(process), "--check"]
    try:
        looked = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=LOOK_S, check=False)
    except subprocess.TimeoutExpired:
        raise BringupError(f"{TUNNELD} --check gave no answer within {LOOK_S:g} s.") from None
    if looked.returncode != 0:
        said = looked.stderr.strip().splitlines() or [f"{TUNNELD} --check ended with exit code {looked.returncode}."]
        raise BringupError(said[-1].removeprefix(f"{TUNNELD}: "))


def _asks_one(process: Process) -> bool:
    return process.parameters.get(TUNNEL.name) == DAEMON


def _with_door(process: Process) -> Process:
    return replace(process, parameters={**process.parameters, DOOR: str(door(process, os.environ))})


def door(process: Process, environment: Mapping[str, str]) -> Path:
    """Where the daemon of this process opens its door, in a folder that no other user can change."""
    check(process)
    config = given(process)
    try:
        places = doors_of(config, environment)
    except ControlError as error:
        raise BringupError(str(error)) from None
    named = config.get(DOOR, "auto") != "auto"
    for place in places:
        if named or _usable(place.parent):
            _check(place.parent)
            return place
    where = " or ".join(str(place.parent) for place in places)
    raise BringupError(
        f"tunnel:={DAEMON} needs a folder for its door, and this user cannot write to {where}: "
        f"set {FOLDER_VARIABLE} to one of your own."
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
