# SPDX-License-Identifier: Apache-2.0
"""tools/cross_sysroot.sh: apt is asked for arm64 in folders of its own, from this system's sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bare_machine import Fake, Run

DEBIAN = """Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Architectures: amd64
"""
UBUNTU = """Types: deb
URIs: http://de.archive.ubuntu.com/ubuntu/
Suites: noble
Components: main

Types: deb
URIs: http://security.ubuntu.com/ubuntu
Suites: noble-security
Components: main
"""


@pytest.fixture
def apt(fake: Fake, tmp_path: Path) -> Path:
    """An apt that keeps what it was called with and the sources it was given, and fetches one package."""
    seen = tmp_path / "seen"
    seen.mkdir()
    (tmp_path / "bin" / "cp").symlink_to(str(shutil.which("cp")))
    fake(
        "apt-get",
        f'echo "$*" >>{seen}/calls; apt=.deps/arm64/apt; cp -r "$apt"/sources* {seen}/; : >"$apt/archives/one.deb"',
    )
    (seen / "usr" / "include").mkdir(parents=True)
    (seen / "usr" / "include" / "one.h").touch()
    fake("dpkg-deb", f"tar -c -C {seen} usr")
    return seen


def sources(tmp_path: Path, name: str, text: str) -> str:
    folder = tmp_path / "etc" / "sources.list.d"
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    (folder / "other.sources").write_text("URIs: https://example.org/amd64-only\n")
    return str(folder.parent)


def test_debian(run: Run, apt: Path, tmp_path: Path, workspace: Path) -> None:
    result = run("tools/cross_sysroot.sh", "arm64", APT_SOURCES=sources(tmp_path, "debian.sources", DEBIAN))
    assert result.returncode == 0, result.stderr
    assert (workspace / ".deps/arm64/sysroot/usr/include/one.h").exists()
    assert not (workspace / ".deps/arm64/apt").exists()
    toolchain = (workspace / ".deps/arm64/toolchain.cmake").read_text()
    assert "set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)" in toolchain and "@" not in toolchain
    assert [path.name for path in (apt / "sources.list.d").iterdir()] == ["debian.sources"], "and no third party's"
    assert (apt / "sources.list.d" / "debian.sources").read_text() == DEBIAN.replace("Architectures: amd64\n", "")
    for call in (apt / "calls").read_text().splitlines():
        assert "APT::Architecture=arm64" in call
        for folder in ("Dir::Etc", "Dir::State", "Dir::State::status", "Dir::Cache"):
            assert f"{folder}={workspace}/.deps/arm64/apt" in call, "nothing of this machine's own apt changes"


def test_ubuntu_has_arm64_on_another_server(run: Run, apt: Path, tmp_path: Path) -> None:
    result = run("tools/cross_sysroot.sh", "arm64", APT_SOURCES=sources(tmp_path, "ubuntu.sources", UBUNTU))
    assert result.returncode == 0, result.stderr
    text = (apt / "sources.list.d" / "ubuntu.sources").read_text()
    assert text.count("URIs: http://ports.ubuntu.com/ubuntu-ports\n") == 2
    assert "archive.ubuntu.com" not in text


def test_a_mirror_of_choice(run: Run, apt: Path, tmp_path: Path) -> None:
    folder = sources(tmp_path, "ubuntu.sources", UBUNTU)
    result = run("tools/cross_sysroot.sh", "arm64", APT_SOURCES=folder, CROSS_MIRROR="http://mirror.example/ports")
    assert result.returncode == 0, result.stderr
    assert (apt / "sources.list.d" / "ubuntu.sources").read_text().count("URIs: http://mirror.example/ports\n") == 2


def test_only_once(run: Run, apt: Path, tmp_path: Path) -> None:
    folder = sources(tmp_path, "debian.sources", DEBIAN)
    for _ in range(2):
        assert run("tools/cross_sysroot.sh", "arm64", APT_SOURCES=folder).returncode == 0
    assert len((apt / "calls").read_text().splitlines()) == 2, "one update, one download"


def test_no_network_is_one_line(run: Run, apt: Path, fake: Fake, tmp_path: Path, workspace: Path) -> None:
    fake("apt-get", "echo 'E: Failed to fetch: Temporary failure resolving'; exit 100")
    result = run("tools/cross_sysroot.sh", "arm64", APT_SOURCES=sources(tmp_path, "debian.sources", DEBIAN))
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "no network?" in result.stderr
    assert not (workspace / ".deps/arm64/.complete").exists()
    assert not (apt / "calls").exists()
