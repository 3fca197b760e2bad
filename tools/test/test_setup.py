# SPDX-License-Identifier: Apache-2.0
"""The set-up on machines that lack something: one clear line, nothing half done."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from bare_machine import Fake, Run, assert_one_error, without


@pytest.fixture
def plain_user(fake: Fake, tmp_path: Path) -> Path:
    """A user who cannot become root, on a machine with apt. Returns the file that a call of apt-get would make."""
    called = tmp_path / "apt-get-was-called"
    fake("id", "echo 1000")
    fake("apt-get", f": >{called}; exit 1")
    fake("apt-cache", "[ \"${!#}\" = '^cargo-web$' ] && echo 'cargo-web - Rust package manager'")
    return called


def library_at(workspace: Path, *options: str) -> Path:
    """A finished build of liboqs, as far as the set-up looks: the whole, or with --demo the first demo's."""
    script = workspace / "src" / "liboqs_vendor" / "scripts" / "build_liboqs.sh"
    command = [str(script), "--key", *options]
    key = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    built = workspace / ".deps" / f"liboqs-{key}"
    built.mkdir(parents=True)
    (built / ".complete").write_text(key)
    return built


def test_complete_machine_needs_nothing(run: Run, fake: Fake, plain_user: Path) -> None:
    fake("cargo", "exit 0")
    result = run("tools/setup_system.sh")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not plain_user.exists()


def test_missing_compiler_names_the_package(run: Run, fake: Fake, plain_user: Path, tmp_path: Path) -> None:
    fake("cargo", "exit 0")
    without(tmp_path, "g++", "ninja")
    assert_one_error(run("tools/setup_system.sh"), "sudo apt-get install g++ ninja-build'")
    assert not plain_user.exists()


@pytest.mark.usefixtures("plain_user")
def test_missing_cargo_names_the_one_that_works_here(run: Run) -> None:
    assert_one_error(run("tools/setup_system.sh"), "missing: cargo-web")


@pytest.mark.usefixtures("plain_user")
def test_cargo_is_not_asked_for_when_liboqs_is_there(run: Run, workspace: Path) -> None:
    library_at(workspace)
    assert run("tools/setup_system.sh").returncode == 0


@pytest.mark.usefixtures("plain_user")
def test_a_first_demos_liboqs_does_not_spare_the_whole_its_cargo(run: Run, workspace: Path) -> None:
    library_at(workspace, "--demo")
    assert run("tools/setup_system.sh", "demo").returncode == 0
    assert_one_error(run("tools/setup_system.sh"), "missing: cargo-web")


def test_system_without_apt_is_told_the_names(run: Run, fake: Fake, tmp_path: Path) -> None:
    fake("cargo", "exit 0")
    without(tmp_path, "cmake")
    assert_one_error(run("tools/setup_system.sh"), "missing: cmake", "package manager")


def test_root_installs_only_what_is_missing(run: Run, fake: Fake, tmp_path: Path) -> None:
    fake("id", "echo 0")
    fake("cargo", "exit 0")
    without(tmp_path, "ninja")
    log = tmp_path / "apt.log"
    fake("apt-get", f'echo "$*" >>{log}\nln -s /bin/true {tmp_path}/bin/ninja')
    result = run("tools/setup_system.sh")
    assert result.returncode == 0, result.stderr
    assert log.read_text().split()[-1] == "ninja-build"
    assert len(log.read_text().splitlines()) == 1


def test_failing_apt_is_one_line(run: Run, fake: Fake, tmp_path: Path) -> None:
    fake("id", "echo 0")
    fake("cargo", "exit 0")
    without(tmp_path, "ninja")
    fake("apt-get", 'echo "E: Temporary failure resolving the mirror, an error" >&2; exit 100')
    assert_one_error(run("tools/setup_system.sh"), "no network?", "apt-get install ninja-build")


def test_old_ros_is_refused_before_anything_is_touched(run: Run, workspace: Path) -> None:
    result = run("tools/setup.sh", ROS_DISTRO="humble", AMENT_PREFIX_PATH="/opt/ros/humble")
    assert_one_error(result, "ROS_DISTRO=humble is too old", "Jazzy")
    assert not (workspace / ".deps").exists()


def test_ros_that_is_not_sourced_is_refused_unless_it_comes_as_wheels(run: Run, workspace: Path) -> None:
    assert_one_error(run("tools/setup.sh", ROS_DISTRO="lyrical"), "ROS_DISTRO=lyrical", "jazzy or kilted")
    assert not (workspace / ".deps").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize(("folder", "advice"), [("", "clone the repository"), (".deps", "sudo chown -R")])
