# SPDX-License-Identifier: Apache-2.0
"""What 'make distros' takes from pages and from this machine; no system is bootstrapped here."""

from __future__ import annotations

from pathlib import Path

import distros
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
    assert bool(distros.WARNING.search(line)) is warned


def test_the_table_has_a_column_per_system() -> None:
    table = distros.Table()
    table.set("trixie", "bootstrap", "48")
    table.set("trixie", "demo", "FAILED")
    table.set("noble", "bootstrap", "not reached")
    assert str(table).splitlines() == [
        "seconds    Debian 13  Ubuntu 24.04",
        "bootstrap  48         not reached",
        "demo       FAILED",
    ]


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
