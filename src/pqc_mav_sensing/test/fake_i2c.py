# SPDX-License-Identifier: Apache-2.0
"""A fake I2C bus with an INA219 on it, at the level of smbus2: registers, pointer, byte order, timing, faults.

The sensor is modelled after TI SBOS448: two conversions one after the other (shunt, then bus), whose length follows
from the configuration register; the figures of a pair appear together with "conversion ready", which reading the power
register clears. Current and power are computed from the calibration register, overflow included. Time is a fake clock
that advances with every transfer on the bus.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, field

CONVERSION_S = {0b0000: 84e-6, 0b0001: 148e-6, 0b0010: 276e-6, 0b0011: 532e-6}
RESET = 0x399F
# A word read at 400 kHz: three address bytes and two data bytes of nine bits each.
TRANSFER_S = 45 / 400e3


@dataclass
class Clock:
    """Seconds, moved by hand."""

    now_s: float = 100.0

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass
class FakeIna219:
    """The chip. `volts(t)` and `amperes(t)` are what is really there; `shunt_ohm` what is soldered in."""

    clock: Clock
    volts: Callable[[float], float] = lambda _t: 5.0
    amperes: Callable[[float], float] = lambda _t: 0.8
    shunt_ohm: float = 0.1
    configuration: int = RESET
    calibration: int = 0
    pointer: int = 0
    power_cycles: int = 0
    _began_s: float = 0.0
    _shunt: int = 0
    _bus: int = 0
    _current: int = 0
    _power: int = 0
    _ready: bool = False
    _overflow: bool = False

    def __post_init__(self) -> None:
        self._began_s = self.clock.now_s

    def power_cycle(self) -> None:
        """The supply was gone: everything is as after a reset."""
        self.power_cycles += 1
        self.configuration, self.calibration, self.pointer = RESET, 0, 0
        self._shunt = self._bus = self._current = self._power = 0
        self._ready = self._overflow = False
        self._began_s = self.clock.now_s

    @property
    def pair_s(self) -> float:
        shunt, bus = self.configuration >> 3 & 0b1111, self.configuration >> 7 & 0b1111
        return CONVERSION_S[shunt] + CONVERSION_S[bus]

    def write(self, register: int, word: int) -> None:
        self.pointer = register
        if register == 0:
            if word & 0x8000:
                self.power_cycle()
                return
            self.configuration = word
            self._ready = False
            self._began_s = self.clock.now_s
        elif register == 5:
            self.calibration = word & 0xFFFE

    def read(self) -> int:
        """The register the pointer stands at."""
        self._convert()
        if self.pointer == 3:
            self._ready = False
            return self._power
        words = {
            0: self.configuration,
            1: self._shunt & 0xFFFF,
            2: self._bus << 3 | self._ready << 1 | self._overflow,
            4: self._current & 0xFFFF,
            5: self.calibration,
        }
        return words[self.pointer]

    def _convert(self) -> None:
        if self.configuration & 0b111 != 0b111:
            return
        done = int((self.clock.now_s - self._began_s) / self.pair_s)
        if not done:
            return
        self._began_s += done * self.pair_s
        at_s = self._began_s
        limit = 4000 << (self.configuration >> 11 & 0b11)  # 40 mV in steps of 10 uV, doubled per gain step
        # Fewer bits: the converter's lowest ones stay zero.
        coarse = {0b0011: 1, 0b0010: 2, 0b0001: 4, 0b0000: 8}[self.configuration >> 3 & 0b1111]
        shunt = round(self.amperes(at_s) * self.shunt_ohm / 10e-6 / coarse) * coarse
        self._shunt = max(-limit, min(limit, shunt))
        most = 0x1F40 if self.configuration >> 13 & 1 else 0xFA0
        self._bus = min(most, round(self.volts(at_s) / 4e-3))
        current = (
            self._shunt * self.calibration // 4096 if self._shunt >= 0 else -(-self._shunt * self.calibration // 4096)
        )
        power = abs(current) * self._bus // 5000
        self._overflow = abs(current) > 0x7FFF or power > 0xFFFF
        self._current = max(-0x8000, min(0x7FFF, current))
        self._power = min(0xFFFF, power)
        self._ready = True


@dataclass
class FakeBus:
    """What smbus2.SMBus is to the driver. `fault(kind)` is asked before each transfer and may name what goes wrong."""

    clock: Clock
    chips: dict[int, FakeIna219] = field(default_factory=dict)
    fault: Callable[[str], str] = lambda _kind: ""
    transfer_s: float = TRANSFER_S
    transfers: int = 0
    closed: bool = False

    def read_word_data(self, i2c_addr: int, register: int) -> int:
        what = self._transfer("read", i2c_addr)
        chip = self.chips[i2c_addr]
        chip.pointer = register
        word = 0xFFFF if what == "stuck_high" else chip.read()
        return (word & 0xFF) << 8 | word >> 8  # SMBus: the first byte, which is the high one, comes out low

    def write_word_data(self, i2c_addr: int, register: int, value: int) -> None:
        assert 0 <= value <= 0xFFFF
        self._transfer("write", i2c_addr)
        self.chips[i2c_addr].write(register, (value & 0xFF) << 8 | value >> 8)

    def close(self) -> None:
        self.closed = True

    def _transfer(self, kind: str, address: int) -> str:
        assert not self.closed, "the bus was used after it was closed"
        self.transfers += 1
        self.clock.advance(self.transfer_s)
        what = self.fault(kind)
        codes = {"nack": errno.EREMOTEIO, "bus_error": errno.EIO, "timeout": errno.ETIMEDOUT, "lost": errno.EAGAIN}
        if what in codes:
            raise OSError(codes[what], what)
        if address not in self.chips:
            raise OSError(errno.EREMOTEIO, "Remote I/O error")
        if what == "power_cycle":
            self.chips[address].power_cycle()
        return what
