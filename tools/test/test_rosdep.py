# SPDX-License-Identifier: Apache-2.0
"""`rosdep install` brings what the packages import: every import has its key in package.xml, and every key exists.

The keys are those of rosdep/base.yaml and rosdep/python.yaml of github.com/ros/rosdistro at 8468e88 (2026-08-22) that
have a package for Ubuntu 24.04, and packages released into Jazzy, whose names are keys themselves.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from test_packages import EACH, FOLDERS, ROOT, catkin_package

# Import -> rosdep key. What Ubuntu has for it is in tools/ubuntu-24.04.txt.
KEYS = {
    "cryptography": "python3-cryptography",
    "hypothesis": "python3-hypothesis",
    "matplotlib": "python3-matplotlib",
    "mcap": "mcap-ros2-support",
    "mcap_ros2": "mcap-ros2-support",
    "numpy": "python3-numpy",
    "pandas": "python3-pandas",
    "prometheus_client": "python3-prometheus-client",
    "psutil": "python3-psutil",
    "pydantic": "python3-pydantic",
    "pymavlink": "python3-pymavlink-pip",
    "pytest": "python3-pytest",
    "rich": "python3-rich",
    "segno": "python3-segno",
    "setuptools": "python3-setuptools",
    "smbus2": "python3-smbus2",
    "typer": "python3-typer",
    "yaml": "python3-yaml",
    "zstandard": "mcap-ros2-support",
}
SYSTEM_KEYS = {
    *("cargo", "libgtest-dev", "libssl-dev", "openssl", "pybind11-dev", "python3", "python3-dev", "util-linux"),
    *("nlohmann-json-dev", "yaml-cpp"),
}
ROS = {
    "ament_cmake_vendor_package",
    *("action_msgs", "ament_cmake", "ament_cmake_pytest", "ament_index_python", "builtin_interfaces"),
    *("composition_interfaces", "rcl", "rcl_yaml_param_parser"),
    *("rclcpp", "rclcpp_action", "rclcpp_components", "rclcpp_lifecycle"),
    *("diagnostic_msgs", "geometry_msgs", "launch", "launch_ros", "launch_testing", "lifecycle_msgs"),
    *("rcl_interfaces", "rclpy", "rosidl_default_generators", "rosidl_default_runtime"),
    *("rosidl_typesupport_cpp", "rosidl_typesupport_introspection_cpp"),
    *("sensor_msgs", "std_msgs", "std_srvs"),
}
# Imported where it is there, and only for what needs it: rosdep has no key, and docs/launch.md names the pip packages.
WITHOUT_KEY = {
    "ascon": "wirespec's one cipher that cryptography lacks",
    "lz4": "recordings that other programs wrote",
    "mavsdk": "a test of a ground client",
    "nats": "the registry of 'pqcmav fleet'",
    "onnx": "training a detector",
    "onnxruntime": "the detector 'tst'",
    "oqs": "wirespec and its tests",
    "pyarrow": "windows of traffic as Parquet",
    "starlette": "the dashboard's server",
    "rosbags": "a test of recordings",
    "torch": "training a detector",
    "uvicorn": "the dashboard's server",
    "websockets": "the dashboard's server",
    "xgboost": "training a detector",
}
OPTIONAL = {
    "mavros_msgs": "comes with mavros, for mavlink:=mavros",
    "sros2": "a test under DDS security, where it is installed",
    "nowhere_to_be_found": "a test of what is said where a module is missing",
}
# A test of the benchmark as its users start it; declared, it would be a circle.
CIRCLES = {"pqc_mav_bench": {"pqc_mav_cli"}}


def imports(files: list[Path]) -> set[str]:
    """Top-level modules that these files import, but for the standard library and modules beside them."""
    found: set[str] = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def key_of(module: str) -> str:
    """The rosdep key that brings a module."""
    return module if module in ROS or module.startswith("pqc_mav_") else KEYS[module]


@EACH
def test_every_import_has_its_key(folder: Path) -> None:
    package = catkin_package.parse_package(str(folder))
    running = {dependency.name for dependency in (*package.exec_depends, *package.build_depends)}
    testing = running | {dependency.name for dependency in package.test_depends}
    python = [path for path in folder.rglob("*.py") if ".egg-info" not in str(path)]
    in_tests = [path for path in python if "test" in path.relative_to(folder).parts[:1]]
    beside = {path.stem for path in in_tests} | {path.name for path in (folder / "test").glob("*") if path.is_dir()}
    for files, declared in ((sorted(set(python) - set(in_tests)), running), (in_tests, testing)):
        modules = imports(files) - {folder.name} - set(WITHOUT_KEY) - set(OPTIONAL)
        modules -= beside | {path.stem for path in files} if files == in_tests else {"setuptools"}
        modules -= foreign_test_modules(folder) if files == in_tests else for_tests_only(folder)
        modules -= CIRCLES.get(folder.name, set())
        missing = {key_of(module) for module in modules} - declared
        assert not missing, f"src/{folder.name}/package.xml lacks {sorted(missing)}"


def foreign_test_modules(folder: Path) -> set[str]:
    """Test helpers that a package's tests borrow from another package's, by their path."""
    others = {path.stem for each in FOLDERS if each != folder for path in (each / "test").rglob("*.py")}
    return others - set(KEYS) - ROS


def for_tests_only(folder: Path) -> set[str]:
    """What only modules for tests import (`testing*.py`); packages whose tests use them declare it."""
    helpers = [path for path in folder.rglob("testing*.py") if "test" not in path.relative_to(folder).parts[:1]]
    return imports(helpers) & {"lifecycle_msgs", "pytest"}


@EACH
def test_every_key_exists(folder: Path) -> None:
    package = catkin_package.parse_package(str(folder))
    ours = {each.name for each in FOLDERS}
    named = {
        dependency.name
        for kind in ("buildtool", "build", "build_export", "exec", "test", "doc")
        for dependency in getattr(package, f"{kind}_depends")
    }
    assert named <= ours | ROS | SYSTEM_KEYS | set(KEYS.values()), named - ours - ROS - SYSTEM_KEYS


def test_what_rosdep_does_not_bring_is_named_where_users_look() -> None:
    text = (ROOT / "docs" / "launch.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^pip install --user --break-system-packages (.+)$", text, re.MULTILINE)
    assert set(command.split()) == {
        *("pyarrow", "starlette", "uvicorn", "websockets", "nats-py", "'cryptography>=50'"),
    }