def test_a_clone_of_another_user_is_one_sentence(workspace: Path, folder: str, advice: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        clone = Path(place) / "clone"
        shutil.copytree(workspace, clone)
        (clone / ".deps").mkdir()
        if folder:
            clone.chmod(0o777)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bash", str(clone / "tools/setup.sh")]
        result = subprocess.run(other, capture_output=True, text=True, timeout=60, cwd=place)
        assert_one_error(result, f"{clone / folder} belongs to root, and nobody cannot write to it", advice)


def test_unusable_python_is_refused(run: Run, workspace: Path) -> None:
    assert_one_error(run("tools/setup_python.sh", PYTHON="/bin/false"), "PYTHON=/bin/false", "python3-venv")
    assert not (workspace / ".venv").exists()


def test_unknown_part_is_refused(run: Run, workspace: Path) -> None:
    assert_one_error(
        run("tools/setup.sh", "tests"),
        "no part 'tests'",
        "demo, analysis, dashboard, test, chaos, lint, detect, train, benchmarks and packages",
    )
    assert not (workspace / ".deps").exists()


PIP = """case "$*" in
  *"-m venv"*) mkdir -p "${!#}/bin"; cp "$0" "${!#}/bin/python" ;;
  *"-m pip"*) echo "$*" >>"$HOME/pip-calls" ;;
  *platform*) echo 3.11.0 ;;
esac"""


def test_python_layers_are_installed_once_and_stay(run: Run, fake: Fake, tmp_path: Path, workspace: Path) -> None:
    fake("python", PIP)
    fake("cp", f'exec {shutil.which("cp")} "$@"')
    python = str(tmp_path / "bin" / "python")
    calls = tmp_path / "pip-calls"

    def installed(*layers: str, **extra: str) -> list[str]:
        calls.write_text("")
        result = run("tools/setup_python.sh", *layers, PYTHON=python, **extra)
        assert result.returncode == 0, result.stderr
        return [
            sorted(re.findall(r"requirements/locked/([\w-]+)\.txt", line))
            for line in calls.read_text().splitlines()
            if "--require-hashes" in line
        ]

    # Debian packages are made without ROS 2, which has no wheels for ARM.
    assert installed("packages") == [["system"]]
    assert installed("packages") == []
    assert installed() == [["ros-jazzy", "system", "wheels"]]
    (workspace / ".venv/.pqcmav-packages").unlink()
    assert installed() == installed("packages") == []
    built = workspace / "build"
    built.mkdir()
    assert installed("analysis", "test") == [["analysis", "test"], ["test-nodeps"]]
    assert installed() == installed("test", "analysis") == []
    (workspace / "requirements" / "locked" / "test.txt").write_text("pytest\n")
    assert installed("analysis") == []
    assert installed("test") == [["test"], ["test-nodeps"]]
    assert installed("lint") == [["lint", "test"]]
    assert built.exists(), "nothing of this is a new interpreter"
    assert installed(ROS_DISTRO="kilted") == [["ros-kilted", "system", "wheels"]]
    assert not built.exists(), "what was built on another ROS 2 is of no use"
    # In a shell that has sourced tools/env.sh the wheels are on the path of ROS 2, and are no installation.
    own = f"{workspace}/install:{workspace}/.venv"
    assert installed(ROS_DISTRO="kilted", AMENT_PREFIX_PATH=own) == []


@pytest.mark.slow
def test_no_network_for_pip_is_one_line_and_resumable(run: Run, workspace: Path) -> None:
    offline = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    assert_one_error(run("tools/setup_python.sh", **offline), "no network?", ".deps/log/pip.log")
    # What was made so far is kept, and not taken for complete.
    made = (workspace / ".venv" / "pyvenv.cfg").stat().st_mtime_ns
    assert_one_error(run("tools/setup_python.sh", **offline), "no network?")
    assert (workspace / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made


@pytest.mark.usefixtures("plain_user")
def test_no_network_for_cargo_is_one_line(run: Run, fake: Fake) -> None:
    fake("cargo", '[ "$1" = fetch ] || { echo cargo 1.80; exit; }\necho "error: failed to resolve host" >&2; exit 101')
    result = run("tools/setup_liboqs.sh", PQCMAV_BUILD_LIBOQS="1")
    assert_one_error(result, "liboqs", "no network", "failed to resolve host")


def test_a_first_demos_liboqs_serves_the_demo_and_is_replaced_by_the_whole(run: Run, workspace: Path) -> None:
    def used() -> Path:
        return (workspace / ".deps" / "liboqs").readlink()

    few = library_at(workspace, "--demo")
    assert run("tools/setup_liboqs.sh", "--ready", "demo", PQCMAV_BUILD_LIBOQS="1").returncode == 0
    assert run("tools/setup_liboqs.sh", "--ready", PQCMAV_BUILD_LIBOQS="1").returncode == 1
    assert run("tools/setup_liboqs.sh", "demo", PQCMAV_BUILD_LIBOQS="1").returncode == 0
    assert used() == few
    whole = library_at(workspace)
    assert run("tools/setup_liboqs.sh", PQCMAV_BUILD_LIBOQS="1").returncode == 0
    assert used() == whole
    # A later demo does not go back to fewer algorithms.
    assert run("tools/setup_liboqs.sh", "demo", PQCMAV_BUILD_LIBOQS="1").returncode == 0
    assert used() == whole


def test_liboqs_unknown_word_is_refused(run: Run) -> None:
    assert_one_error(run("tools/setup_liboqs.sh", "all"), "unknown argument all")


def test_where_there_are_no_wheels_nothing_is_deleted(run: Run, fake: Fake, workspace: Path) -> None:
    fake("uname", "echo aarch64")
    for folder in (".venv", "build", "install"):
        (workspace / folder).mkdir()
    (workspace / ".venv" / ".pqcmav-stamp").write_text("system jazzy as it was\n")
    assert_one_error(run("tools/setup_python.sh"), "wheels of ROS 2 are for x86-64 alone", "/opt/ros/jazzy/setup.bash")
    assert all((workspace / folder).is_dir() for folder in (".venv", "build", "install"))
