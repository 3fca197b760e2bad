# SPDX-License-Identifier: Apache-2.0
"""One radio: its buffers, its counters, what it says of itself. No clock: time is an argument (s)."""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pymavlink.generator.mavcrc import x25crc

from pqc_mav_sim.latency import LatencyHistogram
from pqc_mav_sim.radio.at_mode import AtMode
from pqc_mav_sim.radio.packets import MessageCutter, cut_anywhere
from pqc_mav_sim.radio.profile import TICK_S, RadioProfile
from pqc_mav_sim.radio.registers import Registers

_STATUS, _STATUS_EXTRA = 109, 185
_SYSTEM, _COMPONENT = 51, 68  # '3', 'D'
_ANSWER = 32  # bytes of a remote command's answer in one packet
_SIGNAL, _NOISE = 140, 40  # of a link of some hundred metres


@dataclass
class ModemCounts:
    """Bytes and packets of one radio."""

    from_host: int = 0
    overflowed: int = 0  # bytes of the host for which there was no room
    sent_packets: int = 0
    sent_bytes: int = 0
    air_lost: int = 0  # packets of others that did not arrive here
    to_host: int = 0
    to_host_lost: int = 0  # bytes for which the port was too slow
    statuses: int = 0
    wait: LatencyHistogram = field(default_factory=LatencyHistogram)  # from the host's byte to the air


class Modem:
    """What is between a serial port and the air."""

    def __init__(self, profile: RadioProfile) -> None:
        self.registers = Registers(profile)
        self.at_mode = AtMode(self.registers, self._timing, self._inject)
        self.counts = ModemCounts()
        self._settings: tuple[Any, ...] = ()
        self._cutter: MessageCutter | None = None
        self.profile = profile
        self._follow_settings()
        self._commands: deque[bytes] = deque()
        self.sends_command = False  # the packet that was taken last
        self._waiting = bytearray()
        self._came: deque[tuple[int, float]] = deque()  # bytes in all, and when
        self._went = 0
        self._to_host = bytearray()
        self._answered = 0
        self._status_at = 0.0
        self._sequence = 0

    @property
    def room(self) -> int:
        """Bytes that the host may still send."""
        return self.profile.buffer - 1 - len(self._waiting)

    def from_host(self, data: bytes, now: float) -> None:
        """Bytes on the serial port; what finds no room vanishes."""
        if self.profile.has_at:
            size, data = len(data), self.at_mode.take(data, now)
            self.counts.from_host += size - len(data)
        taken = data[: max(0, self.room)]
        self.counts.from_host += len(data)
        self.counts.overflowed += len(data) - len(taken)
        self._waiting += taken
        if taken:
            self._came.append((self._went + len(self._waiting), now))

    def next_packet(self, most: int, now: float) -> bytes:
        """What goes into the air, at most so many bytes."""
        self.sends_command = bool(self._commands) and len(self._commands[0]) <= most
        if self.sends_command:
            return self._commands.popleft()
        if self._cutter is None:
            packet = cut_anywhere(self._waiting, most)
        else:
            packet = self._cutter.next(self._waiting, most, now)
        if packet:
            self.counts.sent_packets += 1
            self.counts.sent_bytes += len(packet)
            while self._came and self._came[0][0] <= self._went:
                self._came.popleft()
            if self._came:
                self.counts.wait.add(1e6 * (now - self._came[0][1]))
            self._went += len(packet)
        return packet

    def from_air(self, packet: bytes, is_command: bool = False) -> None:
        """A packet arrived: the host's, or a command of another radio, or its answer."""
        if is_command and packet.startswith(b"RT"):
            answer = self.at_mode.run_for_other(packet)
            self._commands += [answer[at : at + _ANSWER] for at in range(0, len(answer), _ANSWER)]
        elif is_command or not self.at_mode.active:
            self._to_port(packet)

    def take_for_host(self, most: int) -> bytes:
        """So many bytes at most leave by the serial port."""
        out = cut_anywhere(self._to_host, most)
        self.counts.to_host += len(out)
        return out

    def work(self, now: float) -> None:
        """Says how it is, where the firmware would."""
        if self.profile.has_at:
            self.at_mode.work(now)
            self._to_port(self.at_mode.take_answers())
            self._follow_settings()
        profile = self.profile
        if self._cutter is not None and self._cutter.heartbeats > self._answered and not self.at_mode.active:
            self._answered = self._cutter.heartbeats  # one answer for all since the last turn
            self._tell(self._cutter.version)
        if profile.status_s and now >= self._status_at:
            self._status_at = now + profile.status_s
            self._tell(2)

    def _follow_settings(self) -> None:
        settings = (self.at_mode.resets, self.registers.profile)
        if settings == self._settings or (self._settings and not self.profile.has_at):
            return
        if self._settings and self._settings[0] != settings[0]:  # it began anew
            self._waiting.clear()
            self._came.clear()
            self._went = 0
            self._to_host.clear()
        self._settings = settings
        if self.profile.has_at:
            self.profile = settings[1]
        self._answered = 0
        self._cutter = MessageCutter(self.profile.most, self.profile.serial_byte_s) if self.profile.aligns else None

    def _inject(self, command: bytes) -> None:
        self._commands.append(command)

    def _timing(self) -> list[str]:
        ticks = [round(each / TICK_S) for each in (self.profile.silence_s, self.profile.window_s)]
        return [
            f"silence_period: {ticks[0]}",
            f"tx_window_width: {ticks[1]}",
            f"max_data_packet_length: {self.profile.most}",
        ]

    def _tell(self, version: int) -> None:
        free = max(0, 100 * (self.profile.buffer - len(self._waiting)) // self.profile.buffer)
        errors = min(self.counts.air_lost, 0xFFFF)
        payload = struct.pack("<HHBBBBB", errors, 0, _SIGNAL, _SIGNAL - 2, free, _NOISE, _NOISE + 1)
        ident = bytes([_STATUS]) if version == 1 else bytes([_STATUS, 0, 0])
        flags = b"" if version == 1 else bytes(2)
        head = bytes([len(payload)]) + flags + bytes([self._sequence, _SYSTEM, _COMPONENT]) + ident
        crc = x25crc(head + payload + bytes([_STATUS_EXTRA])).crc
        self._sequence = (self._sequence + 1) % 256
        message = bytes([0xFE if version == 1 else 0xFD]) + head + payload + struct.pack("<H", crc)
        if len(self._to_host) + len(message) <= self.profile.to_host_buffer:
            self._to_host += message
            self.counts.statuses += 1

    def _to_port(self, data: bytes) -> None:
        taken = data[: self.profile.to_host_buffer - len(self._to_host)]
        self._to_host += taken
        self.counts.to_host_lost += len(data) - len(taken)

    def summary(self) -> dict[str, Any]:
        """The counters, for people and programs."""
        out: dict[str, Any] = {name: value for name, value in vars(self.counts).items() if name != "wait"}
        return out | {"waiting": len(self._waiting), "wait": self.counts.wait.to_dict()}
