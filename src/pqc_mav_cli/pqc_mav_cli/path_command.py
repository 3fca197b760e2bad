# SPDX-License-Identifier: Apache-2.0
"""`pqcmav path`: the ways of a drone to its ground station, and which of them it may use."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from pqc_mav_cli.engine_here import engine
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.socket_session import record
from pqc_mav_cli.status_view import path_line
from pqc_mav_common.local_socket import Control

WORDS = ("on", "off", "first")


def path(
    name: Annotated[str, typer.Argument(help="The path; without it all are listed.")] = "",
    word: Annotated[str, typer.Argument(help="on, off, or first: before all others as soon as it answers.")] = "",
    drone: Annotated[str, typer.Option(help="Which drone's engine, if this machine has several.")] = "",
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
) -> None:
    """List the paths of a drone on this machine, switch one off or on, or have it go before all others.

    It lasts until the engine ends. 'on' also puts a path back to its own place.
    """
    if name and word not in WORDS:
        raise CliError(f"'pqcmav path {name}' needs one of: {', '.join(WORDS)}.", ExitCode.USAGE)
    with engine(socket, "drone", drone) as control:
        check(name, _paths(control))
        if name:
            control.ask("path", path=name, use=word)
        print("\n".join(path_line(record(each)) for each in _paths(control)))


def _paths(control: Control) -> list[dict[str, Any]]:
    return list(control.ask("status")["tunnels"][0].get("paths", []))


def check(name: str, paths: Sequence[Mapping[str, Any]]) -> None:
    """Raises CliError unless the drone has several paths, and one of this name."""
    if not paths:
        raise CliError("This drone has one way to its ground station; name several in 'paths' (docs/paths.md).")
    names = [each["name"] for each in paths]
    if name and name not in names:
        raise CliError(f"'{name}' is none of this drone's paths: {', '.join(names)}.")
