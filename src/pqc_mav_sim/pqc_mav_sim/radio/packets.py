# SPDX-License-Identifier: Apache-2.0
"""How a radio cuts its host's bytes into air packets. No clock: time is an argument (s)."""

from __future__ import annotations

STARTS = (0xFE, 0xFD)
_FIXED = {0xFE: 8, 0xFD: 12}
_SIGNATURE = 13
_MOST_AROUND = 12 + _SIGNATURE  # what the firmware reckons with before it knows
_HEARTBEAT = 0


def cut_anywhere(waiting: bytearray, most: int) -> bytes:
    """Take what there is."""
    out = bytes(waiting[:most])
    del waiting[: len(out)]
    return out


class MessageCutter:
    """Cuts by MAVLink's start bytes and lengths alone, as SiK does: whole messages, as many as fit; a message that does
    not become whole in the time that its bytes take goes as it is; foreign bytes go up to the next start byte."""

    def __init__(self, longest: int, byte_s: float) -> None:
        """`longest`: the longest packet at all. `byte_s`: of the serial line."""
        self._longest = longest
        self._byte_s = byte_s
        self._awaited = 0
        self._until = 0.0
        self.heartbeats = 0  # that left, of either version
        self.version = 1  # of the newest

    def next(self, waiting: bytearray, most: int, now: float) -> bytes:
        """Take the next packet of at most `most` bytes; empty if there is none yet, or it does not fit."""
        if not waiting or most <= 0:
            return b""
        if self._awaited:
            if len(waiting) >= self._awaited:
                self._awaited = 0
                return self._whole_messages(waiting, most)
            if now <= self._until:
                return b""
            self._awaited = 0
            return cut_anywhere(waiting, most)
        size = self._size_at(waiting)
        if size == 0:
            return self._foreign(waiting, most)
        if size > len(waiting):
            self._awaited, self._until = size, now + size * self._byte_s
            return b""
        return self._whole_messages(waiting, most)

    def _size_at(self, waiting: bytearray, at: int = 0) -> int:
        """Of the message that seems to begin there; 0 = none, or one that is too long for any packet."""
        if waiting[at] not in STARTS:
            return 0
        if at + 1 >= len(waiting):
            return 2
        if waiting[at + 1] + _MOST_AROUND > self._longest:
            return 0
        is_signed = waiting[at] == STARTS[1] and at + 2 < len(waiting) and waiting[at + 2] & 1
        return waiting[at + 1] + _FIXED[waiting[at]] + (_SIGNATURE if is_signed else 0)

    def _foreign(self, waiting: bytearray, most: int) -> bytes:
        end = 1
        while end < min(len(waiting), most) and self._size_at(waiting, end) == 0:
            end += 1
        return cut_anywhere(waiting, end)

    def _whole_messages(self, waiting: bytearray, most: int) -> bytes:
        out = b""
        while waiting:
            size = self._size_at(waiting)
            if size == 0 or size > len(waiting) or len(out) + size > most:
                break
            self._note(waiting)
            out += cut_anywhere(waiting, size)
        return out

    def _note(self, message: bytearray) -> None:
        first = message[0] == STARTS[0]
        if message[1] == 9 and first and message[5] == _HEARTBEAT:
            self.heartbeats, self.version = self.heartbeats + 1, 1
        if message[1] <= 9 and not first and bytes(message[7:10]) == bytes(3):
            self.heartbeats, self.version = self.heartbeats + 1, 2
