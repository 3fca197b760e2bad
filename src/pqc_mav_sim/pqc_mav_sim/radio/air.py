# SPDX-License-Identifier: Apache-2.0
"""The air between radios: turns, as SiK's time division gives them, or both ways at once. No clock: time is an argument
(s)."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from itertools import count

from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.radio.modem import Modem

_POLL_S = 0.001  # how often a radio looks for bytes in its turn
_LEAST = 15  # bytes of room; with less left of a turn a SiK radio sends nothing


class Air:
    """Radios on one channel. What one sends all others hear, unless the channel has a bad moment."""

    def __init__(
        self,
        modems: Sequence[Modem],
        channel: ImpairedDirection,
        listener: Callable[[bytes], None] | None = None,
        bit_errors: float = 0.0,
    ) -> None:
        """`channel` says which packets are lost; its delays are not used. `listener` hears every packet. Of the bits
        such a share is bent."""
        self._listener = listener
        self._bit_errors = bit_errors
        self._random = random.Random(f"bits {bit_errors}")
        self._fades: dict[int, float] = {}
        self._modems = modems
        self._channel = channel
        self._flying: list[tuple[float, int, int, bytes, bool]] = []
        self._order = count()
        self._now = 0.0
        self._owner = len(modems) - 1
        self._turn_ends = 0.0
        self._has_yielded = False
        self._free_at = [0.0] * len(modems)
        self._again = [b""] * len(modems)  # what was lost of a radio that repeats

    def fade(self, sender: int, share: float) -> None:
        """From now on so much of what this radio sends is lost, besides what the channel loses."""
        self._fades[sender] = share

    def advance(self, now: float) -> None:
        """Do all that happens until then."""
        while self._now < now:
            before = self._now
            if self._modems[0].profile.full_duplex:
                self._send_at_will()
            else:
                self._take_turn()
            self._deliver(min(now, self._now))
            if self._now == before:
                self._now += _POLL_S
        self._deliver(now)
        for modem in self._modems:
            modem.work(now)

    def _take_turn(self) -> None:
        now, profile = self._now, self._modems[0].profile
        if now >= self._turn_ends:
            self._owner = (self._owner + 1) % len(self._modems)
            self._now = now + profile.silence_s
            self._turn_ends = self._now + profile.window_s
            self._has_yielded = False
            return
        room = profile.fits(self._turn_ends - now)
        if room < _LEAST:
            self._now = self._turn_ends
            return
        sender = (self._owner + self._has_yielded) % len(self._modems)
        packet = self._modems[sender].next_packet(room, now)
        if packet:
            self._now += profile.flight_s(len(packet))
            self._fly(sender, packet, self._now)
            self._now += profile.reach_s  # receivers do not cope with packets back to back
        elif self._has_yielded:
            self._now += _POLL_S
        else:  # an empty packet gives the rest of the turn to the next one
            self._has_yielded = True
            self._now += profile.flight_s(0) + profile.reach_s

    def _send_at_will(self) -> None:
        for number, modem in enumerate(self._modems):
            if self._now < self._free_at[number]:
                continue
            packet = self._again[number] or modem.next_packet(modem.profile.most, self._now)
            if not packet:
                continue
            self._free_at[number] = end = self._now + modem.profile.flight_s(len(packet))
            is_lost = modem.profile.repeats and self._loses(number, packet, end)
            self._again[number] = packet if is_lost else b""
            if not is_lost:
                self._fly(number, packet, end + modem.profile.delay_s)
        self._now += _POLL_S

    def _fly(self, sender: int, packet: bytes, arrives: float) -> None:
        if self._listener is not None:
            self._listener(packet)
        if not self._modems[sender].profile.repeats and self._loses(sender, packet, arrives):
            for number, modem in enumerate(self._modems):
                modem.counts.air_lost += number != sender
            return
        is_command = self._modems[sender].sends_command
        heapq.heappush(self._flying, (arrives, next(self._order), sender, packet, is_command))

    def _loses(self, sender: int, packet: bytes, at: float) -> bool:
        arrives = self._modems[sender].profile.arrives(len(packet), self._bit_errors)
        arrives *= 1 - self._fades.get(sender, 0.0)
        return bool(self._channel.offer(len(packet), at).lost) or self._random.random() >= arrives

    def _deliver(self, now: float) -> None:
        while self._flying and self._flying[0][0] <= now:
            _, _, sender, packet, is_command = heapq.heappop(self._flying)
            channel = self._modems[sender].registers.channel
            for number, modem in enumerate(self._modems):
                if number != sender and modem.registers.channel == channel:
                    modem.from_air(packet, is_command)
