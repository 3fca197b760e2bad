# SPDX-License-Identifier: Apache-2.0
"""What 'make release-check' gives a build, and what it takes for whole; no system is bootstrapped here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("catkin_pkg", reason="comes with colcon")

import release_check
from two_ends import TestError


def package(name: str, build: tuple[str, ...] = (), runs: tuple[str, ...] = (), kind: str = "ament_python") -> Any:
    def depends(names: tuple[str, ...]) -> list[Any]:
        return [SimpleNamespace(name=each) for each in names]

    return SimpleNamespace(
        name=name, buildtool_depends=[], build_depends=depends(build), build_export_depends=[],
        exec_depends=depends(runs), get_build_type=lambda: kind,
    )  # fmt: skip


def test_a_build_gets_what_is_declared_and_what_that_exports() -> None:
    packages = {
        each.name: each for each in (package("a", ("b",)), package("b", (), ("c", "x")), package("c"), package("d"))
    }
    ours, keys = release_check.needed("a", packages)
    assert (sorted(ours), keys) == (["b", "c"], {"b", "c", "x"})
    assert release_check.needed("c", packages) == ([], set())


def installed(root: Path, *names: str) -> Path:
    for name in ("share/p/package.xml", "share/ament_index/resource_index/packages/p", *names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_a_module_that_is_not_installed_fails(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    for name in ("__init__.py", "deep/data.csv"):
        (archive / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (archive / "p" / name).touch()
    place = "lib/python3.11/site-packages/p"
    root = installed(tmp_path / "root", f"{place}/__init__.py")
    with pytest.raises(TestError, match=r"not installed: .*data\.csv"):
        release_check.whole(package("p"), archive, root)
    release_check.whole(package("p"), archive, installed(root, f"{place}/deep/data.csv"))


def test_an_empty_success_fails(tmp_path: Path) -> None:
    (tmp_path / "archive" / "msg").mkdir(parents=True)
    cmake = package("p", kind="ament_cmake")
    with pytest.raises(TestError, match=r"no package\.xml"):
        release_check.whole(cmake, tmp_path / "archive", tmp_path)
    root = installed(tmp_path / "root")
    with pytest.raises(TestError, match="no library"):
        release_check.whole(cmake, tmp_path / "archive", root)
    installed(root, "lib/libp.so")
    (tmp_path / "archive" / "msg" / "BigThing.msg").touch()
    with pytest.raises(TestError, match=r"big_thing\.h is not installed"):
        release_check.whole(cmake, tmp_path / "archive", root)
    release_check.whole(
        cmake, tmp_path / "archive", installed(root, *(f"include/p/p/msg/big_thing.{e}" for e in ("h", "hpp")))
    )
