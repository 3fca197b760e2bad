# SPDX-License-Identifier: Apache-2.0
import socket
import time

import pytest

from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.mavlink_tap import MavlinkTap, parse_address


@pytest.mark.parametrize("text", ["", "14591", "host", "host:", "host:port", "host:70000", ":14591"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(SensingError, match="not an address"):
        parse_address(text)


def test_addresses() -> None:
    assert parse_address("127.0.0.1:14591") == ("127.0.0.1", 14591)
    assert parse_address("[::1]:5") == ("::1", 5)


def test_datagrams_come_through_in_batches() -> None:
    got: list[bytes] = []
    tap = MavlinkTap("127.0.0.1:0", lambda datagram, _at: got.append(datagram))
    wake_s = tap.step(1.0)
    assert wake_s > 1.0 and tap.port and not tap.problem
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        for index in range(50):
            source.sendto(bytes([index]), ("127.0.0.1", tap.port))
    deadline = time.monotonic() + 10
    while len(got) < 50 and time.monotonic() < deadline:
        tap.step(time.monotonic())
    assert got == [bytes([index]) for index in range(50)] and tap.datagrams == 50
    tap.close()


def test_a_port_in_use_is_said_and_tried_again() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", 0))
        tap = MavlinkTap(f"127.0.0.1:{holder.getsockname()[1]}", lambda *_: None)
        assert tap.step(1.0) == pytest.approx(2.0)
        assert "in use" in tap.problem and str(holder.getsockname()[1]) in tap.problem
    tap.step(2.0)
    assert tap.problem == "" and tap.port
    tap.close()


def test_answers_go_where_the_copies_come_from_and_nowhere_off_this_machine() -> None:
    tap = MavlinkTap("127.0.0.1:0", lambda *_: None)
    assert not tap.answer(b"too early")
    tap.step(1.0)
    assert not tap.answer(b"to nobody yet")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        source.bind(("127.0.0.1", 0))
        source.settimeout(10)
        source.sendto(b"copy", ("127.0.0.1", tap.port))
        deadline = time.monotonic() + 10
        while tap.datagrams < 1 and time.monotonic() < deadline:
            tap.step(time.monotonic())
        assert tap.answer(b"request")
        assert source.recvfrom(100) == (b"request", ("127.0.0.1", tap.port))
    tap._sender = ("192.0.2.1", 9)
    assert not tap.answer(b"to a stranger")
    tap.close()
    assert not tap.answer(b"too late")
