# SPDX-License-Identifier: Apache-2.0
"""Watch UDP ports on the loopback interface with a packet socket and feed what crosses them to a `PlaintextWatch`.

Needs CAP_NET_RAW (root). A packet on `lo` passes a packet socket twice, going out and coming in; only the incoming copy
is taken. A capture proves something only if it saw traffic and the kernel dropped none: `CaptureReport.conclusive`.

A sender that uses UDP GSO hands a run of datagrams over as one packet, and loopback does not take it apart. So packets
seen are fewer than datagrams sent; the bytes are the same, and `CaptureReport.bytes_until` compares by them. The tunnel
counts packets of its sessions alone, so datagrams of handshakes are looked at but not compared.
"""

from __future__ import annotations

import bisect
import ctypes
import socket
import struct
import threading
import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_sim.impairment.ethernet import kind_of_datagram
from pqc_mav_sim.plaintext_watch import PlaintextWatch

_ETH_P_ALL = 0x0003
_ETH_P_IP = 0x0800
_ETH_P_IPV6 = 0x86DD
_PACKET_OUTGOING = 4
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_SO_ATTACH_FILTER = 26
_SO_RCVBUFFORCE = 33
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_CONTROL_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
_BUFFER_BYTES = 16 << 20
_UDP = 17
_SNAP = 65535


class CaptureNotPermittedError(PermissionError):
    """This process may not open packet sockets; the text says so in one line."""


def udp_payload(packet: bytes, ethertype: int) -> tuple[int, int, bytes] | None:
    """Return (source port, destination port, UDP payload) of an IP packet, None if it is not UDP or is cut off."""
    if ethertype == _ETH_P_IP:
        if len(packet) < 20 or packet[0] >> 4 != 4 or packet[9] != _UDP:
            return None
        start = (packet[0] & 0x0F) * 4
        end = min(int.from_bytes(packet[2:4], "big"), len(packet))
    elif ethertype == _ETH_P_IPV6:
        if len(packet) < 40 or packet[0] >> 4 != 6 or packet[6] != _UDP:
            return None
        start = 40
        end = min(40 + int.from_bytes(packet[4:6], "big"), len(packet))
    else:
        return None
    if start < 20 or start + 8 > end:
        return None
    source, destination, length = struct.unpack_from(">HHH", packet, start)
    return source, destination, packet[start + 8 : min(start + max(length, 8), end)]


def port_filter(ports: Iterable[int]) -> bytes:
    """Return a classic BPF program (for packets without link header) that lets IPv6 and IPv4 UDP of these ports pass.

    It spares the copying of unrelated loopback traffic; `udp_payload` still decides. Instructions as in linux/filter.h.
    """
    ports = sorted(set(ports))
    program: list[tuple[int, int, int, int]] = [
        (0x30, 0, 0, 0),  # load version and header length
        (0x54, 0, 0, 0xF0),  # keep the version
        (0x15, 0, 1, 0x60),  # IPv6: to user space
        (0x06, 0, 0, _SNAP),
        (0x30, 0, 0, 9),  # load the protocol
        (0x15, 1, 0, _UDP),
        (0x06, 0, 0, 0),
        (0xB1, 0, 0, 0),  # index register: length of the IPv4 header
    ]
    for offset in (0, 2):
        program.append((0x48, 0, 0, offset))  # load source, then destination port
        for port in ports:
            program.append((0x15, 0, 1, port))
            program.append((0x06, 0, 0, _SNAP))
    program.append((0x06, 0, 0, 0))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


@dataclass
class SentBytes:
    """How many bytes of UDP payload, handshakes left out, had left a port by when (system time, seconds)."""

    _times: array[float] = field(default_factory=lambda: array("d"))
    _totals: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, time_s: float, size: int) -> None:
        """Take one packet; one that is stamped before its forerunner counts as sent with it."""
        self._times.append(max(time_s, self._times[-1]) if self._times else time_s)
        self._totals.append((self._totals[-1] if self._totals else 0) + size)

    def until(self, time_s: float) -> int:
        """Return the bytes sent up to then."""
        count = bisect.bisect_right(self._times, time_s)
        return self._totals[count - 1] if count else 0


