# SPDX-License-Identifier: Apache-2.0
"""`pqcmav pause` and `pqcmav resume`: close a daemon's tunnel, and open it again."""

from typing import Annotated

import typer

from pqc_mav_cli.engine_here import engine
from pqc_mav_cli.rekey_command import End

ANSWER_S = 60.0
On = Annotated[End | None, typer.Option(help="Which end, if this machine has both.")]
Drone = Annotated[str, typer.Option(help="Which drone's engine, if this machine has several.")]
Socket = Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")]


def pause(on: On = None, drone: Drone = "", socket: Socket = "") -> None:
    """Close the tunnel of a pqcmav-tunneld until 'resume': no crash and no restart of the service opens it.

    Nothing passes, and no keys are in memory. For the engine's user and root. A proxy that has its engine inside is
    deactivated instead ('ros2 lifecycle set').
    """
    _change("pause", on, drone, socket)


def resume(on: On = None, drone: Drone = "", socket: Socket = "") -> None:
    """Open the tunnel of a pqcmav-tunneld again."""
    _change("resume", on, drone, socket)


def _change(command: str, on: End | None, drone: str, socket: str) -> None:
    role = on.value if on else "drone" if drone else ""
    with engine(socket, role, drone, answer_s=ANSWER_S) as control:
        print(control.ask(command)["state"])
