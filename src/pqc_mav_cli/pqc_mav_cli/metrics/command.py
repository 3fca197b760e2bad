# SPDX-License-Identifier: Apache-2.0
"""`pqcmav metrics`: serves what the engines of this machine count, for Prometheus."""

import os
import signal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode


def metrics(
    listen: Annotated[str, typer.Option(help="Address and port of the page.")] = "127.0.0.1:9464",
    socket: Annotated[
        list[Path] | None, typer.Option(help="Control socket to ask, in place of all that there are; may be repeated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name by which the page may be asked for (its Host header); may be repeated."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="A further user of this machine who may read, @GROUP, or 'everybody'; may be repeated."),
    ] = None,
    ros: Annotated[
        bool,
        typer.Option(
            "--ros/--no-ros", help="Also show threat, policy and battery from ROS topics, if ROS 2 is installed."
        ),
    ] = True,
    once: Annotated[bool, typer.Option("--once", help="Print the page and exit.")] = False,
) -> int:
    """Serve the engines' counters, states and key ages for Prometheus, at /metrics, until Ctrl-C.

    Each scrape asks every engine of this machine once, by its control socket. The page has no password and is not
    encrypted. On loopback it is for the user who serves it, root, 'prometheus' and those of --allow; at another address
    whoever can reach it reads it. With --once the exit code is 0 if every engine answered; ROS topics are
    not waited for.
    """
    from pqc_mav_cli.metrics.engines import Engines
    from pqc_mav_cli.metrics.exporter import Exporter
    from pqc_mav_cli.metrics.page import Page
    from pqc_mav_cli.metrics.senses import senses_here
    from pqc_mav_cli.metrics.server import Server, address_of, hosts_for
    from pqc_mav_common.local_readers import SCRAPERS, Readers

    engines = Engines(os.environ, socket or [])
    if once:
        page = Exporter(engines, note).page()[0].decode()
        print(page, end="")
        up = [line for line in page.splitlines() if line.startswith("pqcmav_up{")]
        return 0 if up and all(line.endswith(" 1.0") for line in up) else ExitCode.FAILED
    host, port = address_of(listen)
    try:
        exporter = Exporter(engines, note, senses_here(note) if ros else None)
        readers = Readers(allow or [], SCRAPERS) if ip_address(host).is_loopback else None
        server = Server(host, port, Page(exporter, hosts_for(host, allow_host or [])), readers)
    except OSError as error:
        raise CliError(f"Nothing can be served at {listen}: {error.strerror}; --listen takes another.") from None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with server:
        print(f"The metrics of this machine's engines are at {server.url}; Ctrl-C ends.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0
