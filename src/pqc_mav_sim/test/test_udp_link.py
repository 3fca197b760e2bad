# SPDX-License-Identifier: Apache-2.0
import errno
import socket

import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import ANY_PORT

from pqc_mav_sim.endpoint import Endpoint, EndpointError
from pqc_mav_sim.udp_link import PEER_SILENT_S, UdpLink

HEARTBEAT = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(mavlink.MAVLink(None, 255, 190))


@pytest.fixture
def sockets():
    made = []

    def make():
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(10.0)
        made.append(sock)
        return sock

    yield make
    for sock in made:
        sock.close()


@pytest.fixture
def links():
    made = []

    def make(peer=None):
        link = UdpLink(ANY_PORT, None if peer is None else Endpoint(socket.AF_INET, peer))
        made.append(link)
        return link

    yield make
    for link in made:
        link.close()


def deliver(link, sender, data, t=0.0):
    sender.sendto(data, link.address.sockaddr)
    assert link.wait(10.0)
    return link.receive(t)


def test_fixed_peer_is_the_only_one_heard(links, sockets):
    friend, stranger = sockets(), sockets()
    link = links(friend.getsockname())
    assert len(deliver(link, friend, HEARTBEAT)) == 1
    assert deliver(link, stranger, HEARTBEAT) == []
    assert link.stats.foreign_datagrams == 1
    assert link.send(b"x")
    assert friend.recv(10) == b"x"


def test_first_valid_frame_makes_the_peer(links, sockets):
    first, second = sockets(), sockets()
    link = links()
    assert not link.has_peer
    assert not link.send(b"x")
    deliver(link, first, b"garbage")
    assert link.peer is None
    deliver(link, first, HEARTBEAT)
    assert link.peer == f"127.0.0.1:{first.getsockname()[1]}"
    assert deliver(link, second, HEARTBEAT, t=PEER_SILENT_S - 0.1) == []
    assert len(deliver(link, second, HEARTBEAT, t=PEER_SILENT_S + 0.1)) == 1
    assert link.peer.endswith(str(second.getsockname()[1]))


def test_garbage_does_not_keep_a_dead_peer(links, sockets):
    first, second = sockets(), sockets()
    link = links()
    deliver(link, first, HEARTBEAT, t=0.0)
    deliver(link, first, b"noise", t=PEER_SILENT_S)
    deliver(link, second, HEARTBEAT, t=PEER_SILENT_S + 0.5)
    assert link.peer.endswith(str(second.getsockname()[1]))


def test_garbage_is_counted_by_kind(links, sockets):
    friend = sockets()
    link = links(friend.getsockname())
    for data in (b"hello", HEARTBEAT[:-1], HEARTBEAT[:-1] + b"\0", bytes(4000), b""):
        deliver(link, friend, data)
    assert link.stats.errors == {"garbage": 1, "truncated": 1, "bad_crc": 1, "oversize": 1}
    assert link.stats.datagrams_received == 5


def test_nobody_listening_is_survived(links, sockets):
    gone = sockets()
    address = gone.getsockname()
    link = links(address)
    gone.close()
    for _ in range(100):
        assert link.send(HEARTBEAT)
        link.receive(0.0)
    assert link.stats.datagrams_sent == 100


class FailingSocket:
    """A socket whose calls fail with an error the kernel may give at any time."""

    def __init__(self, inner, code):
        self._inner = inner
        self._code = code

    def sendto(self, *_):
        raise OSError(self._code, "failed")

    def recvfrom(self, *_):
        raise OSError(self._code, "failed")

    def close(self):
        self._inner.close()


@pytest.mark.parametrize("code", [errno.ECONNREFUSED, errno.ENETUNREACH, errno.ENOBUFS, errno.EPERM, errno.EMSGSIZE])
def test_socket_errors_are_counted_and_survived(links, sockets, code):
    link = links(sockets().getsockname())
    link._socket = FailingSocket(link._socket, code)
    assert not link.send(b"x")
    assert link.receive(0.0) == []
    assert (link.stats.send_failed, link.stats.receive_failed, link.stats.datagrams_sent) == (1, 1, 0)


def test_waiting_for_nothing_is_no_failure(links):
    link = links()
    assert not link.wait(0.0)
    assert link.receive(0.0) == []
    assert link.stats.receive_failed == 0


def test_port_in_use(sockets):
    taken = sockets()
    with pytest.raises(EndpointError, match="is another program using it"):
        UdpLink(Endpoint(socket.AF_INET, taken.getsockname()))
