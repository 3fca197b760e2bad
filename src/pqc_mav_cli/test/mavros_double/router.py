# SPDX-License-Identifier: Apache-2.0
"""The double's router: the connections of fcu_url and gcs_url, and `/uasN` towards the vehicle's node."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

from mavros_msgs.msg import Mavlink
from pymavlink.dialects.v20 import common as mavlink
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from pqc_mav_bringup.mavros_url import parse

LINK = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
HEADER, CHECKSUM = 10, 2


def to_ros(message: Any) -> Mavlink:
    """A MAVLink 2 message as mavros carries it: the payload in whole words of 64 bits."""
    frame = bytes(message.get_msgbuf())
    payload = frame[HEADER : HEADER + frame[1]]
    words = struct.unpack(f"<{(len(payload) + 7) // 8}Q", payload + bytes(-len(payload) % 8))
    return Mavlink(
        framing_status=1,
        **dict(zip(("magic", "len", "incompat_flags", "compat_flags", "seq", "sysid", "compid"), frame, strict=False)),
        msgid=int.from_bytes(frame[7:10], "little"),
        checksum=int.from_bytes(frame[HEADER + len(payload) :][:CHECKSUM], "little"),
        payload64=list(words),
    )


def to_frame(message: Mavlink) -> bytes:
    """The other way."""
    head = (message.magic, message.len, message.incompat_flags, message.compat_flags, message.seq)
    words = struct.pack(f"<{len(message.payload64)}Q", *message.payload64)
    return (
        bytes((*head, message.sysid, message.compid))
        + message.msgid.to_bytes(3, "little")
        + words[: message.len]
        + message.checksum.to_bytes(2, "little")
    )


class Connection:
    """A UDP URL, opened as libmavconn does: it answers to whoever spoke last where the URL names nobody."""

    def __init__(self, url: str, on_message: Callable[[Connection, Any], None]) -> None:
        parsed = parse(url)
        assert parsed.bind is not None, f"the double knows only UDP, not {url}"
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((parsed.bind.host, parsed.bind.port))
        self._remote = (parsed.remote.host, parsed.remote.port) if parsed.remote else None
        self._on_message = on_message
        self._mav = mavlink.MAVLink(None)
        self._mav.robust_parsing = True
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, frame: bytes) -> None:
        """Nobody there is no fault."""
        if self._remote is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto(frame, self._remote)

    def _read(self) -> None:
        while True:
            try:
                data, self._remote = self._socket.recvfrom(65535)
            except OSError:
                continue  # the peer's port was closed for a moment
            for message in self._mav.parse_buffer(data) or ():
                if message.get_type() != "BAD_DATA" and message.get_msgbuf()[0] == 0xFD:
                    self._on_message(self, message)


class Router(Node):
    """Passes on what is addressed to the sides where the addressee was heard, and everything else to all other sides.

    A side is the vehicle's (fcu_url), the ground's (gcs_url) or that of mavros itself.
    """

    def __init__(self, fcu_url: str, gcs_url: str, uas_url: str) -> None:
        super().__init__("mavros_router")
        self._source = self.create_publisher(Mavlink, f"{uas_url}/mavlink_source", LINK)
        self.create_subscription(Mavlink, f"{uas_url}/mavlink_sink", self._on_ros, LINK)
        self._mav = mavlink.MAVLink(None)
        self._heard: dict[Connection | None, set[tuple[int, int]]] = {None: set()}
        for url in (fcu_url, gcs_url):
            if url:
                self._heard[Connection(url, self._route)] = set()

    def _on_ros(self, message: Mavlink) -> None:
        self._route(None, self._mav.decode(bytearray(to_frame(message))))

    def _route(self, origin: Connection | None, message: Any) -> None:
        """`origin` is None for mavros itself."""
        system, component = message.get_srcSystem(), message.get_srcComponent()
        self._heard.setdefault(origin, set()).update({(system, 0), (system, component)})
        target = getattr(message, "target_system", 0), getattr(message, "target_component", 0)
        others = [side for side in tuple(self._heard) if side is not origin]
        for side in [side for side in others if target in self._heard[side]] or others:
            if side is None:
                self._source.publish(to_ros(message))
            else:
                side.send(bytes(message.get_msgbuf()))
