# SPDX-License-Identifier: Apache-2.0
"""`pqcmav status`: what the proxies say about their tunnels, live or once."""

import json
import os
import signal
import sys
import time
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.status_once import print_all, show

REFRESH_S = 0.25


def status(
    namespace: Annotated[str, typer.Option(help="Only the proxy in this ROS namespace, e.g. drone.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Show the current state and exit.")] = False,
    forever: Annotated[
        bool, typer.Option("--watch", help="Go on until Ctrl-C, as without --once; with --json a line a second.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for scripts; implies --once without --watch.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to look for proxies.")] = 5.0,
    socket: Annotated[str, typer.Option(help="Control socket of one engine, if not in its usual folder.")] = "",
    ros: Annotated[bool, typer.Option("--ros", help="Ask through ROS, also for other machines.")] = False,
) -> int:
    """Show every tunnel: state, suite, epoch, key age, peer, rates, drops, loss and round-trip time.

    Those of this machine, by their control sockets; if there are none, those that ROS reaches.

    With --once or --json the exit code is 0 if every tunnel is up, and 1 if one is not, if a proxy does not answer, if
    none was found, or if one has found a way around the tunnel on its machine.
    """
    from pqc_mav_cli.ros_session import reachable
    from pqc_mav_cli.socket_session import tunnels

    if once and forever:
        raise CliError("--once and --watch contradict each other.", ExitCode.USAGE)
    began_s = time.monotonic()
    with tunnels(namespace, ros=ros, path=socket) as watcher:
        if not watcher.wait_for(bool, timeout):
            where = f" in namespace {namespace}" if namespace else ""
            raise CliError(
                f"No proxy found{where} within {timeout:g} s ({reachable(os.environ)}); "
                "is it running on this machine or network, with the same ROS_DOMAIN_ID?"
            )
        if forever and as_json:
            return _json_lines(watcher)
        if once or as_json:
            time.sleep(max(0.0, began_s + watcher.look_s - time.monotonic()))
            return show(watcher, as_json=as_json)
        if not sys.stdout.isatty():
            return _lines(watcher)
        return _live(watcher)


def _live(watcher: Any) -> int:
    """The whole terminal, so that a change of its size leaves nothing behind; at the end the last state stays."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from pqc_mav_cli import status_screen

    def frame() -> Group:
        made = status_screen.fitted(out, watcher.views(), watcher.dangers(), time.monotonic(), out.height - 1)
        return Group(made, Text("Ctrl-C exits", "dim"))

    out = console()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # the terminal must get its own screen back
    try:
        with Live(frame(), console=out, auto_refresh=False, screen=True) as live:
            while True:
                time.sleep(REFRESH_S)
                live.update(frame(), refresh=True)
    except KeyboardInterrupt:
        print_all(watcher.views(), watcher.dangers())
        return 0


def _json_lines(watcher: Any) -> int:
    """One JSON document per line and second."""
    from pqc_mav_cli import status_view

    try:
        while True:
            print(json.dumps(status_view.as_json(watcher.views(), time.monotonic()), allow_nan=False), flush=True)
            time.sleep(1.0)
    except KeyboardInterrupt:
        return 0


def _lines(watcher: Any) -> int:
    """Not a terminal: one line per tunnel and second."""
    from pqc_mav_cli import status_view

    try:
        while True:
            now_s = time.monotonic()
            for view in watcher.views():
                stats = None if status_view.is_silent(view, now_s) else view.stats
                rates = f" tx {stats.tx_packets_per_s:.0f}/s rx {stats.rx_packets_per_s:.0f}/s" if stats else ""
                word = status_view.word(view, now_s)
                print(f"{view.node} {view.drone_id} {word} {status_view.suite_of(view)}{rates}")
            sys.stdout.flush()
            time.sleep(1.0)
    except KeyboardInterrupt:
        return 0
