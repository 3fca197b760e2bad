# SPDX-License-Identifier: Apache-2.0
"""Serves the application: on loopback, unless another address is allowed outright."""

import asyncio
import ipaddress
import logging
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_dashboard.guard import LOOPBACK_NAMES
from pqc_mav_dashboard.hub import LONGEST
from pqc_mav_dashboard.places import CONNECTIONS, FairProtocol

PORT = 8765
BEYOND = (
    "without encryption, everybody who reaches that address sees the fleet, and anybody who reads the traffic has the "
    "token; "
    "use 'ssh -L {port}:127.0.0.1:{port} HOST' instead, or --beyond-loopback in a network of your own"
)


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches it. Names are not looked up: 'localhost' counts, no other does."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def host_names(address: str, given: Sequence[str], *, beyond: bool) -> list[str]:
    """The names under which the page may be opened."""
    own = f"[{address}]" if ":" in address else address
    return [*dict.fromkeys([*LOOPBACK_NAMES, *([own] if beyond else []), *given])]


def bound(address: str, port: int, *, beyond_loopback: bool = False) -> socket.socket:
    """A listening socket. Raises ProcessError for an address that is open to others, or a port that is taken."""
    if not is_loopback(address) and not beyond_loopback:
        raise ProcessError(f"The dashboard is not served at {address}: {BEYOND.format(port=port)}.", ExitCode.CONFIG)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ProcessError(f"'{address}' is no address of this machine: {error.strerror}.", ExitCode.CONFIG) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(CONNECTIONS)
    except OSError as error:
        made.close()
        raise ProcessError(
            f"Cannot listen at {address} port {port}: {error.strerror}; choose another with --port.", ExitCode.FAILED
        ) from None
    return made


class QuietServer(uvicorn.Server):
    """uvicorn looks ten times a second whether it is to end. This one is told, sleeps until then, and ends well."""

    async def main_loop(self) -> None:
        """Until a signal asks for the end."""
        if not self.should_exit:
            await self._asked.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM are how it is meant to end, so they are not raised again."""
        self._asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self._end)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _end(self) -> None:
        self.should_exit = True  # a second Ctrl-C makes it no quicker: all has its deadline
        self._asked.set()


def make_server(app: Any) -> uvicorn.Server:
    """A server of an application (`make_app`) that has not begun; `serve(sockets=[bound(...)])` runs it."""
    # Its log would be one line per request, and of failures that are refused and counted already.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=FairProtocol,
        ws="websockets-sansio",
        ws_max_size=LONGEST,
        ws_max_queue=4,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        ws_per_message_deflate=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=16 * 1024,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        access_log=False,
        log_config=None,
        lifespan="on",
    )
    return QuietServer(config)
