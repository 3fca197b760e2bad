# SPDX-License-Identifier: Apache-2.0
"""The capture against real loopback traffic; its positive control is a vehicle whose telemetry crosses in the clear."""

import socket
import struct
import time

import pytest

from pqc_mav_common.testing import until
from pqc_mav_sim import capture
from pqc_mav_sim.capture import CaptureNotPermittedError, LoopbackCapture, port_filter, udp_payload
from pqc_mav_sim.ground_client import GroundClient

DEADLINE_S = 30.0


def can_capture():
    try:
        LoopbackCapture([1]).stop()
    except CaptureNotPermittedError:
        return False
    return True


needs_root = pytest.mark.skipif(not can_capture(), reason="packet sockets need root or CAP_NET_RAW")


@pytest.fixture(params=["127.0.0.1", "::1"])
def pair(request):
    """Two connected UDP sockets."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    sockets = []
    try:
        for _ in range(2):
            sock = socket.socket(family, socket.SOCK_DGRAM)
            sockets.append(sock)
            sock.bind((request.param, 0))
            sock.settimeout(DEADLINE_S)
    except OSError:
        pytest.skip(f"no {request.param} on this machine")
    a, b = sockets
    a.connect(b.getsockname())
    b.connect(a.getsockname())
    yield a, b
    a.close()
    b.close()


@needs_root
def test_every_datagram_is_seen_once(pair):
    a, b = pair
    with LoopbackCapture([b.getsockname()[1]]) as watching:
        for i in range(200):
            a.send(bytes([i]) * (1 + i))
            b.recv(300)
        for i in range(50):
            b.send(bytes(10 + i))
            a.recv(300)
    report = watching.report
    assert report.watch.datagrams == 250
    assert report.watch.payload_bytes == sum(range(1, 201)) + sum(range(10, 60))
    assert report.per_port == {b.getsockname()[1]: 250}
    assert report.conclusive
    assert not report.watch.leaked


@pytest.fixture
def stamping():
    """The kernel stamps packets when they come. It begins some time after the first who asks: until then it says when
    they were read, which is later on a machine with other work."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        end.bind(("127.0.0.1", 0))
        end.settimeout(DEADLINE_S)

        def stamped_before_reading():
            end.sendto(b"x", end.getsockname())
            time.sleep(0.01)
            before = time.time()
            seconds, nanoseconds = struct.unpack("@qq", end.recvmsg(10, 100)[1][0][2])
            return seconds + nanoseconds / 1e9 < before - 0.005

        until(stamped_before_reading, "the kernel stamps packets")
        yield


@needs_root
def test_bytes_are_counted_by_sender_and_time(pair, stamping):
    a, b = pair
    ports = [end.getsockname()[1] for end in pair]
    with LoopbackCapture(ports) as watching:
        before = time.time()
        for _ in range(20):
            a.send(bytes(30))
            b.recv(100)
        b.send(bytes(7))
        a.recv(100)
        after = time.time()
        a.send(bytes(1000))
        b.recv(2000)
    report = watching.report
    assert [report.bytes_until(port, before) for port in ports] == [0, 0]
    assert [report.bytes_until(port, after) for port in ports] == [600, 7]
    assert report.bytes_until(ports[0], time.time()) == 1600
    assert report.bytes_until(1, after) == 0


@needs_root
def test_a_run_of_datagrams_is_seen_with_every_byte(pair):
    a, b = pair
    udp_segment = 103
    try:
        a.setsockopt(socket.SOL_UDP, udp_segment, 100)
    except OSError:
        pytest.skip("this kernel has no UDP GSO")
    port = a.getsockname()[1]
    with LoopbackCapture([port]) as watching:
        a.send(bytes(950))
        assert [len(b.recv(2000)) for _ in range(10)] == [100] * 9 + [50]
    assert watching.report.bytes_until(port, time.time()) == watching.report.watch.payload_bytes == 950


@needs_root
def test_handshakes_are_looked_at_but_not_compared(pair):
    a, b = pair
    port = a.getsockname()[1]
    with LoopbackCapture([port]) as watching:
        for first, size in ((0x03, 100), (0x33, 200), (0x43, 300), (0x13, 50)):
            a.send(bytes([first]) + bytes(size - 1))
            b.recv(1000)
    assert watching.report.watch.payload_bytes == 650
    assert watching.report.bytes_until(port, time.time()) == 150


