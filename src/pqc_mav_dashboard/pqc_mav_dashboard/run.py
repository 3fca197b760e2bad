# SPDX-License-Identifier: Apache-2.0
"""Runs the dashboard until Ctrl-C: the source, the socket, the token, the server."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pqc_mav_common.local_readers import SCRAPERS, Readers
from pqc_mav_dashboard.app import make_app
from pqc_mav_dashboard.day import Day
from pqc_mav_dashboard.ros_source import RosSource
from pqc_mav_dashboard.server import PORT, bound, host_names, make_server
from pqc_mav_dashboard.socket_source import SocketSource
from pqc_mav_dashboard.source import Source
from pqc_mav_dashboard.together import Live
from pqc_mav_dashboard.token import Token


@dataclass
class Options:
    """What `pqcmav dashboard` was given."""

    bind: str = "127.0.0.1"
    port: int = PORT
    beyond_loopback: bool = False
    host_names: Sequence[str] = field(default_factory=tuple)
    socket: str = ""
    ros: bool = True
    replay: Path | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)  # further pages, as ASGI applications
    history: Path | None = None  # a folder for what a day has brought
    allow: Sequence[str] = ()  # who else of this machine may read; see Readers
    source: Source | None = None  # instead of what is live here; it does nothing but show


def make_source(options: Options) -> Source:
    """What was given, a recording, or what is live here. Raises ProcessError for a recording that is none."""
    if options.source is not None:
        return options.source
    if options.replay is not None:
        from pqc_mav_dashboard.replay_source import load  # with the recorder's package, which not everybody has

        return load(options.replay)
    if not options.ros:
        return SocketSource(path=options.socket, absent="ROS topics are not listened to (--no-ros).")
    sockets = SocketSource(path=options.socket)
    return Live(sockets, RosSource(sockets.log))


def readers_of(options: Options) -> Callable[[str], Readers | None]:
    """Who may read a path. Raises ProcessError for a user whom there is not."""
    own, scraped = Readers(options.allow), Readers(options.allow, SCRAPERS)
    # Users of other machines are nobody's whom this one could name.
    return lambda path: None if options.beyond_loopback else scraped if path in options.beside else own


def run(options: Options, told: Callable[[str], None]) -> None:
    """Serves until Ctrl-C or SIGTERM; `told` gets the address and the token. Raises ProcessError."""
    readers = readers_of(options)
    source = make_source(options)
    with bound(options.bind, options.port, beyond_loopback=options.beyond_loopback) as listening:
        port = listening.getsockname()[1]
        token = Token()
        names = host_names(options.bind, options.host_names, beyond=options.beyond_loopback)
        place = next(iter(options.host_names), f"[{options.bind}]" if ":" in options.bind else options.bind)
        told(f"http://{place}:{port}/")
        if options.replay is None and options.source is None:
            told(f"token for actions: {token.value}")
        day = Day(options.history) if options.history is not None else None
        server = make_server(make_app(source, token, names, beside=options.beside, readers=readers, day=day))
        asyncio.run(server.serve(sockets=[listening]))
