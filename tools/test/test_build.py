# SPDX-License-Identifier: Apache-2.0
"""tools/build.sh and colcon alone: which of them compiles the engine's tests, and when."""

from __future__ import annotations

import json
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
    built, on_top = calls.read_text(encoding="utf-8").splitlines()
    meta = Path(built.split("--metas ")[1].split()[0])
    alone = " ".join(arguments(ROOT / "colcon.meta"))
    assert " ".join(arguments(meta)) == alone.replace("ON_DEMAND=OFF", "ON_DEMAND=ON") != alone
    assert on_top.endswith("--target engine_tests -- --quiet")
