# SPDX-License-Identifier: Apache-2.0
import socket
from ipaddress import ip_address

import pytest

from pqc_mav_common import free_ports
from pqc_mav_common.socket_table import BoundSocket


def test_ports_are_different_free_and_outside_the_kernels_own_range() -> None:
    found = free_ports.free_ports(5)
    assert len(set(found)) == 5
    assert all(free_ports.FIRST <= port <= free_ports.LAST for port in found)


def test_no_domain_announces_itself_to_a_free_port() -> None:
    last_port = 7400 + 250 * max(free_ports.DOMAINS) + 249
    assert last_port < free_ports.FIRST


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_port_used_by_either_protocol_is_not_free(kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as holder:
        holder.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            holder.listen()
        assert not free_ports.is_free(holder.getsockname()[1])


def test_no_free_ports_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_ports, "is_free", lambda port: False)
    with pytest.raises(OSError, match="no 2 free ports"):
        free_ports.free_ports(2)


def test_a_domain_somebody_listens_in_is_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {domain: "TCP" if domain == 42 else "UDP" for domain in free_ports.DOMAINS}
    found = [BoundSocket(kind, ip_address("0.0.0.0"), 7400 + 250 * domain, 1) for domain, kind in kinds.items()]
    monkeypatch.setattr(free_ports, "bound_sockets", lambda process: found)
    assert free_ports.free_domain() == 42


def test_where_all_are_taken_there_is_one_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    used = [BoundSocket("UDP", ip_address("::"), 7400 + 250 * domain, 1) for domain in free_ports.DOMAINS]
    monkeypatch.setattr(free_ports, "bound_sockets", lambda process: used)
    assert free_ports.free_domain() in free_ports.DOMAINS


def test_the_domain_of_a_listener_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        monkeypatch.setattr(free_ports, "DOMAINS", (1, 2))
        monkeypatch.setattr(free_ports, "_DISCOVERY_BASE", port - free_ports._DISCOVERY_GAIN)
        assert free_ports.free_domain() == 2


def test_a_held_domain_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = iter([7, 7, 8])
    monkeypatch.setattr(free_ports, "free_domain", lambda: next(offered))
    with free_ports.held_domain() as mine, free_ports.held_domain() as other:
        assert (mine, other) == (7, 8), "taken, though nobody speaks in it yet"
    monkeypatch.setattr(free_ports, "free_domain", lambda: 7)
    with free_ports.held_domain() as again:
        assert again == 7
        with pytest.raises(OSError, match="is taken"), free_ports.held_domain():
            pass


def test_ros_own_tests_respect_it() -> None:
    coordinator = pytest.importorskip("domain_coordinator")
    with free_ports.held_domain() as mine:
        given = iter([mine, mine % 50 + 1, *range(1, 101)])
        with coordinator.domain_id(lambda: next(given)) as theirs:
            assert theirs != mine
