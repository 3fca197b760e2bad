# SPDX-License-Identifier: Apache-2.0
"""UDP endpoints as people write them: `127.0.0.1:14550`, `localhost:14550`, `[::1]:14550`."""

import socket
from typing import Any, NamedTuple


class EndpointError(ValueError):
    """An endpoint that cannot be used; the text says what is wrong with it."""


class Endpoint(NamedTuple):
    """A resolved address; `sockaddr` is what the socket calls take."""

    family: int
    sockaddr: tuple[Any, ...]

    def __str__(self) -> str:
        host, port = self.sockaddr[:2]
        return f"[{host}]:{port}" if self.family == socket.AF_INET6 else f"{host}:{port}"


def any_port_towards(peer: Endpoint) -> Endpoint:
    """Return where to bind to talk to a peer: the loopback address if the peer is on it, else every interface."""
    host = peer.sockaddr[0]
    if peer.family == socket.AF_INET6:
        return Endpoint(peer.family, ("::1" if host == "::1" else "::", 0, 0, 0))
    return Endpoint(peer.family, ("127.0.0.1" if host.startswith("127.") else "0.0.0.0", 0))  # noqa: S104


def resolve(text: str, *, passive: bool = False) -> Endpoint:
    """Return the address of `host:port`.

    Args:
        text: host and port; an IPv6 address in brackets.
        passive: the address is to be bound, so port 0 (any free one) is allowed.

    Raises:
        EndpointError: no port, a port out of range, or a host that does not resolve.
    """
    host, colon, port_text = text.rpartition(":")
    if not colon or not host:
        raise EndpointError(f"address {text!r} has no port: write host:port, for example 127.0.0.1:14550")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise EndpointError(
            f"address {text!r} is ambiguous: write an IPv6 address in brackets, for example [::1]:14550"
        )
    if not port_text.isdecimal() or not (0 if passive else 1) <= int(port_text) <= 65535:
        raise EndpointError(f"port {port_text!r} in {text!r} is not a number from {0 if passive else 1} to 65535")
    try:
        infos = socket.getaddrinfo(host, int(port_text), type=socket.SOCK_DGRAM, proto=socket.IPPROTO_UDP)
    except OSError as error:
        raise EndpointError(f"host {host!r} does not resolve: {error}") from error
    family, _, _, _, sockaddr = infos[0]
    return Endpoint(family, sockaddr)
