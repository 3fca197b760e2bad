# SPDX-License-Identifier: Apache-2.0
"""The quality declaration of each package (REP 2004), as bloom and rosdoc2 find it: in the package's own folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catkin_pkg.packages import find_packages

ROOT = Path(__file__).resolve().parent.parent
FILE = "QUALITY_DECLARATION.rst"
# Keys that rosdep installs by pip: the build farm has no pip, so what needs one of them is built from source.
BY_PIP = ("-pip", "mcap-ros2-support")
# ament_lint_common's set, and what looks for the same here.
LINTERS = (
    ("copyright", "the SPDX line of every source file, by tools/spdx.py; none has a copyright notice besides"),
    ("cpplint, uncrustify", "clang-format with .clang-format: Google's style with lines of 120, not ROS' 100"),
    ("cppcheck", "GCC with -Wall -Wextra -Wpedantic, sanitizers and fuzzers; cppcheck 2.10 does not parse this C++20"),
    ("flake8, pep257", "ruff, its rules of pydocstyle included, and mypy --strict"),
    ("lint_cmake", "none: four CMakeLists.txt, which every build reads"),
    ("xmllint", "package.xml by catkin_pkg, the SROS 2 policy by sros2's schema, in tests"),
)


def runs_with(package: Any) -> list[str]:
    """The keys that it needs to run."""
    return sorted({each.name for each in (*package.exec_depends, *package.build_export_depends)})


def by_pip(name: str, packages: Mapping[str, Any]) -> list[str]:
    """The keys by pip among what it and ours below it need."""
    todo, seen, found = [name], set(), set()
    while todo:
        keys = runs_with(packages[todo.pop()])
        found |= {key for key in keys if key.endswith(BY_PIP)}
        todo += [key for key in keys if key in packages and key not in seen]
        seen |= set(keys)
    return sorted(found)


def text(package: Any, packages: Mapping[str, Any]) -> str:
    """One declaration."""
    title = f"Quality declaration of {package.name}"
    pip = by_pip(package.name, packages)
    released = (
        f"It is built from source: the build farm has no pip, which brings {', '.join(pip)}."
        if pip
        else "Everything it needs comes with a distribution's packages."
    )
    lines = [
        f"{title}\n{'=' * len(title)}",
        "This package claims **quality level 4** of `REP 2004 <https://www.ros.org/reps/rep-2004.html>`_: it is\n"
        "research software, and nobody outside has reviewed it. Of the higher levels it has this:",
        f"* **Versions** follow semantic versioning; all packages have one, now {package.version}. Before 1.0.0\n"
        "  interfaces may change.\n"
        "* **Changes** come as single commits with their tests, and pass all tests and linters before they are merged\n"
        "  (``.ci/run``); CHANGELOG.rst says what users notice.\n"
        "* **Documentation**: this package's README or the pages in ``docs`` of the repository; every parameter,\n"
        "  message field and counter is described where it is defined, and tests compare the pages with it.\n"
        "  ``rosdoc2 build`` makes its pages with its defaults.\n"
        "* **Licence**: Apache-2.0 (LICENSE), named in every source file.\n"
        f"* **Tests**: ``make test PACKAGES={package.name}``; ``make release-check`` builds the source archive alone.\n"
        f"* **Dependencies** to run: {', '.join(runs_with(package)) or 'none'}.\n"
        f"  {released}\n"
        "* **Platforms**: Debian 12 and 13, Ubuntu 24.04; ROS 2 Jazzy and Kilted; x86-64, and arm64 without ROS.\n"
        "* **Security**: the repository's SECURITY.md says what is protected and how to report a hole.",
        "Linters of ament_lint_common, and what looks for the same here (``make lint``):",
        "\n".join(f"* {name}: {what}" for name, what in LINTERS),
    ]
    return "\n\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """All declarations by their path in the repository."""
    packages = {package.name: package for package in find_packages(str(ROOT / "src")).values()}
    return {f"src/{name}/{FILE}": text(package, packages) for name, package in sorted(packages.items())}
