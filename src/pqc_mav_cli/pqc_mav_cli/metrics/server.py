# SPDX-License-Identifier: Apache-2.0
"""A small web server for the page alone: few requests at once, each with a time limit."""

import socket
import threading
from collections.abc import Callable, Collection, Iterable
from ipaddress import ip_address
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.metrics.page import LOOPBACK, Page
from pqc_mav_common.local_readers import Readers

PATH = "/metrics"
REQUESTS_MOST, REFUSALS_MOST = 8, 4  # at once; of users who may not read, who thus take nobody's place
_PEER, _LOCAL = "pqcmav.peer", "pqcmav.local"
_PLAIN_TEXT = ("Content-Type", "text/plain; charset=utf-8")
REQUEST_S = 15.0  # for one request, its answer included


def address_of(text: str) -> tuple[str, int]:
    """Address and port of `--listen`. Raises CliError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        ip_address(host)
        number = int(port)
    except ValueError:
        number = -1
    if not 0 <= number <= 65535:
        raise CliError(f"--listen is '{text}'; give an address and a port, such as 127.0.0.1:9464.", ExitCode.USAGE)
    return host, number


def hosts_for(host: str, allowed: Collection[str]) -> list[str]:
    """The names by which a server at this address may be asked. Raises CliError where it has none."""
    address = ip_address(host)
    if address.is_unspecified:
        if not allowed:
            raise CliError(
                f"--listen {host} is every address of this machine: name with --allow-host by which of them, or by "
                "which names, the page may be asked for.",
                ExitCode.USAGE,
            )
        return [*allowed]
    return [*(LOOPBACK if address.is_loopback else ()), host, *allowed]


class Server(ThreadingMixIn, WSGIServer):
    """Serves the page at /metrics."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 16

    def __init__(self, host: str, port: int, page: Page, readers: Readers | None = None) -> None:
        """`readers`: which users of this machine may read; None: all. Raises OSError where the address is taken."""
        self.address_family = socket.AF_INET6 if ip_address(host).version == 6 else socket.AF_INET
        self._readers = readers
        self._slots = threading.BoundedSemaphore(REQUESTS_MOST)
        self._refusals = threading.BoundedSemaphore(REFUSALS_MOST)
        self._held: dict[Any, threading.BoundedSemaphore] = {}
        super().__init__((host, port), _Handler)
        self.set_app(_with_paths(page, readers))

    def server_bind(self) -> None:
        """As the base class, without asking the name service what this machine is called."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    @property
    def url(self) -> str:
        """Where the page is."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}{PATH}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Too many at once are closed unanswered."""
        refused = self._readers is not None and self._readers.refusal(client_address[:2], request.getsockname()[:2])
        slots = self._refusals if refused else self._slots
        if not slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._held[request] = slots
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One request, at most REQUEST_S: a client that sends or reads a byte now and then must not keep a thread."""
        limit = threading.Timer(REQUEST_S, _cut, [request])
        limit.daemon = True
        limit.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            limit.cancel()
            self._held.pop(request).release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no event."""


def _cut(request: socket.socket) -> None:
    try:
        request.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended


class _Handler(WSGIRequestHandler):
    timeout = 5  # of one read or write [s]

    def get_environ(self) -> dict[str, Any]:
        """With both ends of the connection."""
        ends = {_PEER: self.client_address[:2], _LOCAL: self.request.getsockname()[:2]}
        return {**super().get_environ(), **ends}

    def log_message(self, format: str, *args: Any) -> None:
        """Not every scrape is worth a line."""


def _with_paths(page: Page, readers: Readers | None) -> Callable[..., Iterable[bytes]]:
    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if readers is not None and (why := readers.refusal(environ[_PEER], environ[_LOCAL])):
            start_response("403 Forbidden", [_PLAIN_TEXT])
            return [f"{why}\n".encode()]
        if environ["PATH_INFO"] == PATH:
            return page.wsgi(environ, start_response)
        start_response("404 Not Found", [_PLAIN_TEXT])
        return [f"The metrics are at {PATH}.\n".encode()]

    return application
