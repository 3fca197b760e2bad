# SPDX-License-Identifier: Apache-2.0
"""Kinds of radios as figures: those of SiK follow its firmware's own formulas (ArduPilot/SiK, tdm.c and serial.c)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

TICK_S = 16e-6  # s, of SiK's timer
_TRAILER = 2  # bytes that SiK puts behind each packet
_HEADER = 5  # network, length and checksum
_OVERHEAD_TICKS = 13
_PREAMBLE_MORE = 3  # bytes
_WORD, _REPAIRED = 23, 3  # bits of a word of SiK's Golay code, which has 12 of the packet's, and how many may be bent
_MS_TICKS = 62  # as SiK counts the longest turn
_WINDOW_MOST = 0x1FFF * TICK_S


@dataclass(frozen=True)
class RadioProfile:
    """One kind of radio.

    Attributes:
        says: what it stands for, and what of it is assumed.
        baud: of its serial port.
        air_kbit: bits in the air per second while it sends.
        aligns: air packets begin and end with MAVLink messages, and heartbeats are answered with RADIO_STATUS.
        ecc: each byte goes as two, packets are half as long, and bent bits are repaired.
        packet_most: bytes of one air packet.
        buffer: bytes from the host that wait for the air; what comes beyond is lost.
        to_host_buffer: bytes from the air that wait for the serial port.
        window_most_s: the longest turn of one radio.
        full_duplex: both sides send at any time.
        delay_s: added to each packet.
        repeats: what the air loses is sent again, in order: delay instead of loss.
        status_s: RADIO_STATUS goes to the host so often by itself; 0 = only for heartbeats, where it aligns.
        has_at: `+++` leads to the AT mode, in which it is set.
    """

    says: str
    baud: int = 57_600
    air_kbit: int = 64
    aligns: bool = False
    ecc: bool = False
    packet_most: int = 250
    buffer: int = 1850
    to_host_buffer: int = 645
    window_most_s: float = 0.131
    full_duplex: bool = False
    delay_s: float = 0.0
    repeats: bool = False
    status_s: float = 0.0
    has_at: bool = False

    @property
    def byte_s(self) -> float:
        """Air time of one byte."""
        ticks = (8 + 8_000 // self.air_kbit) // 16 + 1
        return ticks * TICK_S * (2 if self.ecc else 1)

    @property
    def serial_byte_s(self) -> float:
        """How long SiK waits for each byte of a message that is not whole yet."""
        return (65_536 // (self.baud // 1000 * 125) + 1) * TICK_S

    @property
    def latency_s(self) -> float:
        """Air time of a packet without bytes (preamble, header, checksum), as the turns are reckoned."""
        plain = self.byte_s / (2 if self.ecc else 1)
        return 13 * plain + _OVERHEAD_TICKS * TICK_S + (4 * self.byte_s if self.ecc else 0)

    @property
    def reach_s(self) -> float:
        """The same with the preamble that is sent, which is longer."""
        return self.latency_s + _PREAMBLE_MORE * self.byte_s

    @property
    def most(self) -> int:
        """Bytes of the host in one air packet."""
        return self.packet_most // 2 - 7 if self.ecc else self.packet_most

    @property
    def window_s(self) -> float:
        """One radio's turn: three packets, or as long as it may be."""
        longest = round(1000 * self.window_most_s) * _MS_TICKS * TICK_S
        return min(3 * (self.latency_s + self.most * self.byte_s), longest, _WINDOW_MOST)

    @property
    def silence_s(self) -> float:
        """Between two turns."""
        return 2 * self.latency_s

    def flight_s(self, size: int) -> float:
        """Air time of a packet with so many bytes of the host."""
        return self.reach_s + (size + _TRAILER) * self.byte_s

    def arrives(self, size: int, bit_errors: float) -> float:
        """How probable it is that a packet does, if so large a share of the bits is bent."""
        if not self.ecc:  # the checksum finds any; beside the packet it covers the header
            return float((1 - bit_errors) ** (8 * (size + _TRAILER + _HEADER)))
        word = sum(
            comb(_WORD, bent) * bit_errors**bent * (1 - bit_errors) ** (_WORD - bent) for bent in range(_REPAIRED + 1)
        )
        return float(word ** (2 * ((size + _TRAILER + 2) // 3 + 2)))  # three bytes are two words, as are header and sum

    def fits(self, left_s: float) -> int:
        """Bytes that a packet may have which has to be over by then."""
        return min(self.most, int((left_s - self.reach_s) / self.byte_s + 1e-9) - _TRAILER - 1)


PROFILES: Mapping[str, RadioProfile] = {
    "sik-raw": RadioProfile("a SiK radio with MAVLINK=0: cuts its bytes anywhere", has_at=True),
    "sik": RadioProfile("a SiK radio as it comes, MAVLINK=1", aligns=True, has_at=True),
    "sik-ecc": RadioProfile("a SiK radio with MAVLINK=1 and ECC=1", aligns=True, ecc=True, has_at=True),
    "rfd900x": RadioProfile(
        "an RFD900x at 57,600 baud and 200 kbit/s in the air, taken as SiK", air_kbit=200, aligns=True, has_at=True
    ),
    "elrs": RadioProfile(
        "ELRS in MAVLink mode: repeats in order, tells its state by itself; rate and delay are assumed",
        baud=460_800,
        air_kbit=24,
        aligns=True,
        packet_most=280,
        full_duplex=True,
        delay_s=0.05,
        repeats=True,
        status_s=0.01,
    ),
    "satellite": RadioProfile(
        "a satellite modem: slow, late, and without a word about itself; all figures are assumed",
        baud=19_200,
        air_kbit=5,
        packet_most=340,
        buffer=4096,
        full_duplex=True,
        delay_s=0.9,
        repeats=True,
    ),
}
