# SPDX-License-Identifier: Apache-2.0
"""`pqcmav dashboard`: what it refuses. What it serves is tested in its own package."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from commands import DEADLINE_S, refused

WITHOUT_STARLETTE = [
    sys.executable,
    "-c",
    "import sys; sys.modules['starlette'] = None; from pqc_mav_cli.entry import run; run()",
]


def test_another_address_needs_an_option() -> None:
    assert "--beyond-loopback" in refused(2, "dashboard", "--bind", "0.0.0.0")


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert "choose another with --port" in refused(1, "dashboard", "--port", str(other.getsockname()[1]))


def test_what_is_no_recording(tmp_path: Path) -> None:
    assert "Cannot read" in refused(1, "dashboard", "--replay", str(tmp_path / "none.mcap"))
    (tmp_path / "text.mcap").write_text("no recording")
    assert "is not an MCAP recording" in refused(1, "dashboard", "--replay", str(tmp_path / "text.mcap"))


def test_without_a_web_server_it_says_what_to_install() -> None:
    ended = subprocess.run(
        [*WITHOUT_STARLETTE, "dashboard"], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert ended.returncode == 1 and "needs starlette; 'make setup'" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
