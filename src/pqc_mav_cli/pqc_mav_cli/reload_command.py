# SPDX-License-Identifier: Apache-2.0
"""`pqcmav reload`: a running engine reads its configuration and keys again."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.engine_here import engine
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.rekey_command import End
from pqc_mav_common.errors import ProcessError
from pqc_mav_common.local_socket import Control, ForbiddenError, places


def reload(
    on: Annotated[End | None, typer.Option(help="Which end alone, if this machine has both.")] = None,
    drone: Annotated[str, typer.Option(help="Which drone's engine alone, if this machine has several.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, and say what would change.")] = False,
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
) -> None:
    """Read configuration and keys again, at every end that this machine has.

    Drones that were added or removed, and where plaintext goes, count at once; other settings need a restart and are
    named. A drone that was added at run time and is in no file stays, and so does an 'avoid' that was not saved, until
    the file has another one than before. A renewed key counts from the next handshake on, the session goes on; a drone
    whose key is gone is shut out. Other drones notice nothing. A proxy reads the parameter files that it was started
    with; one without any reads the keys alone, and says so.
    """
    role = on.value if on else "drone" if drone else ""
    named = not (socket or role)
    ends = (_ends() if named else []) or [socket]
    failed: list[Exception] = []
    for end in ends:
        try:
            _reload(end, role, drone, dry_run, named=named)
        except (CliError, ProcessError) as error:
            failed.append(error)
    for other in failed[1:]:
        note(str(other))
    if failed:
        raise failed[0]


def _ends() -> list[str]:
    """The control sockets of all engines here; also those that this user may not use, so that they are named."""
    found: list[str] = []
    for place in places(os.environ):
        try:
            with suppress(ForbiddenError):
                Control(place).close()
        except OSError:  # of a process that is gone
            continue
        found.append(str(place.path))
    return found


def _reload(socket: str, role: str, drone: str, dry_run: bool, *, named: bool) -> None:
    with engine(socket, role, drone) as control:
        changes = control.ask("reload", **({"dry_run": True} if dry_run else {}))
    name = f"{control.place.name}: " if named else ""
    said = _said(changes, changes.get("drones", {}), dry_run)
    for line in said or ["nothing would change" if dry_run else "nothing has changed"]:
        print(f"{name}{line}")
    if not changes.get("configuration", True):
        note(f"{name}This engine was started without a configuration file: only the keys are read again.")


def _said(keys: Mapping[str, Any], drones: Mapping[str, Any], dry_run: bool) -> list[str]:
    """A line for each kind of change, with the drones or keys that it is about."""
    would = "would be " if dry_run else ""
    avoid = drones.get("avoid")  # None: as before
    lines = [
        (f"{would}added", drones.get("added")),
        (f"{would}removed, and their sessions ended", drones.get("removed")),
        (f"{would}changed", drones.get("changed")),
        ("stay, though no file names them (added at run time)", drones.get("kept")),
        ("only a restart takes", drones.get("restart")),
        (f"{would}avoided", None if avoid is None else [avoid or "none"]),
        (f"key {would}renewed", keys.get("renewed")),
        (f"without a key now, and {would}shut out", keys.get("removed")),
        (f"signing keys {would}changed", keys.get("signing")),
    ]
    return [f"{what}: {', '.join(names)}" for what, names in lines if names]
