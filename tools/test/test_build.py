# SPDX-License-Identifier: Apache-2.0
"""tools/build.sh and colcon alone: which of them compiles the engine's tests, and when."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bare_machine import Fake, Run

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pqc_mav_tunnel"


def arguments(meta: Path) -> list[str]:
    """What CMake is told of the engine."""
    return list(json.loads(meta.read_text(encoding="utf-8"))["names"][PACKAGE]["cmake-args"])


def test_colcon_alone_compiles_the_tests_it_runs() -> None:
    """Said outright, because a build folder remembers what make has told it."""
    assert "-DPQCMAV_ON_DEMAND=OFF" in arguments(ROOT / "colcon.meta")


def test_make_leaves_them_to_who_asks(run: Run, fake: Fake, workspace: Path, tmp_path: Path) -> None:
    fake("readlink", "echo liboqs-key")
    calls = tmp_path / "calls"
    (workspace / "tools" / "run").write_text(f'#!/bin/bash\necho "$*" >>{calls}\n')
    (workspace / ".venv").mkdir()
    (workspace / ".venv" / ".pqcmav-stamp").touch()
    result = run("tools/build.sh", "engine_tests")
    assert result.returncode == 0, result.stderr
    _, built, on_top = calls.read_text(encoding="utf-8").splitlines()
    meta = Path(built.split("--metas ")[1].split()[0])
    alone = " ".join(arguments(ROOT / "colcon.meta"))
    assert " ".join(arguments(meta)) == alone.replace("ON_DEMAND=OFF", "ON_DEMAND=ON") != alone
    assert on_top.endswith("--target engine_tests -- --quiet")


def test_without_rclcpp_what_needs_it_is_left_out_and_said(
    run: Run, fake: Fake, workspace: Path, tmp_path: Path
) -> None:
    """colcon alone builds all; only the set-up leaves out, and a build with rclcpp follows once it is there."""
    fake("readlink", "echo liboqs-key")
    calls, prefix = tmp_path / "calls", tmp_path / "prefix"
    (workspace / "tools" / "run").write_text(
        f'#!/bin/bash\n[ "$1" = printenv ] && echo /nowhere:{prefix} || echo "$*" >>{calls}\n'
        "mkdir -p install/bin install/lib\n"
    )
    (workspace / ".venv").mkdir()
    (workspace / ".venv" / ".pqcmav-stamp").touch()
    for found in (False, False, True):
        if found:
            (prefix / "share" / "rclcpp").mkdir(parents=True)
        calls.write_text("", encoding="utf-8")
        before = (workspace / "build").is_dir()
        result = run("tools/build.sh")
        assert result.returncode == 0, result.stderr
        built = calls.read_text(encoding="utf-8")
        if before and not found:
            assert built == ""  # nothing has changed
            continue
        assert ("no rclcpp here" in result.stdout) is not found
        assert ("--packages-skip pqc_mav_proxy_cpp" in built) is not found
        meta = (workspace / ".deps" / "colcon.meta").read_text(encoding="utf-8")
        assert f"-DPQC_MAV_CPP_MESSAGES={'ON' if found else 'OFF'}" in meta


def test_a_script_runs_in_a_folder_with_a_blank_in_its_name(fake: Fake, workspace: Path, tmp_path: Path) -> None:
    assert fake
    place = workspace.rename(tmp_path / "my drones")
    python = place / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (place / ".venv" / ".pqcmav-stamp").touch()
    (place / ".deps").mkdir()
    (place / ".deps" / "liboqs").symlink_to("liboqs-key")
    script = place / "install" / "bin" / "pqcmav-sim-vehicle"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{python}\nimport sys\nprint('ran', *sys.argv[1:])\n")
    script.chmod(0o755)
    (place / "install" / "lib").mkdir()
    (place / "tools" / "run").write_text("#!/bin/bash\n")
    subprocess.run(["bash", "tools/build.sh"], cwd=place, check=True, capture_output=True, timeout=60)
    ran = subprocess.run([script, "a b"], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "ran a b\n"
