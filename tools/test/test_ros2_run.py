# SPDX-License-Identifier: Apache-2.0
"""`ros2 run` finds every program: it looks for them in lib/<package> of the install tree alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from test_executable_names import PACKAGES, ROOT, scripts

INSTALL = ROOT / "install"


@pytest.mark.parametrize("package", [each for each in PACKAGES if scripts(each)], ids=lambda path: path.name)
def test_every_program_is_in_the_package_s_folder(package: Path) -> None:
    if not INSTALL.is_dir():
        pytest.skip("nothing is installed: make setup")
    for name in scripts(package):
        path = INSTALL / "lib" / package.name / name
        assert path.is_file() and os.access(path, os.X_OK), path


def test_the_engine_s_program_is_there_too() -> None:
    if not (INSTALL / "share" / "pqc_mav_tunnel").is_dir():
        pytest.skip("the engine is not installed: make setup")
    assert os.access(INSTALL / "lib" / "pqc_mav_tunnel" / "pqcmav-tunneld", os.X_OK)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_what_stands_in_for_a_program_calls_the_same_function(package: Path) -> None:
    text = (package / "setup.py").read_text()
    calls = scripts(package)
    # One that ends in .py is no such script: it is started by its path.
    for script in sorted(path for path in (package / "scripts").glob("*") if path.suffix != ".py"):
        assert f'"scripts/{script.name}"' in text and os.access(script, os.X_OK)
        if f'("bin", ["scripts/{script.name}"])' in text:
            continue  # the program itself
        module, function = calls[script.name].split(":")
        assert f"from {module} import {function}\n" in script.read_text()


BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_readme_says_how_to_start_a_program_without_ros_tools(package: Path) -> None:
    """`make setup` brings no ros2: where a README has a command of it, the same goes without."""
    for block in BLOCK.findall((package / "README.md").read_text(encoding="utf-8")):
        for name in re.findall(rf"^ros2 run {package.name} (\w+)", block, re.MULTILINE):
            assert re.search(rf"^tools/run install/lib/{package.name}/{name} ", block, re.MULTILINE), name
            assert "with a ROS 2 installation" in block
        if "ros2 run" not in block:
            assert "ros2 " not in block, block
