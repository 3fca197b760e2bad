# SPDX-License-Identifier: Apache-2.0
"""`pqcmav drones`: the drones of a running ground station, without a restart."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_common.local_socket import Control, chosen, folders

drones_app = typer.Typer(
    no_args_is_help=True,
    help="List, add and remove drones of a ground station that runs on this machine; the others notice nothing.",
)

DroneId = Annotated[str, typer.Argument(help="The drone, by its id.")]
Socket = Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")]


@drones_app.command("list")
def list_drones(socket: Socket = "") -> None:
    """List the drones and the local UDP port of each one's plaintext (0: serial port or several applications)."""
    with _gcs(socket) as control:
        for drone in control.ask("drones")["drones"]:
            print(f"{drone['drone_id']}  {drone['plain_port']}")


@drones_app.command()
def add(
    drone: DroneId,
    plain_bind: Annotated[str, typer.Option(help="Where ground software may send, HOST:PORT.")] = "",
    plain_peer: Annotated[str, typer.Option(help="Where its MAVLink goes, HOST:PORT.")] = "",
    endpoint: Annotated[
        list[str] | None,
        typer.Option(help="Instead of both: one of several applications, e.g. udp-listen:127.0.0.1:14560; repeat it."),
    ] = None,
    socket: Socket = "",
) -> None:
    """Add a drone whose key is in the gcs' key folder already ('pqcmav keys init', 'pqcmav keys list').

    It lasts until the engine is restarted: add the drone to the configuration too.
    """
    settings: dict[str, Any] = {"plain_bind": plain_bind, "plain_peer": plain_peer, "plain_endpoints": endpoint}
    given = {key: value for key, value in settings.items() if value}
    with _gcs(socket) as control:
        control.ask("drones", action="add", drone=drone, settings=given)
        port = next(each["plain_port"] for each in control.ask("drones")["drones"] if each["drone_id"] == drone)
    where = f", plaintext on UDP port {port}" if port else ""
    print(f"added {drone}{where}; it lasts until a restart: add it to the configuration, too")


@drones_app.command()
def remove(drone: DroneId, socket: Socket = "") -> None:
    """Remove a drone: its session ends, its ports are free, and it is refused. Its keys stay in the key folder.

    It lasts until the engine is restarted: remove the drone from the configuration too.
    """
    with _gcs(socket) as control:
        control.ask("drones", action="remove", drone=drone)
    print(f"removed {drone}; it lasts until a restart: remove it from the configuration, too")


@contextmanager
def _gcs(socket: str) -> Iterator[Control]:
    with chosen(os.environ, path=socket, role="gcs") as control:
        if control is None:
            where = " or ".join(str(folder) for folder in folders(os.environ))
            raise CliError(f"No ground station has a control socket in {where}; is it running on this machine?")
        try:
            yield control
        except OSError as error:
            raise CliError(f"No answer from {control.place.path}: {error}", ExitCode.FAILED) from None