def test_stamps_out_of_order_do_not_hide_bytes():
    sent = capture.SentBytes()
    for time_s, size in ((1.0, 5), (3.0, 6), (2.0, 7)):
        sent.add(time_s, size)
    assert [sent.until(t) for t in (0.5, 1.0, 2.5, 3.0)] == [0, 5, 5, 18]


@needs_root
def test_plaintext_telemetry_is_detected(make_vehicle, make_ground):
    ground: GroundClient = make_ground()
    port = ground.link.address.sockaddr[1]
    with LoopbackCapture([port]) as watching:
        make_vehicle(ground.link.address)
        assert ground.wait_for(lambda _v: ground._received.total() > 200, DEADLINE_S)
    report = watching.report
    assert report.conclusive
    assert report.watch.leaked
    found = report.to_dict()
    assert found["plaintext_frames"] >= 200
    assert found["plaintext_by_type"]["ATTITUDE"] > 10


@needs_root
def test_other_ports_are_not_looked_at(pair, make_vehicle, make_ground):
    a, b = pair
    ground = make_ground()
    with LoopbackCapture([b.getsockname()[1]]) as watching:
        make_vehicle(ground.link.address)
        assert ground.wait_for(lambda _v: ground._received.total() > 100, DEADLINE_S)
        a.send(b"one")
        b.recv(10)
    assert watching.report.watch.datagrams == 1
    assert not watching.report.watch.leaked


@needs_root
def test_seeing_nothing_proves_nothing():
    with LoopbackCapture([1]) as watching:
        pass
    assert not watching.report.conclusive


@needs_root
def test_stopping_twice_is_harmless(pair):
    a, b = pair
    watching = LoopbackCapture([b.getsockname()[1]])
    a.send(b"x")
    b.recv(10)
    assert watching.stop() is watching.stop()
    assert watching.report.watch.datagrams == 1


def test_a_drop_in_the_kernel_makes_a_capture_inconclusive():
    report = capture.CaptureReport()
    report.watch.feed(b"x")
    assert report.conclusive
    report.kernel_drops = 1
    assert not report.conclusive


def test_missing_right_is_one_clear_line(monkeypatch):
    def refuse(*_args):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(capture.socket, "socket", refuse)
    with pytest.raises(CaptureNotPermittedError, match="root or CAP_NET_RAW") as error:
        LoopbackCapture([1])
    assert "\n" not in str(error.value)


def ipv4(payload, options=b"", source=1000, destination=2000):
    udp = struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(udp), 0, 0, 64, 17, 0, bytes(4), bytes(4)
    )
    return header + options + udp


def test_payload_of_ip_packets():
    assert udp_payload(ipv4(b"abc"), 0x0800) == (1000, 2000, b"abc")
    assert udp_payload(ipv4(b"abc", options=bytes(8)), 0x0800) == (1000, 2000, b"abc")
    assert udp_payload(ipv4(b"abc") + b"padding", 0x0800) == (1000, 2000, b"abc")
    udp = struct.pack(">HHHH", 7, 8, 11, 0) + b"xyz"
    v6 = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64) + bytes(32) + udp
    assert udp_payload(v6, 0x86DD) == (7, 8, b"xyz")


@pytest.mark.parametrize("packet", [b"", b"\x45", bytes(40), ipv4(b"")[:27], b"\x4f" + ipv4(b"abc")[1:30]])
def test_broken_packets_are_no_udp(packet):
    assert udp_payload(packet, 0x0800) is None
    assert udp_payload(packet, 0x86DD) is None
    assert udp_payload(packet, 0x0806) is None


def test_filter_jumps_stay_inside_the_program():
    for count in (1, 2, 40):
        program = port_filter(range(5000, 5000 + count))
        size = len(program) // 8
        for i in range(size):
            code, yes, no, _ = struct.unpack_from("=HBBI", program, i * 8)
            if code & 0x07 == 0x05:  # a jump
                assert i + 1 + max(yes, no) < size


@needs_root
def test_many_packets_in_a_burst_are_all_seen(pair):
    a, b = pair
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    with LoopbackCapture([b.getsockname()[1]]) as watching:
        for _ in range(2000):
            a.send(bytes(200))
        end = time.monotonic() + DEADLINE_S
        while watching.report.watch.datagrams < 2000 and time.monotonic() < end:
            time.sleep(0.01)
    assert watching.report.watch.datagrams == 2000
    assert watching.report.kernel_drops == 0
