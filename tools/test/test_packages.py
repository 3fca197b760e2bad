# SPDX-License-Identifier: Apache-2.0
"""Every ROS package: a valid package.xml, one maintainer and version for all, and a changelog in the ROS form."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

catkin_package = pytest.importorskip("catkin_pkg.package", reason="comes with colcon")

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = sorted(path.parent for path in (ROOT / "src").glob("*/package.xml"))
SECTION = re.compile(r"Forthcoming|\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)")
EACH = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def setup_arguments(folder: Path) -> dict[str, object]:
    """The literal arguments of setup() in a package's setup.py."""
    tree = ast.parse((folder / "setup.py").read_text(encoding="utf-8"))
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "setup")
    return {word.arg: word.value.value for word in call.keywords if word.arg and isinstance(word.value, ast.Constant)}


@EACH
def test_package_xml_is_valid(folder: Path) -> None:
    warnings: list[str] = []
    package = catkin_package.parse_package(str(folder), warnings=warnings)
    assert package.name == folder.name
    assert package.package_format == 3
    assert not warnings, "\n".join(warnings)


@EACH
def test_who_made_it_where_it_is_and_under_which_licence(folder: Path) -> None:
    """bloom releases a package's folder alone: a licence that lies above it, or behind a link, would be lost."""
    package = catkin_package.parse_package(str(folder))
    assert {url.type for url in package.urls} == {"website", "repository", "bugtracker"}
    assert package.authors and len(package.maintainers) == 1
    for text in package.licenses:
        place = folder / text.file
        assert place.is_file() and not place.is_symlink(), f"src/{folder.name}/{text.file} is missing"
        assert text != "Apache-2.0" or place.read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_one_maintainer_and_one_version() -> None:
    found: dict[tuple[str, str, str], list[str]] = {}
    for folder in FOLDERS:
        package = catkin_package.parse_package(str(folder))
        for maintainer in package.maintainers:
            found.setdefault((maintainer.name, maintainer.email, package.version), []).append(f"{folder.name} (xml)")
        if (folder / "setup.py").is_file():
            given = setup_arguments(folder)
            values = (str(given["maintainer"]), str(given["maintainer_email"]), str(given["version"]))
            found.setdefault(values, []).append(f"{folder.name} (setup.py)")
    assert len(found) == 1, found


@EACH
def test_changelog(folder: Path) -> None:
    path = folder / "CHANGELOG.rst"
    assert path.is_file(), f"src/{folder.name}/CHANGELOG.rst is missing; copy the form of another package's"
    title = f"Changelog for package {folder.name}"
    bar = "^" * len(title)
    head, sections = path.read_text(encoding="utf-8").split("\n\n", 1)
    assert head == f"{bar}\n{title}\n{bar}"
    dated = [line for line in sections.splitlines() if re.match(r"\d", line)]
    version = catkin_package.parse_package(str(folder)).version
    assert dated[0].startswith(f"{version} ("), f"src/{folder.name}/CHANGELOG.rst says nothing about {version}"
    for section in sections.strip().split("\n\n"):
        name, underline, *lines = section.splitlines()
        assert SECTION.fullmatch(name), f"{name!r} is neither 'Forthcoming' nor a version with its date"
        assert underline == "-" * len(name)
        assert lines and all(line.startswith(("* ", "  ")) for line in lines), f"section {name} is no list"
