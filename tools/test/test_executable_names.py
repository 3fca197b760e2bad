# SPDX-License-Identifier: Apache-2.0
"""One scheme of names: pqc_* for what `ros2 run` starts, pqcmav-* for what people type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent for path in ROOT.glob("src/*/setup.py"))


def scripts(package: Path) -> dict[str, str]:
    """A package's programs, each with the function that it calls."""
    return dict(re.findall(r'"([\w-]+) = ([\w.]+:\w+)"', (package / "setup.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_names_of_programs(package: Path) -> None:
    typed = "install_scripts=$base/bin" in (package / "setup.cfg").read_text(encoding="utf-8")
    for name in scripts(package):
        assert re.fullmatch(r"pqcmav(-[a-z]+)*" if typed else r"pqc(_[a-z]+)+", name)
