# SPDX-License-Identifier: Apache-2.0
"""Where it listens, under which names, and what is installed with it."""

from __future__ import annotations

import hashlib
import socket

import pytest

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_dashboard.app import STATIC, page_files
from pqc_mav_dashboard.server import bound, host_names, is_loopback


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("", False), ("localhost.evil.example", False)),
    ],
)
def test_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_another_address_is_refused_and_allowed_outright() -> None:
    with pytest.raises(ProcessError, match="without encryption") as raised:
        bound("0.0.0.0", 0)
    assert raised.value.exit_code == ExitCode.CONFIG
    with bound("0.0.0.0", 0, beyond_loopback=True) as listening:
        assert listening.getsockname()[1] > 0


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ProcessError, match="choose another with --port") as raised:
            bound("127.0.0.1", other.getsockname()[1])
    assert raised.value.exit_code == ExitCode.FAILED


def test_an_address_of_another_machine_is_said() -> None:
    with pytest.raises(ProcessError, match=r"192\.0\.2\.1"):
        bound("192.0.2.1", 0, beyond_loopback=True)


def test_names() -> None:
    assert host_names("127.0.0.1", [], beyond=False) == ["127.0.0.1", "localhost", "[::1]"]
    assert host_names("10.0.0.1", ["gcs"], beyond=True)[-2:] == ["10.0.0.1", "gcs"]


def test_nothing_of_the_page_is_fetched_or_written_inline() -> None:
    """No style or script in the markup, and nothing that names another place; the browser is asked in test_page.py."""
    for path, (content, _) in page_files().items():
        text = content.decode()
        if "vendor" in path:
            continue
        places = text.replace("http://www.w3.org/2000/svg", "").replace("location.protocol", "")
        assert "http://" not in places and "https://" not in places.replace('=== "https:"', ""), path
        assert "innerHTML" not in text and "style=" not in text and "onclick=" not in text, path


def test_uplot_is_what_npm_has() -> None:
    expected = {
        "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    }
    folder = STATIC / "vendor" / "uplot"
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()} == expected
    assert "MIT" in (folder / "LICENSE").read_text()
