# SPDX-License-Identifier: Apache-2.0
"""What the reader of the copies may ask of the autopilot, attacked from another machine."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import time
from pathlib import Path

import pqc_mav_tunnel as tunnel
from test_two_interfaces import Machines, machines, on, started
from tunnel_support import drone_config, eventually, udp

__all__ = ["machines"]

# SET_MESSAGE_INTERVAL of BATTERY_STATUS from 1/191, as test_interval_request.cpp has it.
REQUEST = bytes.fromhex("fd20000000 01bf4c0000 00001343 0024f448" + "00" * 20 + "ff01 0101 041d")


def checksum(words: bytes) -> int:
    total = sum(struct.unpack(f"!{len(words) // 2}H", words))
    return ~(total + (total >> 16)) & 0xFFFF


def frame(mac: bytes, source: tuple[str, int], to: tuple[str, int]) -> bytes:
    """The request in Ethernet, IPv4 and UDP, from whatever address."""
    udp_part = struct.pack("!HHHH", source[1], to[1], 8 + len(REQUEST), 0) + REQUEST
    ends = socket.inet_aton(source[0]) + socket.inet_aton(to[0])
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp_part), 0, 0, 64, 17, 0) + ends
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return mac + bytes(6) + b"\x08\x00" + head + udp_part


def test_nobody_off_this_machine_reaches_the_autopilot_through_the_tap(machines: Machines, tmp_path: Path) -> None:
    """Neither by the machine's own address, nor by frames for 127.0.0.1, nor from a forged 127.0.0.1."""
    tunnel.init_keys(str(tmp_path), ["uav1"], ["mldsa44"])
    reader, autopilot = on(machines.drone, udp), on(machines.drone, udp)
    own = reader.getsockname()
    config = drone_config(
        tmp_path, {"data": 1}, plain_tap=f"{own[0]}:{own[1]}", plain_tap_requests=True, bind="0.0.0.0"
    )
    drone = on(machines.drone, lambda: started(config))
    try:
        autopilot.sendto(b"heartbeat", ("127.0.0.1", drone.ports()["plain"]["uav1"]))
        copy, asked_at = reader.recvfrom(100)
        assert copy == b"heartbeat"
        shown = subprocess.run(
            ["ip", "-n", machines.drone, "-j", "link", "show", "cable1"], capture_output=True, check=True
        )
        mac = bytes.fromhex(json.loads(shown.stdout)[0]["address"].replace(":", ""))
        raw = on(machines.gcs, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
        raw.bind(("cable1", 0))
        outside = on(machines.gcs, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for _ in range(5):
            outside.sendto(REQUEST, ("10.214.1.1", asked_at[1]))
            for source in (("10.214.1.2", 9), own):
                for host in ("127.0.0.1", "10.214.1.1"):
                    raw.send(frame(mac, source, (host, asked_at[1])))
        time.sleep(0.3)
        count = drone.stats()[0]
        assert (count["plain_tap_requests"], count["plain_tap_refused"]) == (0, 0)
        # The reader itself is heard, so that the silence above means something.
        reader.sendto(REQUEST, asked_at)
        assert autopilot.recv(100) == REQUEST
        assert eventually(lambda: drone.stats()[0]["plain_tap_requests"] == 1)
        raw.close()
        outside.close()
    finally:
        drone.stop()
        reader.close()
        autopilot.close()
