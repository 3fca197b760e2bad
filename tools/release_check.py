# SPDX-License-Identifier: Apache-2.0
"""What a build farm does with a release: each package's source archive builds alone, with its declared dependencies.

    release_check.py [PACKAGE...]     all, or these with what they need of ours

Needs root (make release-check). Each package gets a bare Debian with the Debian packages of its declared keys, our
packages that it declares, and the wheels' prefix in place of /opt/ros; the archive is git's, of the last commit. A
package that cannot be built here has to fail with a sentence, and is named at the end. Installed has to be what is in
the archive: an empty success is a failure. Outputs and installed packages are in .deps/release-check.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catkin_pkg.topological_order import topological_order
from chroot import CCACHE, PATH, THROUGH_CCACHE, Chroot, compiler_cache
from two_ends import TestError, check, with_own_mounts

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".deps" / "release-check"
LIMIT_S = 3000
PREFIX = "/opt/pqcmav"
# What every package of a build farm finds: Debian's build-essential, and what ROS's own build packages bring.
BASE = ("build-essential", "cmake", "ninja-build", "python3", "python3-dev", "ca-certificates")
# rosdep key -> package of Debian 12; keys of the tests and of running are not needed to build.
DEBIAN = {
    "cargo": "cargo-web",  # Debian's cargo is older than the registry's index
    "libssl-dev": "libssl-dev",
    "nlohmann-json-dev": "nlohmann-json3-dev",
    "pybind11-dev": "pybind11-dev",
    "python3-dev": "python3-dev",
    "yaml-cpp": "libyaml-cpp-dev",
}
# Not among the wheels of ROS 2: what declares it must say so when it is built without.
NOT_HERE = "rclcpp"


def build_keys(package: Any) -> set[str]:
    """What is there when it is built, without what only runs or tests."""
    kinds = (package.buildtool_depends, package.build_depends, package.build_export_depends)
    return {depend.name for kind in kinds for depend in kind}


def needed(name: str, packages: Mapping[str, Any], keys: set[str] | None = None) -> tuple[list[str], set[str]]:
    """Ours that a build needs, and all their keys: what a dependency exports is there, too, as on a build farm."""
    ours: list[str] = []
    found = set(build_keys(packages[name]) if keys is None else keys)
    todo = [key for key in sorted(found) if key in packages]
    while todo:
        each = todo.pop()
        if each in ours:
            continue
        ours.append(each)
        exported = {depend.name for depend in (*packages[each].build_export_depends, *packages[each].exec_depends)}
        found |= exported
        todo += [key for key in sorted(exported) if key in packages]
    return ours, found


def build_lines(package: Any, environment: Mapping[str, str]) -> str:
    """The shell's lines that build and install it, in the way of its declared build type."""
    exports = "".join(f"export {name}='{value}'\n" for name, value in environment.items())
    place = f"{PREFIX}/{package.name}"
    if package.get_build_type() == "ament_python":
        how = f"python3 setup.py -q install --prefix={place} --single-version-externally-managed --record=/build/files"
    else:
        how = (
            f"cmake -G Ninja -S . -B /build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF"
            f" -DCMAKE_INSTALL_PREFIX={place} -DCMAKE_PROJECT_INCLUDE=/release/workspace.cmake"
            f" && cmake --build /build -j{os.cpu_count()} && cmake --install /build >/dev/null"
        )
    return f"set -e\n{exports}mkdir -p /build\ncd /source\n{how}\n"


def environment_of(ours: list[str], venv: Path) -> dict[str, str]:
    """ROS's, as its setup file would make it, with ours that are declared over it."""
    prefixes = [f"{PREFIX}/{name}" for name in ours]
    libraries = [*map(str, sorted(venv.glob("lib/python3*/site-packages/ros_*.libs"))), f"{venv}/lib"]
    modules = [f"{prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages" for prefix in prefixes]
    return {
        "AMENT_PREFIX_PATH": ":".join([*prefixes, str(venv)]),
        "CMAKE_PREFIX_PATH": ":".join([*prefixes, str(venv)]),
        "LD_LIBRARY_PATH": ":".join([*(f"{prefix}/lib" for prefix in prefixes), *libraries]),
        "PYTHONPATH": ":".join(modules),
        "PATH": f"{venv}/bin:{PATH}",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        "HOME": "/root",
    }


def whole(package: Any, archive: Path, installed: Path) -> None:
    """What is installed is the package: every module and message that the archive has, or the libraries it makes."""
    name = package.name
    check((installed / "share" / name / "package.xml").is_file(), f"{name}: no package.xml is installed")
    marker = installed / "share/ament_index/resource_index/packages" / name
    check(marker.is_file(), f"{name}: the ament index does not know it")
    if package.get_build_type() == "ament_python":
        (place,) = installed.glob(f"lib/python3*/site-packages/{name}")
        wanted = [path for path in (archive / name).rglob("*") if path.is_file()]
        lacking = [path for path in wanted if not (place / path.relative_to(archive / name)).is_file()]
        check(bool(wanted) and not lacking, f"{name}: not installed: {', '.join(str(path) for path in lacking[:5])}")
        return
    messages = [path for kind in ("msg", "srv", "action") for path in (archive / kind).glob(f"*.{kind}")]
    for path in messages:
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in path.stem).lstrip("_")
        for ending in ("h", "hpp"):
            header = installed / "include" / name / name / path.suffix[1:] / f"{snake}.{ending}"
            check(header.is_file(), f"{name}: {header} is not installed")
    libraries = [path for path in installed.rglob("*") if path.suffix in (".so", ".a") or ".so." in path.name]
    check(bool(libraries), f"{name}: no library is installed")


