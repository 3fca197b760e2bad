# SPDX-License-Identifier: Apache-2.0
"""Just enough of Ethernet, IPv4, UDP and TCP to say what a frame is and to change its ports."""

from dataclasses import dataclass

TCP = 6
UDP = 17
_ETHERNET = 14
_IPV4 = b"\x08\x00"
_CHECKSUM_AT = {TCP: 16, UDP: 6}
_LEAST = {TCP: 20, UDP: 8}
# By first byte: docs/protocol.md, section 3. Retry and Restart belong to handshakes.
_KINDS = {
    **dict.fromkeys((0x03, 0x23, 0x80, 0x90, 0xA0, 0xB0), "data"),
    **dict.fromkeys((0x13, 0xC0, 0xD0), "control"),
    **dict.fromkeys((0x33, 0x43, 0x53, 0x63), "handshake"),
}


@dataclass(frozen=True)
class Packet:
    """Where things are in an Ethernet frame that carries the start of an IPv4 TCP or UDP packet; offsets in bytes."""

    protocol: int
    transport: int
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int


def parse(frame: bytes | bytearray) -> Packet | None:
    """Return the packet in the frame; None for anything but an unfragmented or first piece of IPv4 TCP or UDP."""
    if len(frame) < _ETHERNET + 20 or frame[12:14] != _IPV4 or frame[_ETHERNET] >> 4 != 4:
        return None
    transport = _ETHERNET + (frame[_ETHERNET] & 0x0F) * 4
    protocol = frame[_ETHERNET + 9]
    offset = int.from_bytes(frame[_ETHERNET + 6 : _ETHERNET + 8], "big") & 0x1FFF
    if protocol not in _LEAST or offset or transport < _ETHERNET + 20 or len(frame) < transport + _LEAST[protocol]:
        return None
    return Packet(
        protocol,
        transport,
        bytes(frame[_ETHERNET + 12 : _ETHERNET + 16]),
        bytes(frame[_ETHERNET + 16 : _ETHERNET + 20]),
        int.from_bytes(frame[transport : transport + 2], "big"),
        int.from_bytes(frame[transport + 2 : transport + 4], "big"),
    )


def kind(frame: bytes | bytearray) -> str:
    """Say what a frame is to the tunnel: the kind of its datagram, or `other` (TCP and pieces included)."""
    packet = parse(frame)
    if packet is None or packet.protocol == TCP:
        return "other"
    return kind_of_datagram(frame[packet.transport + 8 :])


def kind_of_datagram(datagram: bytes | bytearray) -> str:
    """Say what a datagram of the tunnel is: `data`, `control`, `handshake` or `other`."""
    return _KINDS.get(datagram[0], "other") if datagram else "other"


def set_port(frame: bytearray, packet: Packet, *, source: bool, port: int) -> None:
    """Change the source or destination port in place and mend the checksum (RFC 1624)."""
    at = packet.transport + (0 if source else 2)
    old = int.from_bytes(frame[at : at + 2], "big")
    frame[at : at + 2] = port.to_bytes(2, "big")
    check_at = packet.transport + _CHECKSUM_AT[packet.protocol]
    checksum = int.from_bytes(frame[check_at : check_at + 2], "big")
    if packet.protocol == UDP and checksum == 0:
        return  # none was computed
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + port
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    new = ~total & 0xFFFF
    if packet.protocol == UDP and new == 0:
        new = 0xFFFF
    frame[check_at : check_at + 2] = new.to_bytes(2, "big")
