# SPDX-License-Identifier: Apache-2.0
"""Registers of the INA219 current and power monitor, computed. Source of all of it: TI data sheet SBOS448.

Pure arithmetic: choice of range and resolution, calibration (equations 1 to 5), decoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from pqc_mav_sensing.errors import SensingError

# Register addresses (table 2).
CONFIGURATION, SHUNT_VOLTAGE, BUS_VOLTAGE, POWER, CURRENT, CALIBRATION = range(6)
ADDRESSES = range(0x40, 0x50)

BUS_LSB_V = 4e-3
_CALIBRATION_SCALE = 0.04096  # equation 1
_CURRENT_STEPS = 1 << 15  # equation 2

# Bus voltage register: bits 15-3 the voltage, bit 1 conversion ready, bit 0 overflow; bit 2 is always 0 (figure 24).
_CONVERSION_READY, _OVERFLOW, _BUS_UNUSED = 0x2, 0x1, 0x4
_MODE_CONTINUOUS = 0b111  # shunt and bus, continuous (table 6)

# Shunt ranges [V] by PG bits (table 4), bus ranges [V] by BRNG.
SHUNT_RANGES_V = (0.04, 0.08, 0.16, 0.32)
BUS_RANGES_V = (16.0, 32.0)


@dataclass(frozen=True)
class Adc:
    """One setting of a converter: bits, code of BADC/SADC (table 5), longest time one conversion takes [s] (6.5)."""

    bits: int
    code: int
    longest_s: float


ADCS = (
    Adc(12, 0b0011, 586e-6),
    Adc(11, 0b0010, 304e-6),
    Adc(10, 0b0001, 163e-6),
    Adc(9, 0b0000, 93e-6),
)


@dataclass(frozen=True)
class Resolution:
    """Settings of both converters, which work one after the other."""

    bus: Adc
    shunt: Adc

    @property
    def longest_s(self) -> float:
        """Longest time one pair of conversions takes."""
        return self.bus.longest_s + self.shunt.longest_s

    def __str__(self) -> str:
        return f"bus {self.bus.bits} bit, shunt {self.shunt.bits} bit"


def resolution_for(rate_hz: float) -> Resolution:
    """The finest resolution whose slowest conversion still meets the rate; the current's bits count first.

    At 1 kHz 12 + 12 bit (1,064 us) is too slow; 12 bit for the shunt and 11 bit for the bus voltage (808 us, at most
    890 us) is the choice: supply voltages move little, currents a lot. Raises SensingError above the fastest rate.
    """
    fitting = [Resolution(bus, shunt) for bus, shunt in product(ADCS, ADCS)]
    fitting = [each for each in fitting if each.longest_s <= 1.0 / rate_hz]
    if not fitting:
        fastest_hz = 1.0 / min(each.longest_s for each in (Resolution(a, b) for a, b in product(ADCS, ADCS)))
        raise SensingError(f"An INA219 cannot convert {rate_hz:g} times a second: the most is {fastest_hz:.0f}.")
    return max(fitting, key=lambda each: (each.shunt.bits, each.bus.bits))


@dataclass(frozen=True)
class Setup:
    """What is written into the sensor, and how to read its figures."""

    configuration: int
    calibration: int
    current_lsb_a: float
    resolution: Resolution


def is_known(configuration: int, setup: Setup) -> bool:
    """Is this word one of an INA219: as after a reset, as all set it up to measure, or as here, whatever its mode?

    Bits 15 and 14 read as 0 (figure 19). An INA226 has 1 there; a PCA9685, which drives servos from the same address,
    has no mode 7 unless its outputs are stopped.
    """
    return configuration & 0xC007 == _MODE_CONTINUOUS or configuration | _MODE_CONTINUOUS == setup.configuration


def setup_for(shunt_ohm: float, largest_current_a: float, rate_hz: float, largest_voltage_v: float = 16.0) -> Setup:
    """Configuration and calibration for a shunt and the range that is expected. Raises SensingError."""
    if not 0.0001 <= shunt_ohm <= 10.0:
        raise SensingError(f"A shunt of {shunt_ohm:g} ohm is out of range: give 0.0001 to 10 ohm.")
    drop_v = round(shunt_ohm * largest_current_a, 9)  # 0.1 x 3.2 is not 0.32 in binary
    if not 0.0 < drop_v <= SHUNT_RANGES_V[-1]:
        raise SensingError(
            f"{largest_current_a:g} A through {shunt_ohm:g} ohm drop {drop_v:.3g} V; an INA219 measures at most "
            f"{SHUNT_RANGES_V[-1]:g} V: give a smaller current or use a smaller shunt."
        )
    if not 0.0 < largest_voltage_v <= BUS_RANGES_V[-1]:
        raise SensingError(f"A bus voltage of {largest_voltage_v:g} V is out of range: an INA219 measures up to 26 V.")
    # Equation 2 gives the smallest LSB; equation 1 rounds down and only has 15 bits (bit 0 is always 0), so the LSB
    # that really holds is computed back from the register's value.
    smallest_lsb_a = largest_current_a / _CURRENT_STEPS
    calibration = min(0xFFFE, int(_CALIBRATION_SCALE / (smallest_lsb_a * shunt_ohm))) & 0xFFFE
    if calibration == 0:
        raise SensingError(f"{largest_current_a:g} A through {shunt_ohm:g} ohm leave no value for the calibration.")
    resolution = resolution_for(rate_hz)
    bus_range = next(index for index, volt in enumerate(BUS_RANGES_V) if largest_voltage_v <= volt)
    gain = next(index for index, volt in enumerate(SHUNT_RANGES_V) if drop_v <= volt)
    configuration = (
        bus_range << 13 | gain << 11 | resolution.bus.code << 7 | resolution.shunt.code << 3 | _MODE_CONTINUOUS
    )
    return Setup(configuration, calibration, _CALIBRATION_SCALE / (calibration * shunt_ohm), resolution)


@dataclass(frozen=True)
class BusWord:
    """The bus voltage register, decoded."""

    volts: float
    ready: bool
    overflow: bool
    possible: bool  # False: the unused bit is set, so this did not come from an INA219

    @classmethod
    def decode(cls, word: int) -> BusWord:
        """From the register's 16 bits."""
        return cls(
            (word >> 3) * BUS_LSB_V,
            bool(word & _CONVERSION_READY),
            bool(word & _OVERFLOW),
            not word & _BUS_UNUSED,
        )


def signed(word: int) -> int:
    """A register in two's complement."""
    return word - 0x1_0000 if word & 0x8000 else word


def swapped(word: int) -> int:
    """SMBus words come low byte first, the sensor's registers high byte first."""
    return (word & 0xFF) << 8 | word >> 8


def power_word(current: int, bus_word: int) -> int:
    """What the power register holds for these two (equation 5: current times bus voltage over 5,000)."""
    return abs(current) * (bus_word >> 3) // 5000
