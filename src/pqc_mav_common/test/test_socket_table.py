# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pqc_mav_common.socket_table import PROC, bound_sockets, ephemeral_ports, own_sockets

ANY = "0.0.0.0"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def open_socket(stack: ExitStack, kind: socket.SocketKind, host: str) -> socket.socket:
    made = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind))
    made.bind((host, 0))
    return made


def mine() -> dict[str, bool]:
    """This process's sockets as texts, and whether they are local."""
    inodes = own_sockets(PROC / "self")
    return {str(sock): sock.local for sock in bound_sockets(PROC / "self") if sock.inode in inodes}


@pytest.mark.parametrize(("host", "local"), [(ANY, False), ("127.0.0.1", True), ("127.9.9.9", True)])
def test_udp_and_listening_tcp_are_found_where_they_are_bound(stack: ExitStack, host: str, local: bool) -> None:
    udp = open_socket(stack, socket.SOCK_DGRAM, host)
    tcp = open_socket(stack, socket.SOCK_STREAM, host)
    assert f"TCP {host}:{tcp.getsockname()[1]}" not in mine(), "it does not listen yet"
    tcp.listen()
    assert mine()[f"UDP {host}:{udp.getsockname()[1]}"] is local
    assert mine()[f"TCP {host}:{tcp.getsockname()[1]}"] is local


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_and_ipv4_in_its_clothes(stack: ExitStack) -> None:
    try:
        anybody, local, dressed = (open_socket(stack, socket.SOCK_DGRAM, h) for h in ("::", "::1", "::ffff:127.0.0.1"))
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    found = mine()
    assert found[f"UDP [::]:{anybody.getsockname()[1]}"] is False
    assert found[f"UDP [::1]:{local.getsockname()[1]}"] is True
    assert [is_local for text, is_local in found.items() if text.endswith(f":{dressed.getsockname()[1]}")] == [True]


def test_a_socket_that_hears_one_peer_alone_is_left_out(stack: ExitStack) -> None:
    made = open_socket(stack, socket.SOCK_DGRAM, "127.0.0.1")
    made.connect(("127.0.0.1", 9))
    assert f"UDP 127.0.0.1:{made.getsockname()[1]}" not in mine()


def test_the_free_ports_are_the_kernels(tmp_path: Path, stack: ExitStack) -> None:
    assert open_socket(stack, socket.SOCK_DGRAM, ANY).getsockname()[1] in ephemeral_ports()
    assert ephemeral_ports(tmp_path) == range(32768, 61000)
