# SPDX-License-Identifier: Apache-2.0
"""`pqcmav reload`: a running engine reads its configuration and keys again."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.rekey_command import End
from pqc_mav_common.local_socket import chosen, folders


def reload(
    on: Annotated[End | None, typer.Option(help="Which end, if this machine has both.")] = None,
    drone: Annotated[str, typer.Option(help="Which drone's engine, if this machine has several.")] = "",
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
) -> None:
    """Read configuration and keys again.

    Drones that were added or removed, and where plaintext goes, count at once; other settings need a restart and are
    named. A renewed key counts from the next handshake on, the session goes on; a drone whose key is gone is shut out.
    Other drones notice nothing. A proxy reads the parameter files that it was started with; one without any reads the
    keys alone, and says so.
    """
    role = on.value if on else "drone" if drone else ""
    with chosen(os.environ, path=socket, role=role, drone=drone) as control:
        if control is None:
            where = " or ".join(str(folder) for folder in folders(os.environ))
            raise CliError(f"No such engine has a control socket in {where}; is it running on this machine?")
        try:
            changes = control.ask("reload")
        except OSError as error:
            raise CliError(f"No answer from {control.place.path}: {error}") from None
    drones, configuration = changes.pop("drones", {}), changes.pop("configuration", True)
    said = [(f"{what} keys" if what == "signing" else f"{what} key of", names) for what, names in changes.items()]
    said += [
        ("only a restart takes" if what == "restart" else f"{what} drone", names) for what, names in drones.items()
    ]
    for what, names in said:
        if names:
            print(f"{what}: {', '.join(names)}")
    if not any(names for _, names in said):
        print("nothing has changed")
    if not configuration:
        note("This engine was started without a configuration file: only the keys were read again.")
