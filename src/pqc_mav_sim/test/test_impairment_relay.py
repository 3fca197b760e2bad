# SPDX-License-Identifier: Apache-2.0
"""The relay between real sockets on loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from pqc_mav_common.testing import until
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.impairment.settings import ImpairmentError

DEADLINE_S = 20.0
DATA, CONTROL, HELLO = b"\x03data", b"\x13control", b"\x33hello"


class Ends:
    """A relay and a socket on either side."""

    def __init__(self) -> None:
        self.b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.b.bind(("127.0.0.1", 0))
        self.relay = Relay(self.b.getsockname()[1], seed=3).start()
        self.a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.a.connect(("127.0.0.1", self.relay.port))
        for each in (self.a, self.b):
            each.settimeout(DEADLINE_S)

    def close(self) -> None:
        self.relay.stop()
        for each in (self.a, self.b):
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
        until(lambda: ends.relay.entered(A_TO_B) == sent == ends.relay.entered(A_TO_B, "control"), "all to have come")  # noqa: B023
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


def test_a_cut_link_loses_everything_and_a_mended_one_nothing(ends: Ends) -> None:
    ends.relay.impair({"down": True})
    ends.a.send(DATA)
    ends.a.send(HELLO)
    until(lambda: ends.relay.lost(A_TO_B) == 1 == ends.relay.lost(A_TO_B, "handshake"), "all to have come")
    ends.relay.impair({"down": False})
    ends.a.send(HELLO)
    assert ends.b.recv(100) == HELLO


def test_nobody_behind_it(ends: Ends) -> None:
    ends.b.close()
    for _ in range(3):
        ends.a.send(HELLO)
    until(lambda: ends.relay.entered(A_TO_B, "handshake") == 3, "all to have come")
    ends.relay.impair({"loss": 0.0})


def test_settings_are_checked(ends: Ends) -> None:
    with pytest.raises(ImpairmentError, match="loss"):
        ends.relay.impair({"loss": 2.0})
