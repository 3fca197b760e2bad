# SPDX-License-Identifier: Apache-2.0
"""The settings of a SiK radio (its S registers): what they may be, and what of the radio they change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pqc_mav_sim.radio.profile import RadioProfile

DEFAULTS: Mapping[str, int] = {
    "FORMAT": 26,
    "SERIAL_SPEED": 57,
    "AIR_SPEED": 64,
    "NETID": 25,
    "TXPOWER": 20,
    "ECC": 0,
    "MAVLINK": 1,
    "OPPRESEND": 0,
    "MIN_FREQ": 0,
    "MAX_FREQ": 0,
    "NUM_CHANNELS": 0,
    "DUTY_CYCLE": 100,
    "LBT_RSSI": 0,
    "MANCHESTER": 0,
    "RTSCTS": 0,
    "MAX_WINDOW": 131,
}
NAMES = tuple(DEFAULTS)
_BAUD = {1: 1_200, 2: 2_400, 4: 4_800, 9: 9_600, 19: 19_200, 38: 38_400, 57: 57_600, 115: 115_200, 230: 230_400}
_AIR_SPEEDS = (2, 4, 8, 16, 19, 24, 32, 48, 64, 96, 128, 192, 250)
_MOST = {"AIR_SPEED": 256, "TXPOWER": 20, "ECC": 1, "OPPRESEND": 1, "MAVLINK": 2, "MAX_WINDOW": 131}
_AT_ONCE = ("MAVLINK", "RTSCTS")  # all others after a reset


class Registers:
    """Of one radio: those in use, those that are set, those that are saved."""

    def __init__(self, profile: RadioProfile) -> None:
        """As the radio of that kind is set."""
        set_so = {
            "SERIAL_SPEED": next((code for code, baud in _BAUD.items() if baud == profile.baud), 57),
            "AIR_SPEED": profile.air_kbit,
            "ECC": int(profile.ecc),
            "MAVLINK": int(profile.aligns),
            "MAX_WINDOW": round(1000 * profile.window_most_s),
        }
        self._values = {**DEFAULTS, **set_so}
        self._saved = dict(self._values)
        self._used = dict(self._values)
        self._profile = profile

    def get(self, number: int) -> int:
        """What is set, in use or not."""
        return self._values[NAMES[number]]

    def set(self, number: int, value: int) -> bool:
        """Whether it may be that."""
        name = NAMES[number]
        if name == "FORMAT" or value > _MOST.get(name, value):
            return False
        if name == "SERIAL_SPEED" and value % 256 not in _BAUD:  # a byte in the firmware
            return False
        if name == "DUTY_CYCLE":
            value = min(value, 100)
        if name == "LBT_RSSI" and value:
            value = min(max(value, 25), 220)
        if name == "RTSCTS":
            value = int(value != 0)
        self._values[name] = value
        if name in _AT_ONCE:
            self._used[name] = value
        return True

    def default(self) -> None:
        """As it was made; neither saved nor in use."""
        self._values = dict(DEFAULTS)

    def save(self) -> None:
        """For the next reset."""
        self._saved = dict(self._values)

    def reset(self) -> None:
        """Uses what was saved."""
        self._values = dict(self._saved)
        self._used = dict(self._saved)

    @property
    def flow_control(self) -> bool:
        """RTS and CTS are used."""
        return self._used["RTSCTS"] != 0

    @property
    def channel(self) -> tuple[int, int, int]:
        """Radios hear one another where this is the same."""
        return self._used["NETID"], self._air_speed, self._used["ECC"]

    @property
    def profile(self) -> RadioProfile:
        """The radio as it is set now."""
        used = self._used
        return replace(
            self._profile,
            baud=_BAUD[used["SERIAL_SPEED"] % 256],
            air_kbit=self._air_speed,
            aligns=used["MAVLINK"] != 0,
            ecc=used["ECC"] != 0,
            window_most_s=used["MAX_WINDOW"] / 1000,
        )

    @property
    def _air_speed(self) -> int:
        asked = self._used["AIR_SPEED"]
        if asked == self._profile.air_kbit:
            return asked  # an RFD900x has rates of its own
        return next((each for each in _AIR_SPEEDS if each >= asked), _AIR_SPEEDS[-1])
