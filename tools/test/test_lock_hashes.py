# SPDX-License-Identifier: Apache-2.0
"""Which files of a package are locked: those that a Linux machine with CPython 3.11 to 3.14 can install."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import lock_hashes
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.mark.parametrize(
    "tags",
    [
        "py3-none-any",
        "py2.py3-none-any",
        "cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp311-cp311-manylinux_2_28_aarch64",
        "cp314-cp314-manylinux2014_x86_64",
        "cp312-none-manylinux_2_28_x86_64",
        "py3-none-manylinux_2_17_aarch64",
        "cp311-abi3-manylinux1_x86_64",
    ],
)
def test_what_we_can_install_is_kept(tags: str) -> None:
    assert lock_hashes.wheel_fits(f"some_package-1.0-{tags}.whl")


@pytest.mark.parametrize(
    "tags",
    [
        "cp310-cp310-manylinux_2_28_x86_64",
        "cp315-cp315-manylinux_2_28_x86_64",
        "cp315-abi3-manylinux_2_28_x86_64",
        "cp314-cp314t-manylinux_2_28_x86_64",
        "pp311-pypy311_pp73-manylinux_2_28_x86_64",
        "py2-none-any",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp312-cp312-manylinux_2_28_armv7l",
        "cp312-cp312-macosx_11_0_arm64",
        "cp312-abi3-win_amd64",
    ],
)
def test_what_we_cannot_install_is_left_out(tags: str) -> None:
    assert not lock_hashes.wheel_fits(f"some_package-1.0-{tags}.whl")


def package(name: str, **more: Any) -> dict[str, Any]:
    def file(ending: str, digit: str) -> dict[str, Any]:
        return {"url": f"https://index.invalid/{name}-1.0{ending}", "hashes": {"sha256": digit * 64}}

    wheels = [file("-cp312-cp312-win32.whl", "c"), file("-py3-none-any.whl", "b")]
    return {"name": name, "version": "1.0", "sdist": file(".tar.gz", "a"), "wheels": wheels, **more}


def test_the_list_has_sources_and_wheels_that_fit() -> None:
    text = lock_hashes.render({"packages": [package("one"), package("two")]}, frozenset({"two"}))
    assert text == f"one==1.0 \\\n    --hash=sha256:{'a' * 64} \\\n    --hash=sha256:{'b' * 64}\n"


def test_a_package_of_other_systems_is_left_out_and_the_others_lose_their_marker() -> None:
    lock = {"packages": [package("windows", marker="sys_platform == 'win32'")]}
    assert lock_hashes.render(lock) == ""
    lock = {"packages": [package("one", marker="sys_platform != 'win32' and python_version >= '3.11'")]}
    assert lock_hashes.render(lock) == lock_hashes.render({"packages": [package("one")]})


@pytest.mark.parametrize("marker", ["python_version >= '3.12'", "platform_machine == 'x86_64'"])
def test_a_package_that_only_some_machines_need_stops_it(marker: str) -> None:
    with pytest.raises(SystemExit, match="one is needed on some of our machines only"):
        lock_hashes.render({"packages": [package("one", marker=marker)]})


def test_a_package_without_a_file_for_us_stops_it() -> None:
    lock = {"packages": [{**package("one"), "sdist": {"hashes": {"sha256": "a" * 64}}, "wheels": []}]}
    assert "a" * 64 in lock_hashes.render(lock)
    del lock["packages"][0]["sdist"]
    with pytest.raises(SystemExit, match=r"one 1\.0 has no file for our machines"):
        lock_hashes.render(lock)


def test_main_leaves_out_what_another_list_pins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = tmp_path / "pylock.toml"
    entry = '[[packages]]\nname = "{0}"\nversion = "1.0"\nsdist = {{ url = "u", hashes = {{ sha256 = "{0}" }} }}\n'
    lock.write_text(entry.format("first-one") + entry.format("second"))
    (tmp_path / "below.txt").write_text("First_One==1.0 \\\n    --hash=sha256:0\n")
    monkeypatch.setattr("sys.argv", ["lock_hashes.py", str(lock), "--without", str(tmp_path / "below.txt")])
    lock_hashes.main()
    assert capsys.readouterr().out == "second==1.0 \\\n    --hash=sha256:second\n"


def test_a_package_that_is_asked_for_with_an_extra_is_pinned_with_it() -> None:
    text = lock_hashes.render({"packages": [package("coverage")]})
    assert text.startswith("coverage[toml]==1.0 ")
    assert lock_hashes.PIN.findall(text) == ["coverage"]


def test_no_other_package_here_is_asked_for_with_an_extra() -> None:
    lists = Path(lock_hashes.__file__).resolve().parent.parent / "requirements" / "locked"
    locked = {name for each in lists.glob("*.txt") for name in lock_hashes.PIN.findall(each.read_text())}
    asked = {
        (canonicalize_name(wanted.name), f"[{','.join(sorted(wanted.extras))}]")
        for each in distributions()
        for wanted in map(Requirement, each.requires or [])
        if wanted.extras and (wanted.marker is None or wanted.marker.evaluate({"extra": ""}))
    }
    assert {each for each in asked if each[0] in locked} <= set(lock_hashes.EXTRAS.items())
