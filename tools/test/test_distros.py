# SPDX-License-Identifier: Apache-2.0
"""What 'make distros' takes from pages and from this machine; no system is bootstrapped here."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import distros
import distros_system
import pytest
import two_ends
from bare_machine import Fake, Run, assert_one_error
from chroot import Chroot


def test_the_readme_shows_two_commands_that_make_has() -> None:
    targets = (distros.ROOT / "Makefile").read_text(encoding="utf-8")
    commands = distros.commands_of_the_readme()
    assert [command.split()[0] for command in commands] == ["make", "make"]
    for command in commands:
        assert f"\n{command.split()[1]}:" in targets


def test_a_page_with_other_commands_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distros, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text("\n## Two commands\n\n```\nmake demo\n```\n")
    with pytest.raises(two_ends.TestError, match="shows 1 commands"):
        distros.commands_of_the_readme()


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ("/home/guest/pqcmav/src/a.cpp:3:5: warning: unused variable 'x' [-Wunused-variable]", True),
        ("CMake Warning (dev) at CMakeLists.txt:5 (find_package):", True),
        ("CMake Deprecation Warning at CMakeLists.txt:1 (cmake_minimum_required):", True),
        ("setup.py:3: DeprecationWarning: module 'imp' is deprecated", True),
        ("-- Performing Test no_warning: Success", False),
        ("[3/9] Building CXX object warning.cpp.o", False),
    ],
)
def test_what_counts_as_a_warning(line: str, warned: bool) -> None:
    assert bool(distros_system.WARNING.search(line)) is warned


@pytest.mark.parametrize(
    ("said", "total"),
    [
        ("ok   pytest tools: 3 passed, 0 failed, 0 skipped in 2 s\n12 passed, 0 failed, 1 skipped\n", "12 passed"),
        ("12 passed, 1 failed, 1 skipped\n", None),
        ("ok   pytest tools: 3 passed, 0 failed, 0 skipped in 2 s\n", None),
    ],
)
def test_only_totals_without_a_failure_count(said: str, total: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    system = distros.System.__new__(distros.System)
    monkeypatch.setattr(system, "says", lambda command, name: said)
    if total:
        assert distros.tested(system, "make test").startswith(total)
    else:
        with pytest.raises(two_ends.TestError, match="names no totals"):
            distros.tested(system, "make test")


def test_each_system_has_its_tests_and_they_exist() -> None:
    assert distros.tests_of("trixie") == "make test"
    for name in distros.PLATFORM:
        assert name in distros.tests_of("noble")
        assert list((distros.ROOT / "src" / name / "test").glob("**/test_*"))


def test_a_failed_step_ends_its_part_and_is_in_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing(distros.System):
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def mounted(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
            return contextlib.nullcontext()

        def versions(self) -> dict[str, str]:
            return {"GCC": "14.2.0"}

    def fails() -> None:
        raise two_ends.TestError("it did not fly")

    def steps_of(part: str, *_: object) -> distros.Steps:
        if part == "sudo":
            return {"demo": fails, "setup": lambda: None}
        return {"refused": lambda: None, "tests": lambda: "3 passed"}

    base = tmp_path / "tools" / "debian_base.sh"
    base.parent.mkdir()
    tar = tmp_path / ".deps" / "debian" / "trixie-amd64.tar"
    tar.parent.mkdir(parents=True)
    base.write_text(f"#!/bin/sh\n[ $2 = trixie ] || exit 3\n[ -e {tar} ] || : >{tar}\n")
    base.chmod(0o755)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@test.invalid")
    subprocess.run(["git", "-C", tmp_path, *who, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    monkeypatch.setattr(distros, "ROOT", tmp_path)
    monkeypatch.setattr(distros, "OUTPUT", tmp_path / ".deps" / "distros")
    monkeypatch.setattr(distros, "System", Nothing)
    monkeypatch.setattr(distros, "steps_of", steps_of)
    monkeypatch.setattr(distros, "alone", lambda: None)
    monkeypatch.setattr(distros, "tests_of", lambda release: f"tests of {release}")
    monkeypatch.setattr("sys.argv", ["distros.py", "--record", "trixie", "noble"])
    assert distros.main() == 1
    assert not list(tmp_path.glob(".deps/distros/*.root"))
    for name in distros.PAGES:
        lines = (tmp_path / name).read_text().splitlines()
        for line in (
            "|  | Debian 12 | Debian 13 | Ubuntu 24.04 | Ubuntu 26.04 |",
            "| GCC | ? | 14.2.0 | ? | ? |",
            "| bootstrap | not run | 0 s | archive not reached | not run |",
            "| demo | not run | FAILED | not run | not run |",
            "| setup | not run | not run | not run | not run |",
            "| refused | not run | 0 s | not run | not run |",
            "| tests | not run | 3 passed, 0 s | not run | not run |",
        ):
            assert line in lines
    # A later run of one part leaves the others as they were, and CI's part leaves the table as it was.
    monkeypatch.setattr("sys.argv", ["distros.py", "--part", "plain", "trixie"])
    assert distros.main() == 0
    before = (tmp_path / distros.PAGES[0]).read_text()
    assert "| demo | not run | FAILED |" in before and "| bootstrap | not run | made before |" in before
    monkeypatch.setattr("sys.argv", ["distros.py", "--quick", "trixie"])
    assert distros.main() == 0
    assert (tmp_path / distros.PAGES[0]).read_text() == before


def test_a_system_gets_settings_for_the_network_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = Chroot.__new__(Chroot)
    system.root = tmp_path
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "certificates").touch()
    for name in ("PIP_CERT", "SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "HTTPS_PROXY", "ROS_DISTRO", "PYTHONPATH"):
        monkeypatch.setenv(name, f"/etc/{name}")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/certificates")
    given = system.environment(HOME="/home/guest")
    assert given["https_proxy"] == "http://proxy.example:3128" and given["HOME"] == "/home/guest"
    assert given["SSL_CERT_FILE"] == "/etc/certificates"
    assert not {"PIP_CERT", "CARGO_HTTP_CAINFO", "ROS_DISTRO", "PYTHONPATH"} & set(given), "no such file inside"


def test_without_root_ci_goes_on_and_make_says_why_not(run: Run, fake: Fake) -> None:
    fake("id", "echo 1000")
    quick = run("tools/distros.sh", "--quick", "trixie")
    assert (quick.returncode, quick.stderr) == (0, "")
    assert "skipped" in quick.stdout and len(quick.stdout.splitlines()) == 1
    assert_one_error(run("tools/distros.sh"), "sudo make distros")


def test_an_archive_that_cannot_be_reached_is_told_from_an_error(run: Run, fake: Fake) -> None:
    fake("id", "echo 0")
    fake("dpkg", "echo amd64")
    fake("mmdebstrap", "echo called >called")
    result = run("tools/debian_base.sh", "amd64", "noble", UBUNTU_MIRROR="http://127.0.0.1:9/ubuntu")
    assert (result.returncode, result.stdout, result.stderr) == (distros.NOT_REACHED, "", "")


def test_the_commit_is_one_that_others_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(folder: Path, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@test.invalid")
        command = ["git", "-C", str(folder), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git(tmp_path, "init", "-q", "-b", "main", "theirs")
    git(tmp_path / "theirs", "commit", "-q", "--allow-empty", "-m", "a")
    monkeypatch.setattr(distros, "ROOT", tmp_path / "theirs")
    theirs = git(tmp_path / "theirs", "rev-parse", "HEAD")[:8]
    assert distros.commit_of_the_clone() == theirs, "without upstream"
    git(tmp_path, "clone", "-q", "theirs", "ours")
    monkeypatch.setattr(distros, "ROOT", tmp_path / "ours")
    assert distros.commit_of_the_clone() == theirs
    git(tmp_path / "ours", "commit", "-q", "--allow-empty", "-m", "b")
    assert distros.commit_of_the_clone() == f"{theirs}+1"


def test_every_system_has_apt_which_ubuntu_does_not_require(run: Run, fake: Fake, tmp_path: Path) -> None:
    fake("id", "echo 0")
    fake("dpkg", "echo amd64")
    fake("mmdebstrap", 'printf "%s\\n" "$@" >called')
    fake("mv", "true")
    assert run("tools/debian_base.sh", "amd64").returncode == 0
    (called,) = tmp_path.rglob("called")
    assert "--include=apt" in called.read_text().splitlines()
