# SPDX-License-Identifier: Apache-2.0
"""Driver of an INA219 behind an SMBus (smbus2.SMBus, or anything with its three methods).

One sample is three reads: bus voltage (is a conversion ready, did anything overflow), current, power. Reading the
power register is what clears "conversion ready" (SBOS448, 8.6.3.2), and its value must be the product of the other two:
a sample that was torn by a new conversion, or by a bus on which bits changed, shows in that. A sensor that lost its
supply comes back with calibration 0 and then reads 0 A and 0 W indefinitely; neither is believed before the calibration
has been read.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pqc_mav_sensing import ina219_registers as registers
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219_registers import BusWord, Setup


class LostSetupError(SensorError):
    """The sensor answers, but does not hold what was written: it has lost its supply. Writing it again cures that."""


class Bus(Protocol):
    """The part of smbus2.SMBus that is used; all raise OSError, e.g. 121 when nothing acknowledges."""

    def read_word_data(self, i2c_addr: int, register: int) -> int:
        """Two bytes, the first in the low half."""

    def write_word_data(self, i2c_addr: int, register: int, value: int) -> None:
        """Two bytes, the low half first."""

    def close(self) -> None:
        """Release the bus."""


class Outcome(Enum):
    """The outcome of one reading of the sensor."""

    SAMPLE = "sample"
    DUPLICATE = "duplicate"  # no new conversion since the last reading
    OVERFLOW = "overflow"  # the sensor says that its figures are wrong
    TORN = "torn"  # the registers contradict each other


@dataclass(frozen=True)
class Reading:
    """One reading; volts and amperes are meaningful for a SAMPLE only."""

    outcome: Outcome
    volts: float = 0.0
    amperes: float = 0.0


class Ina219:
    """One sensor. Every method raises SensorError when it does not answer or is not what it was set up to be."""

    def __init__(self, bus: Bus, address: int, setup: Setup) -> None:
        self._bus = bus
        self._address = address
        self.setup = setup

    def begin(self) -> None:
        """Writes configuration and calibration and reads both back. Nothing is written to another chip."""
        found = self._read(registers.CONFIGURATION)
        if not registers.is_known(found, self.setup):
            raise SensorError(
                f"what answers at 0x{self._address:02x} is no INA219 as it starts (its register 0 holds "
                f"0x{found:04x}), so nothing was written to it; a servo driver has that address, too"
            )
        self._write(registers.CONFIGURATION, self.setup.configuration)
        self._write(registers.CALIBRATION, self.setup.calibration)
        self.verify()

    def verify(self) -> None:
        """Raises SensorError when configuration or calibration are not what was written."""
        configuration = self._read(registers.CONFIGURATION)
        calibration = self._read(registers.CALIBRATION)
        if calibration != self.setup.calibration:
            raise LostSetupError(
                f"the INA219 at 0x{self._address:02x} lost its calibration ({calibration} instead of "
                f"{self.setup.calibration}): it has lost its supply"
            )
        if configuration != self.setup.configuration:
            raise LostSetupError(
                f"the INA219 at 0x{self._address:02x} is configured 0x{configuration:04x} instead of "
                f"0x{self.setup.configuration:04x}"
            )

    def look(self) -> Reading:
        """Take one reading: a sample if a conversion is ready."""
        for attempt in range(2):  # a torn sample is read once more: the next conversion takes longer than three reads
            word = self._read(registers.BUS_VOLTAGE)
            bus = BusWord.decode(word)
            if not bus.possible:
                return Reading(Outcome.TORN)
            if not bus.ready and attempt == 0:
                return Reading(Outcome.DUPLICATE)
            current = registers.signed(self._read(registers.CURRENT))
            power = self._read(registers.POWER)
            if bus.overflow:
                return Reading(Outcome.OVERFLOW)
            if current == 0 or power == 0:
                self.verify()
            # One step of either factor, for the rounding inside the sensor.
            tolerance = 1 + (abs(current) + (word >> 3)) // 5000
            if abs(power - registers.power_word(current, word)) <= tolerance:
                return Reading(Outcome.SAMPLE, bus.volts, current * self.setup.current_lsb_a)
        return Reading(Outcome.TORN)

    def _read(self, register: int) -> int:
        try:
            return registers.swapped(self._bus.read_word_data(self._address, register) & 0xFFFF)
        except OSError as error:
            raise SensorError(_sentence(self._address, error)) from None

    def _write(self, register: int, value: int) -> None:
        try:
            self._bus.write_word_data(self._address, register, registers.swapped(value))
        except OSError as error:
            raise SensorError(_sentence(self._address, error)) from None


def _sentence(address: int, error: OSError) -> str:
    return f"the INA219 at 0x{address:02x} does not answer: {error.strerror or error}"
