# SPDX-License-Identifier: Apache-2.0
"""What others put between a drone with LTE and a radio and its ground station, in the conditions of paths.py.

Two namespaces of their own, LTE a link between them that loses and delays as that of paths.py, and the same simulated
radio's serial ports. mavlink-router has the port itself. engarde knows network interfaces, so the radio is one, as
slattach(8) would make it: SLIP (RFC 1055) on the port, and a queue of 10 packets.
"""

import contextlib
import os
import select
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import rig
from peers import programs
from peers.ends import PORT, TUN_ADDRESS
from peers.room import ADDRESS, DEVICE, DRONE, GROUND, SIDES, Room, refusal
from peers.wireguard import WireGuard
from pymavlink.dialects.v20 import common as mavlink
from radios import RATE_HZ

from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.impairment.tap import open_tun
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES
from pqc_mav_sim.vehicle import Vehicle

WAYS = {  # and the programs of each
    "mavlink-router": ("mavlink-routerd",),
    "engarde": ("engarde-client", "engarde-server"),
    "engarde, WireGuard": ("engarde-client", "engarde-server", "wireguard", "wg"),
}
WIREGUARD = ("engarde, WireGuard",)
BAUD = PROFILES["sik"].baud
RADIO_DEVICE = "radio0"
RADIO_ADDRESS = {DRONE: "10.213.79.2", GROUND: "10.213.79.1"}
RADIO_QUEUE, RADIO_MTU = 10, 1500
READY_S = 20.0
ENTRY, EXIT, ENGARDE = 14540, 14550, 59401  # UDP ports of applications, and of engarde
TOGETHER_MS = 1000  # in which mavlink-router drops what is the same, the longest its manual advises
END, ESCAPE = 0xC0, 0xDB
ESCAPED = {END: bytes((ESCAPE, 0xDC)), ESCAPE: bytes((ESCAPE, 0xDD))}
LTE_FRAME = 14 + 20 + 8  # of Ethernet, IP and UDP, which the tunnel's own figures leave out


def missing(way: str) -> str:
    """Why it cannot fly here, or an empty text."""
    return refusal() or programs.missing(*WAYS[way])


@dataclass
class Beside:
    """What flies, and what its ground station has."""

    lte: Room
    radio: RadioPorts
    vehicle: Vehicle
    ground: socket.socket
    to: tuple[str, int]
    sent_by_lte: Callable[[], int]


class SerialIp:
    """Packets of a TUN device over a serial port, one after another: what does not fit waits in the device's queue."""

    def __init__(self, room: Room, side: str, port: str) -> None:
        self._tun = room.call(side, partial(open_tun, RADIO_DEVICE))
        self._port = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._ended = threading.Event()
        room.ip(
            side,
            f"link set {RADIO_DEVICE} mtu {RADIO_MTU} txqueuelen {RADIO_QUEUE} up",
            f"addr add {RADIO_ADDRESS[side]}/24 dev {RADIO_DEVICE}",
        )
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._out, self._in)]

    def __enter__(self) -> None:
        for each in self._threads:
            each.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for each in self._threads:
            each.join()
        os.close(self._tun)
        os.close(self._port)

    def _out(self) -> None:
        while self._wait(read=self._tun):
            packet = os.read(self._tun, RADIO_MTU)
            rest = bytes([END]) + b"".join(ESCAPED.get(byte, bytes([byte])) for byte in packet) + bytes([END])
            while rest and self._wait(write=self._port):
                with contextlib.suppress(BlockingIOError):
                    rest = rest[os.write(self._port, rest) :]

    def _in(self) -> None:
        frame = bytearray()
        while self._wait(read=self._port):
            for byte in os.read(self._port, 4096):
                if byte != END:
                    frame.append(byte)
                elif frame:
                    with contextlib.suppress(OSError):  # the kernel takes no packet that was damaged
                        os.write(self._tun, frame.replace(ESCAPED[END], b"\xc0").replace(ESCAPED[ESCAPE], b"\xdb"))
                    frame.clear()

    def _wait(self, read: int | None = None, write: int | None = None) -> bool:
        """For a descriptor; False when it is over."""
        while not self._ended.is_set():
            if any(select.select([read] if read is not None else [], [write] if write is not None else [], [], 0.1)):
                return True
        return False


class EngardeWireGuard(WireGuard):
    """WireGuard whose packets go to engarde at the drone, and come from it at the ground."""

    endpoint = f"127.0.0.1:{ENGARDE}"


