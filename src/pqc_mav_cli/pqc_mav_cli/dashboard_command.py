# SPDX-License-Identifier: Apache-2.0
"""`pqcmav dashboard`: one drone or a fleet in a browser, live or from a recording."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.keys_command import DEFAULT_ROOT, Root


def dashboard(
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 = any that is free.")] = 8765,
    replay: Annotated[
        Path | None, typer.Option(help="Show this recording (*.mcap) instead of what is live, with play and pause.")
    ] = None,
    socket: Annotated[str, typer.Option(help="Control socket of one engine. Default: all of this machine.")] = "",
    ros: Annotated[
        bool, typer.Option("--ros/--no-ros", help="Also listen to ROS topics, if ROS 2 is installed.")
    ] = True,
    fleet: Annotated[
        bool, typer.Option("--fleet", help="At the operator's: show all stations of a registry (docs/fleet.md).")
    ] = False,
    url: Annotated[
        str, typer.Option("--registry", envvar="PQCMAV_REGISTRY", help="With --fleet: its server, nats://HOST.")
    ] = "",
    root: Root = DEFAULT_ROOT,
    history: Annotated[
        Path | None,
        typer.Option(help="Keep what the charts show for a day in this folder, which is made and is yours alone."),
    ] = None,
    bind: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    beyond_loopback: Annotated[
        bool,
        typer.Option("--beyond-loopback", help="Allow another --bind than loopback. Everybody there sees the fleet."),
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="A further user of this machine who may read, @GROUP, or 'everybody'; may be repeated."),
    ] = None,
    host_name: Annotated[
        list[str] | None, typer.Option(help="A further name under which the page may be opened; may be repeated.")
    ] = None,
) -> None:
    """Serve a page that shows one drone or a fleet, until Ctrl-C.

    It reads control sockets and ROS topics of this machine, or a recording. Nothing is asked while no page is open,
    unless a history is kept.
    Other users of this machine are refused, but for root and those of --allow.
    For Prometheus, /metrics is what 'pqcmav metrics' serves.
    Actions (rekey, pin, mode, station) need the token that is printed at the start.

    From another machine: 'ssh -L 8765:127.0.0.1:8765 HOST', then open http://localhost:8765/ there.
    """
    if replay and history:
        raise CliError("--history keeps what is live; a recording (--replay) is kept already. Leave one of them out.")
    try:
        from pqc_mav_dashboard.run import Options, run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pqc_mav_"):
            raise
        missing = (error.name or "").partition(".")[0]
        raise CliError(
            f"The dashboard needs {missing}; 'make setup' or 'pip install starlette uvicorn websockets' installs it."
        ) from None
    if fleet and (replay or socket):
        raise CliError("--fleet shows a registry; leave --replay and --socket out.", ExitCode.USAGE)
    beside = {} if replay or fleet else {"/metrics": _metrics(socket, ros)}
    run(
        Options(
            bind=bind,
            port=port,
            beyond_loopback=beyond_loopback,
            host_names=tuple(host_name or ()),
            socket=socket,
            ros=ros,
            replay=replay,
            beside=beside,
            history=history,
            allow=tuple(allow or ()),
            source=_board(root, url) if fleet else None,
        ),
        note,
    )


def _board(root: Path, url: str) -> Any:
    """The stations of a registry. Raises CliError for what is missing."""
    from pqc_mav_cli.fleet.command import needed, ready

    ready()
    from pqc_mav_cli.fleet.board import Board

    return Board(root.expanduser(), needed(url))


def _metrics(socket: str, ros: bool) -> Any:
    """The page of `pqcmav metrics`; the dashboard has checked the host."""
    from pqc_mav_cli.metrics.engines import Engines
    from pqc_mav_cli.metrics.exporter import Exporter
    from pqc_mav_cli.metrics.page import Page
    from pqc_mav_cli.metrics.senses import senses_here

    engines = Engines(os.environ, [Path(socket)] if socket else [])
    return Page(Exporter(engines, note, senses_here(note) if ros else None), hosts=None).asgi