class Build:
    """One package in a system of its own."""

    def __init__(self, package: Any, packages: Mapping[str, Any], tar: Path) -> None:
        self.package, self.packages, self.tar = package, packages, tar
        self.folder = OUTPUT / "root"
        self.installed = OUTPUT / "installed" / package.name

    def run(self) -> str:
        """Build and look; return how it went. Raises TestError."""
        name = self.package.name
        ours, keys = needed(name, self.packages)
        lacking = [each for each in ours if not (OUTPUT / "installed" / each).is_dir()]
        check(not lacking, f"{name}: needs {', '.join(lacking)}, which could not be built")
        shutil.rmtree(self.installed, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        venv = ROOT / ".venv"
        system = Chroot(self.tar, self.folder)
        with system.mounted():
            system.run("apt-get", "-qq", "update")
            debian = [*BASE, *sorted(DEBIAN[key] for key in keys & set(DEBIAN))]
            cached = compiler_cache("release-check")
            debian += ["ccache"] if cached else []
            system.run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *debian)
            self._mount(system, venv, str(venv), "ro")
            for each in ours:
                self._mount(system, OUTPUT / "installed" / each, f"{PREFIX}/{each}", "ro")
            source = system.path("source")
            source.mkdir()
            archive = subprocess.run(
                ["git", "-C", ROOT, "archive", f"HEAD:src/{name}"], stdout=subprocess.PIPE, check=True
            )
            subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
            system.path("release").mkdir(exist_ok=True)
            shutil.copy(ROOT / "tools/cmake/workspace.cmake", system.path("release/workspace.cmake"))
            environment = environment_of(ours, venv)
            if cached:
                cached.mkdir(parents=True, exist_ok=True)
                self._mount(system, cached, f"/{CCACHE}", "rw")
                environment |= THROUGH_CCACHE
            return self._build(system, environment, source)

    def _mount(self, system: Chroot, here: Path, there: str, how: str) -> None:
        system.path(there[1:]).mkdir(parents=True, exist_ok=True)
        system.mount(there[1:], "-o", f"bind,{how}", str(here))

    def _build(self, system: Chroot, environment: Mapping[str, str], source: Path) -> str:
        name, log = self.package.name, OUTPUT / f"{self.package.name}.log"
        system.path("build.sh").write_text(build_lines(self.package, environment), encoding="utf-8")
        with log.open("w", encoding="utf-8") as file:
            command = system.command("bash", "/build.sh")
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False,
                timeout=LIMIT_S, env=system.environment(),
            )  # fmt: skip
        said = log.read_text(encoding="utf-8", errors="replace")
        if NOT_HERE in build_keys(self.package):
            check(done.returncode != 0, f"{name} was built without {NOT_HERE}: an empty success ({log})")
            check(f"There is no {NOT_HERE} here" in said, f"{name} failed without saying why ({log})")
            return f"not built: {NOT_HERE} is not among the wheels, and it says so"
        last = "\n".join(said.splitlines()[-15:])
        check(done.returncode == 0, f"{name}: the build ended with {done.returncode} ({log}):\n{last}")
        staged = system.path(f"{PREFIX[1:]}/{name}")
        whole(self.package, source, staged)
        shutil.copytree(staged, self.installed, symlinks=True)
        return "built"


def main(words: list[str]) -> int:
    """All packages, each after what it needs; the exit code."""
    parser = argparse.ArgumentParser(description="Build each package's source archive alone.")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    asked = parser.parse_args(words).packages
    packages = {package.name: package for _, package in topological_order(str(ROOT / "src"))}
    unknown = sorted(set(asked) - set(packages))
    check(not unknown, f"no package {', '.join(unknown)}; there are {', '.join(packages)}")
    wanted = {each for name in asked or packages for each in (name, *needed(name, packages)[0])}
    arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    failed = []
    for name, package in packages.items():
        if name not in wanted:
            continue
        start = time.monotonic()
        try:
            how = Build(package, packages, ROOT / f".deps/debian/{arch}.tar").run()
        except (TestError, subprocess.SubprocessError) as error:
            how = "FAILED"
            failed.append(name)
            print(f"error: {error}", file=sys.stderr)
        finally:
            shutil.rmtree(OUTPUT / "root", ignore_errors=True)
        print(f"{name}: {how} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(wanted) - len(failed)} of {len(wanted)} packages are as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    with_own_mounts()
    try:
        sys.exit(main(sys.argv[1:]))
    except TestError as error:
        sys.exit(f"error: {error}")