@dataclass
class CaptureReport:
    """What a capture saw. `kernel_drops` packets were lost before they could be looked at."""

    watch: PlaintextWatch = field(default_factory=PlaintextWatch)
    per_port: dict[int, int] = field(default_factory=dict)
    kernel_drops: int = 0
    sent: dict[int, SentBytes] = field(default_factory=dict)

    def bytes_until(self, port: int, time_s: float) -> int:
        """Return how many bytes of payload, handshakes left out, had left a port by a system time."""
        return self.sent[port].until(time_s) if port in self.sent else 0

    @property
    def conclusive(self) -> bool:
        """Whether the capture can prove anything: it saw traffic and missed none."""
        return self.watch.datagrams > 0 and self.kernel_drops == 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        ports = {str(port): count for port, count in self.per_port.items()}
        return {
            **self.watch.to_dict(),
            "per_port": ports,
            "kernel_drops": self.kernel_drops,
            "conclusive": self.conclusive,
        }


def _stamp_s(control: list[tuple[int, int, bytes]]) -> float:
    """Return when the kernel took a packet; now, where it did not say."""
    for level, kind, data in control:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


class LoopbackCapture:
    """Capture in a background thread from construction until `stop`. Use as a context manager.

    Args:
        ports: UDP ports; a datagram counts when its source or its destination is one of them.

    Raises CaptureNotPermittedError when the process lacks CAP_NET_RAW.
    """

    def __init__(self, ports: Iterable[int], interface: str = "lo") -> None:
        self._ports = frozenset(ports)
        self.report = CaptureReport(per_port=dict.fromkeys(sorted(self._ports), 0))
        try:
            # protocol 0 receives nothing until the filter is in place and the socket is bound
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        except PermissionError as error:
            raise CaptureNotPermittedError(
                "cannot watch the wire: packet sockets need root or CAP_NET_RAW, so plaintext is not checked"
            ) from error
        self._attach_filter(port_filter(self._ports))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        except PermissionError:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self._socket.bind((interface, _ETH_P_ALL))
        self._socket.settimeout(0.1)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)
        self._thread.start()

    def _attach_filter(self, program: bytes) -> None:
        code = ctypes.create_string_buffer(program)
        count = len(program) // 8
        header = struct.pack("@HP", count, ctypes.addressof(code))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._take(*self._socket.recvmsg(_SNAP, _CONTROL_BYTES))
            except TimeoutError:
                continue

    def _take(
        self, packet: bytes, control: list[tuple[int, int, bytes]], _flags: int, address: tuple[Any, ...]
    ) -> None:
        _, ethertype, packet_type, *_ = address
        if packet_type == _PACKET_OUTGOING:
            return
        parts = udp_payload(packet, ethertype)
        if parts is None:
            return
        source, destination, payload = parts
        touched = self._ports & {source, destination}
        for port in touched:
            self.report.per_port[port] += 1
        if touched:
            self.report.watch.feed(payload)
        if source in self._ports and kind_of_datagram(payload) != "handshake":
            self.report.sent.setdefault(source, SentBytes()).add(_stamp_s(control), len(payload))

    def stop(self) -> CaptureReport:
        """Look at what is still queued, end the capture and return the report."""
        if self._stop.is_set():
            return self.report
        self._stop.set()
        self._thread.join()
        self._socket.setblocking(False)
        try:
            while True:
                self._take(*self._socket.recvmsg(_SNAP, _CONTROL_BYTES))
        except BlockingIOError:
            pass
        raw = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        self.report.kernel_drops = struct.unpack("=II", raw)[1]
        self._socket.close()
        return self.report

    def __enter__(self) -> LoopbackCapture:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()
