# SPDX-License-Identifier: Apache-2.0
"""`pqcmav drones`: the drones of a running ground station, without a restart."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli import drones_file
from pqc_mav_cli.console import note
from pqc_mav_cli.engine_here import engine
from pqc_mav_cli.errors import CliError
from pqc_mav_common.local_socket import Control, folders

drones_app = typer.Typer(
    no_args_is_help=True,
    help="List, add and remove drones of a ground station that runs on this machine, or end a drone's session; the "
    "others notice nothing.",
)

DroneId = Annotated[str, typer.Argument(help="The drone, by its id.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Until the next restart: leave the configuration file alone.")]
Socket = Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")]


@drones_app.command("list")
def list_drones(socket: Socket = "") -> None:
    """List the drones and the local UDP port of each one's plaintext (0: serial port or several applications)."""
    with ground_station(socket) as control:
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
    radio: Annotated[
        str, typer.Option(help="The serial radio by which it comes: serial:DEVICE:BAUD, ':rtscts', ':mavlink'.")
    ] = "",
    radio_id: Annotated[int, typer.Option(help="Its number on that radio.", min=0, max=127)] = 0,
    no_save: NoSave = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing, and say whether it could be added.")
    ] = False,
    socket: Socket = "",
) -> None:
    """Add a drone whose key is in the gcs' key folder already ('pqcmav keys init', 'pqcmav keys list').

    It is written into the configuration file that the ground station reads, whose comments stay.
    """
    settings: dict[str, Any] = {"plain_bind": plain_bind, "plain_peer": plain_peer, "plain_endpoints": endpoint}
    settings |= {"radio": radio, "radio_id": radio_id}
    given = {key: value for key, value in settings.items() if value}
    with ground_station(socket) as control:
        if dry_run:
            file = None if no_save else saving_to(control)
            control.ask("drones", action="add", drone=drone, settings=given, dry_run=True)
            print(f"would add {drone}" + (f", and save it in {file}" if file else ""))
            return
        port, saved = add_drone(control, drone, given, save=not no_save)
    where = f", plaintext on UDP port {port}" if port else ""
    print(f"added {drone}{where}{lasting(saved, no_save)}")


@drones_app.command()
def remove(drone: DroneId, no_save: NoSave = False, socket: Socket = "") -> None:
    """Remove a drone: its session ends, its ports are free, and it is refused. Its keys stay in the key folder.

    It goes from the configuration file that the ground station reads, too.
    """
    with ground_station(socket) as control:
        file = None if no_save else saving_to(control)
        control.ask("drones", action="remove", drone=drone)
        if file is not None:
            drones_file.save(file, drone, None)
    print(f"removed {drone}{lasting(file, no_save)}")


@drones_app.command()
def end(drone: DroneId, socket: Socket = "") -> None:
    """End a drone's session at once, and let it in with the current key alone.

    The keys are read again first: after 'pqcmav keys rotate' whoever has the old key is out, with or without a session.
    """
    with ground_station(socket) as control:
        control.ask("drones", action="end", drone=drone)
    print(f"ended the session of {drone}; it is let in again with the current key")


def add_drone(control: Control, drone: str, settings: Mapping[str, Any], *, save: bool) -> tuple[int, Path | None]:
    """Adds a drone to a running gcs and to its configuration file.

    Returns the UDP port of its plaintext (0: none), and the file, or None where there is none. Raises CliError, and
    ControlError for what the engine refuses; all that can be found out beforehand is, and then nothing has changed.
    """
    file = saving_to(control) if save else None
    control.ask("drones", action="add", drone=drone, settings=dict(settings))
    if file is not None:
        drones_file.save(file, drone, settings)
        # The engine learns that the file names it: without its line there, the next reload removes it.
        if drone in control.ask("reload", dry_run=True)["drones"].get("kept", []):
            note(
                f"warning: {file} has {drone} now, but the ground station has its drones from its command line, which "
                "goes before the file. Change it there."
            )
    port = next(each["plain_port"] for each in control.ask("drones")["drones"] if each["drone_id"] == drone)
    return int(port), file


def naming(control: Control) -> Path | None:
    """The file that names a gcs' drones, whether it can be written or not; None if it has none of its own."""
    files = control.ask("drones").get("files", [])
    return drones_file.choose(files) if files else None


def saving_to(control: Control) -> Path | None:
    """The file that names a gcs' drones; None if it has none of its own. Raises CliError if it cannot be written."""
    if (file := naming(control)) is not None:
        drones_file.check_writable(file)
    return file


def lasting(saved: Path | None, no_save: bool) -> str:
    """How long a change lasts, as the end of a line."""
    if saved:
        return f"; saved in {saved}"
    own = "" if no_save else ": it has no configuration of its own (--config) to save this in"
    return f"; it lasts until a restart of the ground station{own}"


def ground_station(socket: str) -> AbstractContextManager[Control]:
    """The control socket of the ground station on this machine. Raises CliError."""
    where = " or ".join(str(folder) for folder in folders(os.environ))
    absent = CliError(f"No ground station has a control socket in {where}; is it running on this machine?")
    return engine(socket, "gcs", absent=absent)
