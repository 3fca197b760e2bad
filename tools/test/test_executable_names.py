# SPDX-License-Identifier: Apache-2.0
"""One scheme of names: pqc_* for what `ros2 run` starts, pqcmav-* for what people type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Names of the version before; they go with the next one.
OLD_NAMES = {"flight_recorder", "bench_controller", "bench_agent"}
PACKAGES = sorted(path.parent for path in ROOT.glob("src/*/setup.py"))


def scripts(package: Path) -> dict[str, str]:
    """A package's programs, each with the function that it calls."""
    return dict(re.findall(r'"([\w-]+) = ([\w.]+:\w+)"', (package / "setup.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_names_of_programs(package: Path) -> None:
    typed = "install_scripts=$base/bin" in (package / "setup.cfg").read_text(encoding="utf-8")
    for name, function in scripts(package).items():
        if name in OLD_NAMES:
            assert function.endswith(f":run_as_{name}")
        else:
            assert re.fullmatch(r"pqcmav(-[a-z]+)*" if typed else r"pqc(_[a-z]+)+", name)


def test_every_old_name_has_its_new_one() -> None:
    found = {name: function for package in PACKAGES for name, function in scripts(package).items()}
    assert set(found) >= OLD_NAMES
    for old in OLD_NAMES:
        module = found[old].partition(":")[0]
        assert any(function == f"{module}:run" for name, function in found.items() if name.startswith("pqc_"))
