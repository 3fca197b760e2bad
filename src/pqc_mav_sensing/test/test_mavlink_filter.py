# SPDX-License-Identifier: Apache-2.0
"""What the kernel lets through, tried on real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from pymavlink.dialects.v10 import common as mavlink1
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing import mavlink_filter
from pqc_mav_sensing.mavlink_messages import AUTOPILOT
from pqc_mav_sensing.mavlink_reader import WANTED

LAST = b"last"


class Way:
    """A sender and a socket with the filter."""

    def __init__(self) -> None:
        self.receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.bind(("127.0.0.1", 0))
        self.receiver.settimeout(30)
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if not mavlink_filter.attach(self.receiver, WANTED, AUTOPILOT):
            pytest.skip("this kernel takes no socket filters")

    def through(self, *datagrams: bytes) -> list[bytes]:
        """Those that arrive."""
        for datagram in (*datagrams, LAST):
            self.sender.sendto(datagram, self.receiver.getsockname())
        got = []
        while (datagram := self.receiver.recv(4096)) != LAST:
            got.append(datagram)
        return got


@pytest.fixture
def way() -> Iterator[Way]:
    made = Way()
    yield made
    made.receiver.close()
    made.sender.close()


def beat(component: int = 1, *, signed: bool = False) -> bytes:
    link = mavlink.MAVLink(None, srcSystem=1, srcComponent=component)
    if signed:
        link.signing.secret_key, link.signing.sign_outgoing = b"k" * 32, True
    return bytes(mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 0, 3).pack(link))


def other(*, signed: bool = False) -> bytes:
    link = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    if signed:
        link.signing.secret_key, link.signing.sign_outgoing = b"k" * 32, True
    return bytes(mavlink.MAVLink_attitude_message(0, 1.0, 2.0, 3.0, 0, 0, 0).pack(link))


def test_only_what_is_wanted_passes(way: Way) -> None:
    wanted = [beat(), beat(signed=True)]
    assert way.through(other(), wanted[0], beat(component=154), other(signed=True), wanted[1]) == wanted


def test_every_wanted_message_passes_and_no_other(way: Way) -> None:
    link = mavlink.MAVLink(None, srcSystem=9, srcComponent=1)
    sent = {}
    for number, kind in mavlink.mavlink_map.items():
        zeros = (b"" if form == "char" else [0] * count if count else 0 for form, count in _fields(kind))
        sent[number] = bytes(kind(*zeros).pack(link))
    assert way.through(*sent.values()) == [sent[number] for number in sent if number in WANTED]


def _fields(kind: type[mavlink.MAVLink_message]) -> list[tuple[str, int]]:
    counts = (kind.array_lengths[kind.ordered_fieldnames.index(name)] for name in kind.fieldnames)
    return list(zip(kind.fieldtypes, counts, strict=True))


def test_version_1_passes_by_the_same_rule(way: Way) -> None:
    link = mavlink1.MAVLink(None, srcSystem=1, srcComponent=1)
    old = bytes(mavlink1.MAVLink_heartbeat_message(2, 12, 0, 0, 0, 3).pack(link))
    unwanted = bytes(mavlink1.MAVLink_attitude_message(0, 1.0, 2.0, 3.0, 0, 0, 0).pack(link))
    assert way.through(unwanted, old) == [old]


@pytest.mark.parametrize("datagram", [other() + beat(), b"\x00" + other(), other() + b"\x00", b"any", b"\x01"])
def test_what_is_not_exactly_one_frame_is_left_to_the_reader(way: Way, datagram: bytes) -> None:
    assert way.through(datagram) == [datagram]


def test_without_filters_everything_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def setsockopt(self, *_: object) -> None:
            raise OSError("not here")

    assert not mavlink_filter.attach(Refusing(), WANTED, AUTOPILOT)  # type: ignore[arg-type]
