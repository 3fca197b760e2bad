# SPDX-License-Identifier: Apache-2.0
"""How a radio cuts its host's bytes into air packets. No clock: time is an argument (s)."""

from __future__ import annotations

STARTS = (0xFE, 0xFD)
_FIXED = {0xFE: 8, 0xFD: 12}
_SIGNATURE = 13
_MOST_AROUND = 12 + _SIGNATURE  # what the firmware reckons with before it knows
_HEARTBEAT = 0
_EPSILON_S = 1e-6  # less than a tick of the firmware's clock


def cut_anywhere(waiting: bytearray, most: int) -> bytes:
    """Take what there is."""
    out = bytes(waiting[:most])
    del waiting[: len(out)]
    return out


class MessageCutter:
    """Cuts by MAVLink's start bytes and lengths alone, as SiK does: whole messages, as many as fit; a message that does
    not become whole in the time that its bytes take goes as it is, and so does one for which the end of a turn has had
    no room for so long; foreign bytes go up to the next start byte."""

    def __init__(self, longest: int, byte_s: float) -> None:
        """`longest`: the longest packet at all. `byte_s`: of the serial line."""
        self._longest = longest
        self._byte_s = byte_s
        self._awaited = 0
        self._until = 0.0
        self.heartbeats = 0  # that left, of either version
        self.version = 1  # of the newest

    def next(self, waiting: bytearray, most: int, now: float) -> bytes:
        """Take the next packet of at most `most` bytes; empty if there is none yet."""
        seen = min(len(waiting), most)
        if seen <= 0:
            return b""
        if self._awaited == 1 and seen > 1:  # its length has come
            self._awaited = 0
        if self._awaited:
            if seen >= self._awaited > 1:
                return self._whole_messages(waiting, most)
            if now <= self._until:
                return b""
            self._awaited = 0
            return cut_anywhere(waiting, seen)
        foreign = 0
        while foreign < seen:
            size = self._size_at(waiting, foreign, seen)
            if size == 0:
                foreign += 1
                continue
            if size == 1 and foreign:
                break
            self._awaited, self._until = size, now + size * self._byte_s + _EPSILON_S
            if foreign:
                break
            return b"" if size == 1 or size > seen else self._whole_messages(waiting, most)
        return cut_anywhere(waiting, foreign)

    def _size_at(self, waiting: bytearray, at: int, seen: int) -> int:
        """Of the message that seems to begin there; 1 = its length has not come; 0 = none, or too long for a packet."""
        if waiting[at] not in STARTS:
            return 0
        if at + 1 >= seen:
            return 1
        if waiting[at + 1] + _MOST_AROUND > self._longest or waiting[at + 1] >= 255 - _MOST_AROUND:
            return 0
        return self._around(waiting, at, at + 2 < seen) + waiting[at + 1]

    def _around(self, waiting: bytearray, at: int, knows_flags: bool) -> int:
        is_signed = waiting[at] == STARTS[1] and knows_flags and waiting[at + 2] & 1
        return _FIXED[waiting[at]] + (_SIGNATURE if is_signed else 0)

    def _whole_messages(self, waiting: bytearray, most: int) -> bytes:
        self._awaited = 0
        out = b""
        while len(waiting) >= _FIXED[STARTS[0]] and waiting[0] in STARTS:
            around = self._around(waiting, 0, True)
            size = around + waiting[1]
            if waiting[1] >= 255 - around or len(out) + size > most or size > len(waiting):
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
