# SPDX-License-Identifier: Apache-2.0
"""What a Raspberry Pi's firmware says about throttling: `vcgencmd get_throttled`.

Bits as documented at https://www.raspberrypi.com/documentation/computers/os.html#get_throttled: 0-3 hold now, 16-19
have happened since the board was started.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass

TIMEOUT_S = 1.0
NOW = {
    0: "the supply voltage is too low",
    1: "the firmware caps the processor's clock",
    2: "the firmware throttles the processor",
    3: "the soft temperature limit is active",
}
SINCE_START = {
    16: "low supply voltage has occurred",
    17: "the clock has been capped",
    18: "the processor has been throttled",
    19: "the soft temperature limit has been reached",
}
# Too low a voltage alone does not slow the processor; what the firmware does about it are bits 1 and 2.
_SLOWING = (1, 2, 3)


@dataclass(frozen=True)
class Throttling:
    """The decoded word."""

    word: int

    @property
    def active(self) -> bool:
        """Whether the processor is being slowed down now."""
        return any(self.word >> bit & 1 for bit in _SLOWING)

    @property
    def now(self) -> list[str]:
        """What holds now, in words."""
        return [text for bit, text in NOW.items() if self.word >> bit & 1]

    @property
    def since_start(self) -> list[str]:
        """What has happened since start, in words."""
        return [text for bit, text in SINCE_START.items() if self.word >> bit & 1]


def parse(output: str) -> Throttling | None:
    """From `throttled=0x50005`; None for anything else."""
    match = re.fullmatch(r"throttled=0x([0-9a-fA-F]{1,8})", output.strip())
    return Throttling(int(match[1], 16)) if match else None


def find() -> str:
    """Path of the command, "" where there is none (any other board)."""
    return shutil.which("vcgencmd") or ""


def read(command: str) -> Throttling | None:
    """Asks the firmware; None when it does not answer. Takes some milliseconds: not for an executor's thread."""
    try:
        ended = subprocess.run(
            [command, "get_throttled"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return parse(ended.stdout)
