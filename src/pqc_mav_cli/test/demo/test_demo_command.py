# SPDX-License-Identifier: Apache-2.0
"""The demo as a whole, with everything real in it."""

import json
import os
import signal
from pathlib import Path

import psutil
import pytest
from commands import Running, pqcmav, refused

pytest.importorskip("pqc_mav_sim.vehicle", reason="pqc_mav_sim is not installed")


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo puts its keys, so that a test sees what is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def left_over(folder: Path) -> list[str]:
    """Processes started with this folder as TMPDIR that still run."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        try:
            if process.pid != os.getpid() and process.environ().get("TMPDIR") == str(folder):
                found.append(" ".join(process.info["cmdline"] or []))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


@pytest.mark.parametrize("suite", ["", "cs-mlkem512-chacha20poly1305-falcon512"])
def test_a_short_demo_passes_and_leaves_nothing(own_tmp: Path, suite: str) -> None:
    ended = pqcmav("demo", "--duration", "6", "--json", "--suite", suite)
    result = json.loads(ended.stdout)
    assert ended.returncode == 0 and result["passed"], ended.stdout + ended.stderr
    assert result["downlink"]["sent"] == result["downlink"]["received"] > 1000
    assert result["uplink"]["sent"] == result["uplink"]["received"] > 100
    assert result["downlink"]["latency_us"]["p99_us"] > 0
    assert result["handshake"]["suite"] == (suite or "cs-mlkem768-aesgcm-mldsa65")
    assert 38 <= result["wire"]["overhead_per_packet"] < 60
    assert set(result["exit_codes"].values()) == {0} and len(result["exit_codes"]) == 4
    assert not list(own_tmp.iterdir()) and not left_over(own_tmp)


def test_plain_lines_on_a_pipe(own_tmp: Path) -> None:
    ended = pqcmav("demo", "--duration", "4")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "\033" not in ended.stdout + ended.stderr
    assert any("flying" in line for line in ended.stderr.splitlines())
    assert "PASSED" in ended.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing_either(own_tmp: Path, number: signal.Signals) -> None:
    running = Running("demo", "--duration", "60")
    try:
        running.wait_for("flying")
        assert list(own_tmp.iterdir())
        assert running.end(number) == 130
    finally:
        running.kill()
    assert not list(own_tmp.iterdir()) and not left_over(own_tmp)


def test_an_unknown_suite_is_refused_with_the_closest() -> None:
    assert "cs-mlkem768-aesgcm-mldsa65" in refused(2, "demo", "--suite", "cs-mlkem768-aesgcm-mldsa")
