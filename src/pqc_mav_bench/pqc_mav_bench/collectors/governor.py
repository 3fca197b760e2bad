# SPDX-License-Identifier: Apache-2.0
"""Keeps the processor's clock from changing with the load while a run is measured, where that is allowed.

The kernel's frequency governor of every core is set to `performance` and set back afterwards. That needs root, and a
machine that shows governors: virtual ones show none. What is not allowed is left as it is, and the run says so.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

FOLDER = Path("/sys/devices/system/cpu")
PINNED = "performance"


def governor(path: Path) -> str:
    """Frequency governor in a core's folder; "" where the kernel shows none."""
    try:
        return (path / "cpufreq/scaling_governor").read_text().strip()
    except OSError:
        return ""


class GovernorPin:
    """Pins on `pin`, gives back what was there on `restore`; both may be called at any time."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._before: dict[Path, str] = {}

    def pin(self) -> bool:
        """Returns whether every core that has a governor runs pinned now; False where none has one."""
        cores = [core for core in sorted(self._folder.glob("cpu[0-9]*")) if governor(core)]
        for core in cores:
            before = governor(core)
            if before != PINNED and _write(core, PINNED):
                self._before.setdefault(core, before)
        return bool(cores) and all(governor(core) == PINNED for core in cores)

    def restore(self) -> None:
        """Every core gets the governor back that it had."""
        before, self._before = self._before, {}
        for core, name in before.items():
            _write(core, name)


def _write(core: Path, name: str) -> bool:
    with contextlib.suppress(OSError):
        (core / "cpufreq/scaling_governor").write_text(name)
        return True
    return False
