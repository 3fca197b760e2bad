# SPDX-License-Identifier: Apache-2.0
"""The relay between real sockets on loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

import pytest

from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.impairment.settings import ImpairmentError

DEADLINE_S = 20.0
DATA, CONTROL = b"\x02data", b"\x12control"


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class Ends:
    """A relay, a UDP socket on either side, and a TCP server on side b."""

    def __init__(self) -> None:
        self.b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.b.bind(("127.0.0.1", 0))
        self.server = socket.create_server(("127.0.0.1", 0))
        self.relay = Relay(self.server.getsockname()[1], self.b.getsockname()[1], seed=3).start()
        self.a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.a.connect(("127.0.0.1", self.relay.ports[1]))
        for each in (self.a, self.b, self.server):
            each.settimeout(DEADLINE_S)

    def connect(self) -> tuple[socket.socket, socket.socket]:
        near = socket.create_connection(("127.0.0.1", self.relay.ports[0]), timeout=DEADLINE_S)
        far, _ = self.server.accept()
        far.settimeout(DEADLINE_S)
        return near, far

    def close(self) -> None:
        self.relay.stop()
        for each in (self.a, self.b, self.server):
            each.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.close()


def test_datagrams_pass_both_ways(ends: Ends) -> None:
    ends.a.send(DATA)
    got, sender = ends.b.recvfrom(100)
    ends.b.sendto(CONTROL, sender)
    assert got == DATA and ends.a.recv(100) == CONTROL
    assert ends.relay.entered(A_TO_B) == 1 and ends.relay.entered(B_TO_A, "control") == 1
    assert ends.relay.lost(A_TO_B) == 0
    assert ends.relay.overheard(A_TO_B) == DATA and ends.relay.overheard(B_TO_A) == b"", "control is not kept"


def test_every_lost_datagram_is_counted_by_kind(ends: Ends) -> None:
    ends.relay.impair({"loss": 0.3}, (A_TO_B,))
    got: list[bytes] = []
    for sent in range(50, 401, 50):  # in rounds that no socket buffer overflows with
        for _ in range(50):
            ends.a.send(DATA)
            ends.a.send(CONTROL)
        until(lambda: ends.relay.entered(A_TO_B) == sent == ends.relay.entered(A_TO_B, "control"))  # noqa: B023
        passed = 2 * sent - ends.relay.lost(A_TO_B) - ends.relay.lost(A_TO_B, "control")
        got += [ends.b.recv(100) for _ in range(passed - len(got))]
    assert got.count(DATA) == 400 - ends.relay.lost(A_TO_B) and 80 < ends.relay.lost(A_TO_B) < 160
    ends.b.settimeout(0.1)
    with pytest.raises(TimeoutError):
        ends.b.recv(100)


def test_delay_is_at_least_what_was_asked(ends: Ends) -> None:
    ends.relay.impair({"delay_ms": 50})
    began = time.monotonic()
    ends.a.send(DATA)
    ends.b.recv(100)
    assert time.monotonic() - began >= 0.05


def test_a_cut_link_loses_datagrams_and_holds_streams(ends: Ends) -> None:
    near, far = ends.connect()
    ends.relay.impair({"down": True})
    ends.a.send(DATA)
    near.sendall(b"hello")
    until(lambda: ends.relay.lost(A_TO_B) == 1)
    far.settimeout(0.2)
    with pytest.raises(TimeoutError):
        far.recv(100)
    ends.relay.impair({"down": False})
    far.settimeout(DEADLINE_S)
    assert far.recv(100) == b"hello"
    near.close()
    far.close()


def test_a_stream_arrives_whole_and_in_order_whatever_the_link(ends: Ends) -> None:
    ends.relay.impair({"loss": 0.2, "delay_ms": 2, "jitter_ms": 2})
    near, far = ends.connect()
    content = bytes(range(256)) * 2000
    near.sendall(content)
    near.shutdown(socket.SHUT_WR)
    got = bytearray()
    while piece := far.recv(65536):
        got += piece
    assert bytes(got) == content
    far.sendall(b"answer")
    far.close()
    assert near.recv(100) == b"answer" and near.recv(100) == b""
    near.close()
    until(lambda: not ends.relay._streams)


def test_nobody_behind_it(ends: Ends) -> None:
    ends.server.close()
    near = socket.create_connection(("127.0.0.1", ends.relay.ports[0]), timeout=DEADLINE_S)
    assert near.recv(100) == b""
    near.close()


def test_settings_are_checked(ends: Ends) -> None:
    with pytest.raises(ImpairmentError, match="loss"):
        ends.relay.impair({"loss": 2.0})