def written(folder: Path, name: str, text: str) -> str:
    """A program's configuration."""
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def start_router(room: Room, folder: Path, radio: RadioPorts) -> None:
    """Both ends of mavlink-router: LTE and the radio are a group, which gets every message."""
    ports = {DRONE: radio.air[0], GROUND: radio.ground}
    lte = {
        DRONE: f"Mode=Normal\nAddress={ADDRESS[GROUND]}\nPort={PORT}\n",
        GROUND: f"Mode=Server\nAddress={ADDRESS[GROUND]}\nPort={PORT}\n",
    }
    for side in SIDES:
        text = (
            f"[General]\nTcpServerPort=0\nDeDuplicationPeriod={TOGETHER_MS}\n\n"
            f"[UdpEndpoint application]\nMode=Server\nAddress=127.0.0.1\nPort={ENTRY}\n\n"
            f"[UdpEndpoint lte]\n{lte[side]}Group=air\n\n"
            f"[UartEndpoint radio]\nDevice={ports[side]}\nBaud={BAUD}\nGroup=air\n"
        )
        room.spawn(side, [programs.path("mavlink-routerd"), "-c", written(folder, f"{side}.conf", text)])


def start_engarde(room: Room, folder: Path, server_to: int) -> None:
    """Both ends of engarde over LTE and the radio as interfaces."""
    client = (
        f"client:\n  listenAddr: '127.0.0.1:{ENGARDE}'\n  dstAddr: '{ADDRESS[GROUND]}:{ENGARDE}'\n"
        "  excludedInterfaces: [lo, wg0]\n"
        f"  dstOverrides:\n    - ifName: {RADIO_DEVICE}\n      dstAddr: '{RADIO_ADDRESS[GROUND]}:{ENGARDE}'\n"
    )
    server = f"server:\n  listenAddr: '0.0.0.0:{ENGARDE}'\n  dstAddr: '127.0.0.1:{server_to}'\n  clientTimeout: 30\n"
    for side, name, text in ((GROUND, "server", server), (DRONE, "client", client)):
        room.spawn(side, [programs.path(f"engarde-{name}"), written(folder, f"{name}.yml", text)])


def bytes_of(room: Room, device: str) -> int:
    """What the drone sent by an interface, without Ethernet, IP and UDP."""

    def read() -> int:
        line = next(line for line in Path("/proc/thread-self/net/dev").read_text().splitlines() if device in line)
        sent, packets = (int(each) for each in line.split(":")[1].split()[8:10])
        return sent - LTE_FRAME * packets

    return room.call(DRONE, read)


def hears(ground: socket.socket, entry: tuple[str, int], room: Room) -> tuple[str, int]:
    """Speaks at both ends until the ground hears the drone, and says where that comes from."""
    out, back = (mavlink.MAVLink(None, srcSystem=system, srcComponent=1) for system in (1, 255))
    drone = room.call(DRONE, partial(socket.socket, socket.AF_INET, socket.SOCK_DGRAM))
    end = time.monotonic() + READY_S
    with drone:
        while time.monotonic() < end:
            with contextlib.suppress(OSError):  # a program that does not listen yet
                ground.sendto(bytes(back.heartbeat_encode(6, 8, 0, 0, 4).pack(back)), ("127.0.0.1", ENTRY))
                drone.sendto(bytes(out.heartbeat_encode(2, 12, 0, 0, 4).pack(out)), entry)
                source: tuple[str, int] = ground.recvfrom(2048)[1]
                return source
    raise RuntimeError("nothing comes through")


@contextlib.contextmanager
def flight(way: str, lte: Mapping[str, Any], seed: int) -> Iterator[Beside]:
    """One of the others, ready to fly."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        radio = stack.enter_context(RadioPorts(RadioTerms(PROFILES["sik"], loss=0.05, seed=seed), folder / "radio"))
        room = Room()
        stack.callback(room.close)
        room.connect_lossy(0.0, seed)
        room.impair(lte)
        entry, exit_at = ("127.0.0.1", ENTRY), ("127.0.0.1", EXIT)
        if way == "mavlink-router":
            start_router(room, folder, radio)
        else:
            for side, port in ((DRONE, radio.air[0]), (GROUND, radio.ground)):
                stack.enter_context(SerialIp(room, side, port))
            start_engarde(room, folder, PORT if way in WIREGUARD else EXIT)
            entry = ("127.0.0.1", ENGARDE)
        if way in WIREGUARD:
            ends = EngardeWireGuard(room, folder, command=(programs.path("wireguard"), "-f"))
            for side in (GROUND, DRONE):
                ends.start(side)
            entry = exit_at = (TUN_ADDRESS[GROUND], EXIT)
        ground = stack.enter_context(room.call(GROUND, partial(rig.listening, 0.01, exit_at)))
        to = hears(ground, entry, room)
        peer = resolve(f"{entry[0]}:{entry[1]}")
        vehicle = room.call(DRONE, lambda: Vehicle(AutopilotConfig(rate_hz=RATE_HZ), any_port_towards(peer), peer))
        yield Beside(room, radio, vehicle, ground, to, partial(bytes_of, room, DEVICE[DRONE]))
