#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print a resolved pylock.toml as a requirements list: each package with the hashes of the files that we can install.

    lock_hashes.py PYLOCK [--without LIST]... [--leave-out BEGINNING]...

Those are its sources and its wheels for CPython 3.11 to 3.14 on Linux with glibc, on x86_64 and aarch64. Packages that
such a machine never needs are left out, and so are those that another LIST already pins or whose names begin so.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib
from packaging.markers import Marker
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

PYTHONS = [(3, minor) for minor in range(11, 15)]
PLATFORM = re.compile(r"any|manylinux\w*_(x86_64|aarch64)")
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
CPYTHON = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z]+\])?==", re.MULTILINE)
# Packages that another one asks for with an extra. Up to pip 23.2 at least, a pin of the name alone does not count for
# the name with its extra: pip takes the newest release and then misses its hash. pylock.toml tells nothing of extras.
EXTRAS = {"coverage": "[toml]"}  # pytest-cov


def fits(tag: Tag) -> bool:
    """Whether a wheel with this tag can be installed on one of our machines."""
    if not PLATFORM.fullmatch(tag.platform):
        return False
    tagged = re.fullmatch(r"(py|cp)3(\d*)", tag.interpreter)
    if tagged is None:
        return False
    kind, minor = tagged[1], int(tagged[2] or 0)
    if kind == "py" or tag.abi == "abi3":
        return minor <= PYTHONS[-1][1]
    return (3, minor) in PYTHONS and tag.abi in {tag.interpreter, "none"}


def wheel_fits(filename: str) -> bool:
    """The same for the name of a wheel, which may have several tags."""
    return any(fits(tag) for tag in parse_wheel_filename(filename)[3])


def hashes(package: dict[str, Any]) -> list[str]:
    """SHA-256 of the sources and of each wheel that fits."""
    files = [wheel for wheel in package.get("wheels", []) if wheel_fits(wheel["url"].rpartition("/")[2])]
    files += [package["sdist"]] if "sdist" in package else []
    return sorted(file["hashes"]["sha256"] for file in files)


def needed(package: dict[str, Any]) -> bool:
    """Whether any of our machines needs the package."""
    marker = Marker(package.get("marker", "python_version > '3'"))
    environments: Iterator[dict[str, str]] = (
        {**LINUX, **CPYTHON, "platform_machine": machine, "python_version": version, "python_full_version": version}
        for machine in ("x86_64", "aarch64")
        for version in (f"{major}.{minor}" for major, minor in PYTHONS)
    )
    verdicts = {marker.evaluate({**environment, "extra": ""}) for environment in environments}
    if len(verdicts) > 1:
        raise SystemExit(f"{package['name']} is needed on some of our machines only: {marker}")
    return verdicts.pop()


def render(lock: dict[str, Any], without: frozenset[str] = frozenset(), beginnings: tuple[str, ...] = ()) -> str:
    """The list, without the packages of these names or with these beginnings of names."""
    out = ""
    for package in lock["packages"]:
        if package["name"] in without or package["name"].startswith(beginnings) or not needed(package):
            continue
        if not (listed := hashes(package)):
            raise SystemExit(f"{package['name']} {package['version']} has no file for our machines")
        name = package["name"] + EXTRAS.get(package["name"], "")
        entry = [f"{name}=={package['version']}", *(f"    --hash=sha256:{digest}" for digest in listed)]
        out += " \\\n".join(entry) + "\n"
    return out


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pylock", type=Path)
    parser.add_argument("--without", type=Path, action="append", default=[], metavar="LIST")
    parser.add_argument("--leave-out", action="append", default=[], metavar="BEGINNING")
    options = parser.parse_args()
    if lacking := [str(file) for file in (options.pylock, *options.without) if not file.is_file()]:
        parser.error(f"no file {lacking[0]}")
    pinned = frozenset(canonicalize_name(name) for file in options.without for name in PIN.findall(file.read_text()))
    print(render(tomllib.loads(options.pylock.read_text()), pinned, tuple(options.leave_out)), end="")


if __name__ == "__main__":
    main()
