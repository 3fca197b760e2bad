# SPDX-License-Identifier: Apache-2.0
"""Runs a socket-free handshake over a blocking TCP socket, bounded in time."""

from __future__ import annotations

import socket
import time

from .errors import MalformedError, WireError
from .handshake import Initiator, Responder

HANDSHAKE_S = 45.0
FIRST_BYTE_S = 2.0
CLIENT_HELLO_S = 5.0
CHUNK_BYTES = 65536


class Deadline:
    """A point in monotonic time."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._at - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether it has passed."""
        return self.left() == 0.0


def _receive(connection: socket.socket, seconds: float) -> bytes:
    """Some bytes of the stream; MalformedError when it ends or nothing comes in time."""
    if seconds <= 0.0:
        raise MalformedError("the handshake took too long")
    connection.settimeout(seconds)
    try:
        data = connection.recv(CHUNK_BYTES)
    except TimeoutError as error:
        raise MalformedError("the peer fell silent in the handshake") from error
    except OSError as error:
        raise MalformedError(f"the connection failed in the handshake: {error}") from error
    if not data:
        raise MalformedError("the peer closed the connection in the handshake")
    return data


def _send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    connection.settimeout(max(deadline.left(), 0.001))
    try:
        connection.sendall(data)
    except OSError as error:
        raise MalformedError(f"the connection failed in the handshake: {error}") from error


def run_initiator(address: tuple[str, int], initiator: Initiator, limit_s: float = HANDSHAKE_S) -> None:
    """Connects and runs the drone's end; afterwards `initiator` holds keys or an error. Never raises WireError."""
    deadline = Deadline(limit_s)
    try:
        with socket.create_connection(address, timeout=deadline.left()) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not initiator.finished:
                reply = initiator.feed(_receive(connection, deadline.left()))
                _send(connection, reply, deadline)
    except OSError as error:
        initiator.abort(MalformedError(f"cannot reach the gcs at {address[0]} port {address[1]}: {error}"))
    except WireError as error:
        initiator.abort(error)


def run_responder(connection: socket.socket, responder: Responder, limit_s: float = HANDSHAKE_S) -> None:
    """Runs the gcs' end on an accepted connection and closes it; `responder` then holds keys or an error."""
    deadline, hello_deadline = Deadline(limit_s), Deadline(CLIENT_HELLO_S)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            _send(connection, responder.start(), deadline)
            wait = FIRST_BYTE_S
            while not responder.finished:
                reply = responder.feed(_receive(connection, min(wait, deadline.left())))
                wait = deadline.left() if responder.gated else hello_deadline.left()
                _send(connection, reply, deadline)
        except WireError as error:
            responder.abort(error)
