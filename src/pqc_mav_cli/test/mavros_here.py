# SPDX-License-Identifier: Apache-2.0
"""Which mavros the tests fly with: the one that is installed with its data, else the double."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from mavros_double import messages

from pqc_mav_bringup import geoid, mavros
from pqc_mav_bringup.executables import of_package
from pqc_mav_bringup.share import prefixes

VARIABLE = "PQCMAV_MAVROS"  # double: the double even where mavros is; real: fail where mavros is not
PROGRAM = "mavros_node"
TEST = Path(__file__).resolve().parent


def missing(environment: Mapping[str, str]) -> str:
    """Why the real one cannot be flown with here; empty where it can."""
    if of_package(mavros.PACKAGE, PROGRAM) is None:
        return f"mavros is not installed in {os.pathsep.join(map(str, prefixes()))}"
    return geoid.problem(environment)


def is_real(environment: Mapping[str, str]) -> bool:
    """Whether to take the real one. Fails the test where it was asked for and cannot be had."""
    wanted = environment.get(VARIABLE, "")
    assert wanted in ("", "real", "double"), f"{VARIABLE} is {wanted!r}; it must be real, double or empty"
    why_not = "the double was asked for" if wanted == "double" else missing(environment)
    if wanted == "real" and why_not:
        pytest.fail(f"{VARIABLE}=real, but {why_not}")
    return not why_not


def environment(folder: Path) -> dict[str, str]:
    """Of a machine on which mavros is installed with its data; the double, if it is it, goes to `folder`."""
    if is_real(os.environ):
        return {}
    program = folder / "lib" / mavros.PACKAGE / PROGRAM
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(TEST)!r})\n"
        "from mavros_double.mavros_node import main\nmain()\n"
    )
    program.chmod(0o755)
    index = folder / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / mavros.PACKAGE).touch()  # launch looks for the package there
    with (folder / geoid.NAME).open("wb") as file:
        file.truncate(geoid.SIZE)
    made = messages.environment()
    found = made.get("AMENT_PREFIX_PATH") or os.environ.get("AMENT_PREFIX_PATH", "")
    return {**made, "AMENT_PREFIX_PATH": f"{folder}:{found}", "GEOGRAPHICLIB_GEOID_PATH": str(folder)}


def program(environment: Mapping[str, str]) -> str:
    """Its path, for those that start it without the launch files."""
    if "AMENT_PREFIX_PATH" in environment:
        return f"{environment['AMENT_PREFIX_PATH'].partition(':')[0]}/lib/{mavros.PACKAGE}/{PROGRAM}"
    found = of_package(mavros.PACKAGE, PROGRAM)
    assert found is not None
    return found
