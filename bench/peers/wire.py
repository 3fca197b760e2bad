# SPDX-License-Identifier: Apache-2.0
"""What goes over the link: the time, direction and size of every datagram, and which of them are the handshake."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from peers.room import ADDRESS, DEVICE, DRONE, Room

_ETH_P_IP = 0x0800
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_UDP = 17
_FIRST_DATA = 20  # datagrams from which the size of data is learnt


@dataclass(frozen=True)
class Frame:
    """One IPv4 packet: ns of the system's clock, sent by the drone, bytes with its IP header, bytes of payload."""

    at_ns: int
    up: bool
    ip_bytes: int
    payload_bytes: int


@dataclass(frozen=True)
class Handshake:
    """From its first datagram to the first one with data; bytes with IP and UDP headers, both ways."""

    ms: float
    bytes: int
    datagrams: int


def parse(packet: bytes, at_ns: int) -> Frame | None:
    """An IPv4 packet with UDP in it, or a later fragment of one; None for anything else."""
    if len(packet) < 20 or packet[0] >> 4 != 4 or packet[9] != _UDP:
        return None
    header = (packet[0] & 15) * 4
    total = struct.unpack_from("!H", packet, 2)[0]
    later_fragment = struct.unpack_from("!H", packet, 6)[0] & 0x1FFF
    payload = 0 if later_fragment else struct.unpack_from("!H", packet, header + 4)[0] - 8
    return Frame(at_ns, socket.inet_ntoa(packet[12:16]) == ADDRESS[DRONE], total, payload)


def handshake(frames: Sequence[Frame]) -> Handshake | None:
    """The handshake before the data; the size of data is the usual one of the drone's last datagrams.

    None without data, or where it begins with data: then there is no handshake.
    """
    up = [frame.payload_bytes for frame in frames if frame.up][-_FIRST_DATA:]
    if not up:
        return None
    data, _ = Counter(up).most_common(1)[0]
    first = next(i for i, frame in enumerate(frames) if frame.up and frame.payload_bytes == data)
    if first == 0:
        return None
    before = frames[:first]
    return Handshake(
        (frames[first].at_ns - before[0].at_ns) / 1e6, sum(frame.ip_bytes for frame in before), len(before)
    )


class Wire:
    """Listens on the drone's end of the link."""

    def __init__(self, room: Room) -> None:
        self.frames: list[Frame] = []
        self._socket = room.call(DRONE, self._open)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @staticmethod
    def _open() -> socket.socket:
        made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))  # every frame, sent ones too
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 << 20)
        made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        made.bind((DEVICE[DRONE], 3))
        made.settimeout(0.05)
        return made

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                packet, more, _, _ = self._socket.recvmsg(65536, 64)
            except OSError:
                continue
            seconds, nanoseconds = next(
                struct.unpack("qq", content)
                for level, kind, content in more
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS)
            )
            if frame := parse(packet, seconds * 1_000_000_000 + nanoseconds):
                self.frames.append(frame)

    def close(self) -> None:
        """Stop listening."""
        self._stop.set()
        self._thread.join()
        self._socket.close()
