# SPDX-License-Identifier: Apache-2.0
"""The relay delays, lets itself be overtaken and holds back; what goes astray is judged."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from overtaking import Race, Reflection, Relay, problems


@pytest.fixture
def gcs() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        made.settimeout(2)
        yield made


@pytest.fixture
def relay(gcs: socket.socket) -> Iterator[Relay]:
    made = Relay(gcs.getsockname()[1])
    yield made
    made.close()


def test_an_original_comes_late_and_a_copy_first_and_from_elsewhere(gcs: socket.socket, relay: Relay) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as drone:
        drone.settimeout(2)
        drone.sendto(b"\3one", ("127.0.0.1", relay.port))
        data, path = gcs.recvfrom(100)
        assert data == b"\3one"
        relay.win = 1.0
        begin = time.monotonic()
        drone.sendto(b"\3two", ("127.0.0.1", relay.port))
        (first, overtaker), (second, again) = gcs.recvfrom(100), gcs.recvfrom(100)
        assert time.monotonic() - begin >= 0.02
        assert first == second == b"\3two"
        assert again == path
        assert overtaker[0] == "127.0.0.9"
        gcs.sendto(b"astray", overtaker)
        gcs.sendto(b"answer", path)
        assert drone.recv(100) == b"answer"
        assert relay.astray_bytes == 6


def test_a_stolen_packet_comes_from_elsewhere_only_and_is_the_last(gcs: socket.socket, relay: Relay) -> None:
    relay.steal = True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as drone:
        drone.sendto(b"\3one", ("127.0.0.1", relay.port))
        drone.sendto(b"\3two", ("127.0.0.1", relay.port))
        data, sender = gcs.recvfrom(100)
        assert (data, sender[0]) == (b"\3one", "127.0.0.9")
        gcs.settimeout(0.2)
        with pytest.raises(TimeoutError):
            gcs.recv(100)
    assert relay.stolen_bytes == 4


def test_what_goes_astray_and_what_is_reflected_is_judged() -> None:
    assert problems([Race(1.0, False, 780, 780, 9000)], [Reflection("a packet", 100, 300)]) == []
    assert problems([Race(0.5, False, 780, 779, 0)], []) == [
        "an overtaker who wins 50%: 1 of 780 commands not delivered"
    ]
    assert problems([], [Reflection("a packet", 100, 301)]) == ["a packet: 301 bytes for 100"]
    assert problems([], [Reflection("a packet", 0, 0)]) == ["a packet: nothing was copied"]
