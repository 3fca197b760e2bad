# SPDX-License-Identifier: Apache-2.0
"""`pqcmav status`: what the proxies say about their tunnels, live or once."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqc_mav_cli.console import console, fitted, note, print_json
from pqc_mav_cli.errors import CliError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

REFRESH_S = 0.25
# `--once` looks for proxies at least this long: on a busy machine one is found a while before the other.
LOOK_S = 1.5
# And gives those it has found this long to show all their tunnels; two rounds of figures take two seconds.
ANSWER_S = 5.0


def status(
    namespace: Annotated[str, typer.Option(help="Only the proxy in this ROS namespace, e.g. drone.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Show the current state and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts; implies --once.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to look for proxies.")] = 5.0,
) -> int:
    """Show every tunnel: state, suite, epoch, key age, peer, rates, drops, loss and round-trip time.

    With --once or --json the exit code is 0 if every tunnel is up, and 1 if one is not, if a proxy does not answer, if
    none was found, or if one has found a way around the tunnel on its machine.
    """
    from pqc_mav_cli import status_view
    from pqc_mav_cli.ros_session import reachable, watch

    began_s = time.monotonic()
    with watch(namespace) as watcher:
        if not watcher.wait_for(bool, timeout):
            where = f" in namespace {namespace}" if namespace else ""
            raise CliError(
                f"No proxy found{where} within {timeout:g} s ({reachable(os.environ)}); "
                "is it running on this machine or network, with the same ROS_DOMAIN_ID?"
            )
        if once or as_json:
            time.sleep(max(0.0, began_s + LOOK_S - time.monotonic()))
            watcher.wait_for(lambda _: watcher.complete(), ANSWER_S)
            views, silent = watcher.views(), watcher.silent()
            dangers = watcher.dangers()
            if as_json:
                print_json(status_view.as_json(views, time.monotonic()))
            else:
                _print(views)
            for danger in dangers:
                note(danger)
            for proxy in silent:
                note(f"{proxy} does not answer: it is starting, not active, or has just ended.")
            good = not (silent or dangers) and all(status_view.state_of(view) in ("UP", "REKEYING") for view in views)
            return 0 if good else 1
        if not sys.stdout.isatty():
            return _lines(watcher)
        return _live(watcher)


def _print(views: Sequence[Any]) -> None:
    from pqc_mav_cli import status_view

    out = console()
    out.print(_fitted_table(out, views))
    for problem in status_view.problems(views):
        out.print(f"[yellow]{problem}[/yellow]")


def _fitted_table(out: Console, views: Sequence[Any]) -> RenderableType:
    from pqc_mav_cli import status_view

    now_s = time.monotonic()
    return fitted(out, lambda left_out: status_view.table(views, now_s, left_out), status_view.EXPENDABLE)


def _live(watcher: Any) -> int:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from pqc_mav_cli import status_view

    def frame() -> Group:
        views = watcher.views()
        lines = [Text(problem, "yellow") for problem in status_view.problems(views)]
        lines += [Text(danger, "bold red") for danger in watcher.dangers()]
        return Group(_fitted_table(out, views), *lines, Text("Ctrl-C exits", "dim"))

    out = console()
    try:
        with Live(frame(), console=out, auto_refresh=False) as live:
            while True:
                time.sleep(REFRESH_S)
                live.update(frame(), refresh=True)
    except KeyboardInterrupt:
        return 0


def _lines(watcher: Any) -> int:
    """Not a terminal: one line per tunnel and second."""
    from pqc_mav_cli import status_view

    try:
        while True:
            for view in watcher.views():
                stats = view.stats
                rates = f" tx {stats.tx_packets_per_s:.0f}/s rx {stats.rx_packets_per_s:.0f}/s" if stats else ""
                print(f"{view.node} {view.drone_id} {status_view.state_of(view)} {status_view.suite_of(view)}{rates}")
            sys.stdout.flush()
            time.sleep(1.0)
    except KeyboardInterrupt:
        return 0
