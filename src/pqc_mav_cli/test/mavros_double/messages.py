# SPDX-License-Identifier: Apache-2.0
"""The messages of mavros' package mavros_msgs that the suite and its tests use, built where it is not installed.

Their fields are mavros' interface: names, types and order as in mavros 2.12. There are no ROS wheels of mavros_msgs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
_HEADER = "std_msgs/Header header\n"
INTERFACES = {
    "msg/State.msg": _HEADER
    + "bool connected\nbool armed\nbool guided\nbool manual_input\nstring mode\nuint8 system_status\n",
    "msg/ExtendedState.msg": _HEADER + "uint8 vtol_state\nuint8 landed_state\n",
    "msg/GeoPoint.msg": "float64 latitude\nfloat64 longitude\nfloat64 altitude\n",  # of geographic_msgs in mavros
    "msg/HomePosition.msg": _HEADER + "GeoPoint geo\n",
    "msg/VfrHud.msg": _HEADER
    + "float32 airspeed\nfloat32 groundspeed\nint16 heading\nfloat32 throttle\nfloat32 altitude\nfloat32 climb\n",
    "msg/Altitude.msg": _HEADER
    + "".join(
        f"float32 {name}\n" for name in ("monotonic", "amsl", "local", "relative", "terrain", "bottom_clearance")
    ),
    "msg/Mavlink.msg": _HEADER
    + "".join(
        f"uint8 {name}\n"
        for name in ("framing_status", "magic", "len", "incompat_flags", "compat_flags", "seq", "sysid", "compid")
    )
    + "uint32 msgid\nuint16 checksum\nuint64[<=33] payload64\nuint8[<=13] signature\n",
    "srv/CommandBool.srv": "bool value\n---\nbool success\nuint8 result\n",
}
_PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>mavros_msgs</name>
  <version>0.0.0</version>
  <description>Messages for tests of PQC-MAV</description>
  <maintainer email="maintainers@example.org">PQC-MAV maintainers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>std_msgs</depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""
_CMAKE = """cmake_minimum_required(VERSION 3.22)
project(mavros_msgs)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
find_package(std_msgs REQUIRED)
file(GLOB interfaces RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} msg/*.msg srv/*.srv)
rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES std_msgs)
ament_package()
"""


def environment() -> dict[str, str]:
    """What a process needs in its environment to use the messages. Skips the test where they cannot be had."""
    if importlib.util.find_spec("mavros_msgs"):
        return {}
    if not all(map(shutil.which, ("cmake", "ninja"))):
        pytest.skip("mavros_msgs is not installed, and cannot be built without cmake and ninja")
    files = {**INTERFACES, "package.xml": _PACKAGE, "CMakeLists.txt": _CMAKE}
    stamp = hashlib.sha256(repr((sorted(files.items()), sys.version, sys.prefix)).encode()).hexdigest()
    folder = ROOT / "build" / "mavros_messages"
    prefix = folder / "install"
    if not (folder / "stamp").exists() or (folder / "stamp").read_text() != stamp:
        _build(folder, files)
        (folder / "stamp").write_text(stamp)
    packages = prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    first = {"AMENT_PREFIX_PATH": prefix, "PYTHONPATH": packages, "LD_LIBRARY_PATH": prefix / "lib"}
    return {name: os.pathsep.join(filter(None, (str(path), os.environ.get(name, "")))) for name, path in first.items()}


def _build(folder: Path, files: dict[str, str]) -> None:
    """Half a minute, once: the result stays in the workspace's build folder."""
    shutil.rmtree(folder, ignore_errors=True)
    source, build = folder / "source", folder / "build"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    configure = [
        *("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Debug"),
        *(f"-DCMAKE_INSTALL_PREFIX={folder / 'install'}", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_C_FLAGS_DEBUG=-O0"),
        f"-DCMAKE_PROJECT_INCLUDE={ROOT / 'tools' / 'cmake' / 'workspace.cmake'}",
    ]
    for command in (configure, ["cmake", "--build", build, "--target", "install"]):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
