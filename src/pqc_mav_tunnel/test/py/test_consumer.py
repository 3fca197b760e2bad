# SPDX-License-Identifier: Apache-2.0
"""A C++ program that has nothing but the installed package: it finds it, compiles, links and runs a tunnel."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest

CONSUMER = Path(__file__).resolve().parent.parent / "consumer"
PACKAGE = CONSUMER.parent.parent
PUBLIC = {
    "attempt_log", "calls", "config", "door", "engine", "error", "events", "families", "handshake_outcome",
    "host", "host_config", "keystore", "open_sockets", "picture", "process", "socket_door", "status", "suites",
    "version",
}  # fmt: skip


def execute(*command: str | Path, limit_s: float = 170) -> str:
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit_s)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def build_and_run(prefixes: list[str], folder: Path) -> tuple[str, str]:
    """Build the consumer against the package below one of the prefixes; return what cmake and the program said."""
    said = execute("cmake", "-S", CONSUMER, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}")
    execute("cmake", "--build", folder / "build", "--parallel", "2")
    return said, execute(folder / "build" / "consumer", folder / "keys", limit_s=90)


def check(said: str, printed: str) -> None:
    assert set(re.findall(r"public header: pqc_mav_tunnel/(\w+)\.hpp", said)) == PUBLIC
    version = tunnel.engine_version()
    assert f"engine {version}, headers {version}: 20 datagrams and a rekey" in printed


def test_the_workspaces_install(tmp_path: Path) -> None:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    if not any((Path(prefix) / "share" / "pqc_mav_tunnel" / "cmake").is_dir() for prefix in prefixes):
        pytest.skip("pqc_mav_tunnel is not installed: run 'make setup' first")
    check(*build_and_run(prefixes, tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("PQCMAV_SLOW"), reason="builds the engine once more; PQCMAV_SLOW=1 runs it")
@pytest.mark.timeout(900)
def test_an_install_by_plain_cmake(tmp_path: Path) -> None:
    liboqs = os.environ.get("OQS_INSTALL_PATH", "")
    build, prefix = tmp_path / "engine", tmp_path / "prefix"
    options = ("PQCMAV_PYTHON=OFF", "PQCMAV_MICRO_BENCHMARKS=OFF", "BUILD_TESTING=OFF", "CMAKE_BUILD_TYPE=Debug")
    # As on a machine without ROS 2.
    options += ("CMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON", "CMAKE_DISABLE_FIND_PACKAGE_liboqs_vendor=ON")
    execute(
        "cmake", "-S", PACKAGE, "-B", build, f"-DCMAKE_PREFIX_PATH={liboqs}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        *(f"-D{option}" for option in options),
    )  # fmt: skip
    execute("cmake", "--build", build, "--parallel", str(os.cpu_count() or 2), limit_s=800)
    execute("cmake", "--install", build)
    check(*build_and_run([str(prefix), liboqs], tmp_path))
