# SPDX-License-Identifier: Apache-2.0
"""A thermal tree in a folder, as the kernel lays it out."""

from __future__ import annotations

import shutil
from pathlib import Path


class FakeThermal:
    """Zones and cooling devices that tests heat, break and take away."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def zone(self, index: int, kind: str, celsius: float, trips: dict[str, float] | None = None) -> Path:
        folder = self.root / f"thermal_zone{index}"
        folder.mkdir(exist_ok=True)
        (folder / "type").write_text(f"{kind}\n")
        (folder / "temp").write_text(f"{round(celsius * 1000)}\n")
        for number, (name, trip_c) in enumerate((trips or {}).items()):
            (folder / f"trip_point_{number}_type").write_text(f"{name}\n")
            (folder / f"trip_point_{number}_temp").write_text(f"{round(trip_c * 1000)}\n")
        return folder

    def cooling(self, index: int, kind: str, state: object, most: int = 4) -> Path:
        folder = self.root / f"cooling_device{index}"
        folder.mkdir(exist_ok=True)
        (folder / "type").write_text(f"{kind}\n")
        (folder / "cur_state").write_text(f"{state}\n")
        (folder / "max_state").write_text(f"{most}\n")
        return folder

    def remove(self, name: str) -> None:
        shutil.rmtree(self.root / name)
