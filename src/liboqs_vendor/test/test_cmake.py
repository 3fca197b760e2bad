# SPDX-License-Identifier: Apache-2.0
"""The package's CMake side: what counts as a usable liboqs, and that a downstream package builds and runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent

FINDER = """\
cmake_minimum_required(VERSION 3.22)
project(finder NONE)
include("{package}/cmake/find_liboqs.cmake")
liboqs_vendor_find(dir refused "{prefix}")
message(STATUS "dir=[${{dir}}] refused=[${{refused}}]")
"""

FAKE_CONFIG = """\
add_library(OQS::oqs SHARED IMPORTED)
set_target_properties(OQS::oqs PROPERTIES
  IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/none.so"
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include")
"""

DOWNSTREAM = """\
cmake_minimum_required(VERSION 3.22)
project(downstream LANGUAGES C)
find_package(liboqs_vendor REQUIRED)
add_executable(show show.c)
target_link_libraries(show PRIVATE liboqs_vendor::oqs)
find_package(liboqs 0.13 REQUIRED)
install(TARGETS show DESTINATION bin)
"""

SHOW = """\
#include <oqs/oqs.h>
#include <stdio.h>
int main(void) { printf("%s %d", OQS_version(), OQS_KEM_alg_is_enabled("ML-KEM-768")); return 0; }
"""


def cmake(*arguments: str, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in {"CMAKE_PREFIX_PATH", "OQS_INSTALL_PATH"}}
    result = subprocess.run(
        ["cmake", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def found(tmp_path: Path, prefix: Path) -> str:
    (tmp_path / "CMakeLists.txt").write_text(FINDER.format(package=PACKAGE, prefix=prefix))
    return cmake("-S", ".", "-B", "build", cwd=tmp_path)


def fake_liboqs(prefix: Path, header: str) -> Path:
    config = prefix / "lib" / "cmake" / "liboqs"
    config.mkdir(parents=True)
    (config / "liboqsConfig.cmake").write_text(FAKE_CONFIG)
    include = prefix / "include" / "oqs"
    include.mkdir(parents=True)
    (include / "oqsconfig.h").write_text(header)
    return prefix


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ('#define OQS_VERSION_TEXT "0.12.0"\n#define OQS_ENABLE_KEM_HQC 1\n', "version 0.12.0 is older than 0.13"),
        ('#define OQS_VERSION_TEXT "0.13.0"\n/* #undef OQS_ENABLE_KEM_HQC */\n', "built without HQC"),
        ("", "version 0 is older than 0.13"),
    ],
)
def test_unfit_liboqs_is_refused_with_the_reason(tmp_path: Path, header: str, reason: str) -> None:
    output = found(tmp_path, fake_liboqs(tmp_path / "prefix", header))
    assert "dir=[]" in output
    assert reason in output


def test_newer_liboqs_with_hqc_is_taken(tmp_path: Path) -> None:
    header = '#define OQS_VERSION_TEXT "0.16.0-rc1"\n#define OQS_ENABLE_KEM_HQC 1\n'
    prefix = fake_liboqs(tmp_path / "prefix", header)
    assert f"dir=[{prefix}/lib/cmake/liboqs] refused=[]" in found(tmp_path, prefix)


def test_downstream_package_links_and_runs_without_any_environment(tmp_path: Path, liboqs_prefix: Path) -> None:
    installed = [
        Path(prefix)
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":")
        if (Path(prefix) / "share" / "liboqs_vendor" / "cmake").is_dir()
    ]
    if not installed:
        pytest.skip("liboqs_vendor is not installed: build the workspace first")
    (tmp_path / "CMakeLists.txt").write_text(DOWNSTREAM)
    (tmp_path / "show.c").write_text(SHOW)
    prefixes = os.environ["AMENT_PREFIX_PATH"].replace(":", ";")
    cmake("-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefixes}", cwd=tmp_path)
    cmake("--build", "build", cwd=tmp_path)
    cmake("--install", "build", "--prefix", str(tmp_path / "out"), cwd=tmp_path)
    result = subprocess.run(
        [str(tmp_path / "out" / "bin" / "show")], env={}, capture_output=True, text=True, timeout=20
    )
    assert result.returncode == 0, result.stderr
    version, enabled = result.stdout.split()
    assert tuple(int(part) for part in version.split("-")[0].split(".")[:2]) >= (0, 13)
    assert enabled == "1"


VENDOR = """\
macro(ament_vendor name)
  cmake_parse_arguments(_vendor "" "VCS_URL;VCS_VERSION" "CMAKE_ARGS" ${ARGN})
  message(STATUS "vendored=[${name}|${_vendor_VCS_URL}|${_vendor_VCS_VERSION}|${_vendor_CMAKE_ARGS}]")
endmacro()
"""


def test_ament_vendor_is_given_the_commit_of_the_crate_and_all_of_its_options(tmp_path: Path) -> None:
    """Where it is installed; whether upstream's repository can be reached, the build itself shows."""
    place = tmp_path / "prefix" / "share" / "ament_cmake_vendor_package" / "cmake"
    place.mkdir(parents=True)
    (place / "ament_cmake_vendor_packageConfig.cmake").write_text(VENDOR)
    prefixes = ";".join([str(tmp_path / "prefix"), *os.environ.get("AMENT_PREFIX_PATH", "").split(":")])
    said = cmake(
        *("-S", str(PACKAGE), "-B", str(tmp_path / "build"), "-DBUILD_TESTING=OFF", "-DLIBOQS_VENDOR_FORCE_BUILD=ON"),
        f"-DCMAKE_PREFIX_PATH={prefixes}",
        cwd=tmp_path,
    )
    name, url, commit, options = said.partition("vendored=[")[2].partition("]")[0].split("|")
    assert (name, url) == ("liboqs_vendor", "https://github.com/open-quantum-safe/liboqs.git")
    script = (PACKAGE / "scripts" / "build_liboqs.sh").read_text()
    assert f"readonly LIBOQS_COMMIT={commit}\n" in script and len(commit) == 40
    cache = Path(options.removeprefix("-C")).read_text()
    assert 'set(OQS_ENABLE_KEM_HQC "ON" CACHE STRING "")\n' in cache and "inject.cmake" in cache
    wanted = [line for line in (PACKAGE / "algorithms.txt").read_text().splitlines() if not line.startswith("#")]
    assert f'set(OQS_MINIMAL_BUILD "{";".join(wanted)}" ' in cache
