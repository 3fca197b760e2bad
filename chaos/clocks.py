# SPDX-License-Identifier: Apache-2.0
"""Wall clocks that can be stepped for one process alone: builds the preload library and writes its offset."""

import shutil
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
DAY_S = 86_400


class ClockError(RuntimeError):
    """No steppable clock on this machine; the text says why."""


def build_shim(folder: Path) -> Path:
    """Compile clock_shim.cpp into the folder and return the library; raises ClockError without a compiler."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise ClockError("needs a C++ compiler to build the clock shim: apt-get install g++")
    library = folder / "clock_shim.so"
    command = [compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-o", str(library), str(HERE / "clock_shim.cpp")]
    result = subprocess.run([*command, "-ldl"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ClockError(f"the clock shim does not compile: {result.stderr.strip()[:300]}")
    return library


class SteppableClock:
    """The wall clock of one process: pass `environment` to it, then `step`."""

    def __init__(self, shim: Path, file: Path) -> None:
        self._file = file
        self._offset_s = 0.0
        file.write_bytes(struct.pack("=q", 0))
        self.environment = {"LD_PRELOAD": str(shim), "PQCMAV_CLOCK_FILE": str(file)}

    def step(self, seconds: float) -> None:
        """Set the clock forward (or back) by so many seconds, at once."""
        self._offset_s += seconds
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", int(self._offset_s * 1e9)))
