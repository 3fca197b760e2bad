# SPDX-License-Identifier: Apache-2.0
"""The process that stays; test_up.py of pqc_mav_cli runs whole systems in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import python_process

from pqc_mav_bringup import supervise
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.ready import Ready, to_plain
from pqc_mav_bringup.respawn import ExitCode
from pqc_mav_bringup.watch import watch

# Found with tracemalloc: what the tunnel's supervisor has no use for, and what would bring it in.
NOT_NEEDED = ("yaml", "ssl", "rclpy", "importlib.metadata", "pqc_mav_bringup.systems", "pqc_mav_bringup.description")
SHOWN = "import sys; print([m for m in {names!r} if sys.modules.get(m)])"


def test_what_the_processes_say_is_shown_and_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PQCMAV_LOG_DIR", str(tmp_path))
    assert watch("gcs", prepare([python_process("a", "print('hello')")])) is ExitCode.OK
    shown = capfd.readouterr().err.splitlines()
    assert shown[0] == "gcs: a (Ctrl-C stops)" and shown[1].endswith("a | hello")
    assert (tmp_path / "gcs.log").read_text().endswith("a | hello\n")


def test_it_takes_over_under_the_same_number_and_has_little(tmp_path: Path) -> None:
    """The child looks at its parent, which the code of the supervisor has in its own command line."""
    look = "import os; print(os.getppid(), open(f'/proc/{os.getppid()}/cmdline').read().split(chr(0))[1:3])"
    (process,) = prepare([python_process("a", look)])
    code = (
        "import json, os; from pqc_mav_bringup import supervise as s; from pqc_mav_bringup.ready import from_plain; "
        f"s.prepared = lambda *_: from_plain(json.loads({json.dumps(to_plain([process]))!r})); "
        "print(os.getpid(), flush=True); s.replace_process('prog', 'gcs', {})"
    )
    environment = {**os.environ, "PQCMAV_LOG_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    said = ended.stderr.splitlines()[-1].partition(" | ")[2]
    assert said == f"{ended.stdout.strip()} ['-I', '-S']"


def test_it_imports_nothing_that_it_has_no_use_for() -> None:
    folders = [
        str(Path(str(each.__file__)).parent.parent) for each in (supervise.pqc_mav_bringup, supervise.pqc_mav_common)
    ]
    code = supervise._CODE.format(folders).replace("run; run()", "run; ") + SHOWN.format(names=NOT_NEEDED)
    ended = subprocess.run(
        [sys.executable, *supervise._FLAGS, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout.strip(), ended.stderr) == ("[]", "")


def test_a_ready_process_may_have_no_policy() -> None:
    assert watch("gcs", [Ready("a", (sys.executable, "-c", "raise SystemExit(3)"), {}, None)]) is ExitCode.FAILED
