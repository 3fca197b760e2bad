# SPDX-License-Identifier: Apache-2.0
"""What the command says in the Debian package, which has neither ROS 2 nor the packages that need it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import DEADLINE_S

LEFT_OUT = {f"pqc_mav_{name}" for name in ("bench", "detect", "interfaces", "policy", "policy_lab", "recorder", "sim")}
LEFT_OUT |= {"mcap", "numpy", "psutil", "pymavlink", "smbus2", "yaml"}
CODE = f"""
import sys
sys.modules["rclpy"] = None
class LeftOut:
    def find_spec(self, name, path=None, target=None):
        if name in {LEFT_OUT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, LeftOut())
from pqc_mav_cli.entry import run
run()
"""
ENVIRONMENT = {**os.environ, "PQCMAV_WITHOUT_ROS": "1"}


def said(words: Sequence[str]) -> str:
    """The one line that a refused command says."""
    ended = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        capture_output=True, text=True, timeout=DEADLINE_S, env=ENVIRONMENT, check=False,
    )  # fmt: skip
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1), ended.stderr
    return ended.stderr


@pytest.mark.parametrize("words", [["up", "drone"], ["up", "gcs", "--check"], ["up", "demo"]])
def test_an_end_is_a_service_there(words: list[str]) -> None:
    assert "is not in the Debian package" in said(words) and "systemctl start" in said(words)


@pytest.mark.parametrize(
    "words", [["record"], ["dashboard", "--replay", "f.mcap"], ["bench", "list"], ["policy", "watch"]]
)
def test_what_needs_other_packages_says_so(words: list[str]) -> None:
    assert "is not in the Debian package: it needs the workspace" in said(words)


def test_the_dashboard_is_served(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CODE, "dashboard", "--port", "0"],
        stderr=subprocess.PIPE, text=True, env={**ENVIRONMENT, "XDG_RUNTIME_DIR": str(tmp_path)},
    ) as server:  # fmt: skip
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split()[-1]
            with urllib.request.urlopen(address, timeout=DEADLINE_S) as page:
                assert b"<html" in page.read()
        finally:
            server.send_signal(signal.SIGINT)
