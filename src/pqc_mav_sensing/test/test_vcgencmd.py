# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_sensing import vcgencmd


@pytest.mark.parametrize(
    ("output", "active", "now", "since"),
    [
        ("throttled=0x0\n", False, 0, 0),
        ("throttled=0x50005", True, 2, 2),
        ("throttled=0x50000", False, 0, 2),
        ("throttled=0x1", False, 1, 0),
        ("throttled=0x2", True, 1, 0),
        ("throttled=0x8", True, 1, 0),
        ("throttled=0xf000f", True, 4, 4),
    ],
)
def test_bits(output: str, active: bool, now: int, since: int) -> None:
    word = vcgencmd.parse(output)
    assert word is not None and word.active is active
    assert (len(word.now), len(word.since_start)) == (now, since)


@pytest.mark.parametrize(
    "output", ["", "VCHI initialization failed", "throttled=", "throttled=0xfffffffff", "throttled=5"]
)
def test_anything_else_is_nothing(output: str) -> None:
    assert vcgencmd.parse(output) is None


def program(folder: Path, body: str) -> str:
    path = folder / "vcgencmd"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_command_that_answers_hangs_or_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = vcgencmd.read(program(tmp_path, '[ "$1" = get_throttled ] && echo throttled=0x50004'))
    assert good is not None and good.active
    monkeypatch.setattr(vcgencmd, "TIMEOUT_S", 0.1)
    assert vcgencmd.read(program(tmp_path, "exec sleep 10")) is None
    assert vcgencmd.read(str(tmp_path / "none")) is None


def test_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert vcgencmd.find() == ""
    path = program(tmp_path, "true")
    assert vcgencmd.find() == path
