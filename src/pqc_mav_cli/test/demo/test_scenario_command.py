# SPDX-License-Identifier: Apache-2.0
"""A short scenario with everything real in it, and what is refused."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from commands import DEADLINE_S, Running, refused

from pqc_mav_common.testing import on_request

pytest.importorskip("pqc_mav_sim.vehicle", reason="pqc_mav_sim is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

# A hop of half a minute: long enough for the phase rule to act, too short for the upgrade.
SHORT = """
import sys
from pqc_mav_cli.demo import scenarios
from pqc_mav_cli.app import run
hop = scenarios.Scenario("hop", "A hop", duration_s=26.0, land_s=16.0, guards=frozenset({"phase"}), relayed=True,
                              take_off_s=3.0, altitude_m=6.0)
scenarios.SCENARIOS["hop"] = hop
run()
"""


@on_request("flies for 40 s")
def test_a_hop_over_a_relayed_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    plot = tmp_path.parent / f"{tmp_path.name}.png"
    ended = subprocess.run(
        [sys.executable, "-c", SHORT, "demo", "--scenario", "hop", "--json", "--plot", str(plot)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    result = json.loads(ended.stdout)
    checks = {check["name"]: check for check in result["checks"]}
    assert {name for name, check in checks.items() if not check["ok"]} <= {"upgrade"}, ended.stdout + ended.stderr
    assert result["downlink"]["sent"] == result["downlink"]["received"] > 3000 and result["link_lost"] == [0, 0]
    (down,) = [row for row in result["requests"] if row["action"] == "DOWN"]
    assert down["guard"] == "phase" and "takeoff" in down["reason"]
    assert any(row["ok"] and row["suite"] == down["to_suite"] for row in result["rekeys"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert not list(tmp_path.iterdir()), "keys and the simulated board are removed"


def test_interrupted_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = Running("demo", "--scenario", "attack", "--plot", str(tmp_path / "none.png"))
    try:
        running.wait_for("flying")
        started = psutil.Process(running.process.pid).children(recursive=True)
        assert len(started) == 7 and list(tmp_path.iterdir())
        assert running.end(signal.SIGINT) == 130
        _, alive = psutil.wait_procs(started, timeout=DEADLINE_S)
    finally:
        running.kill()
    assert not alive and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--scenario", "cold"), "nominal, hot, low-battery, bad-link, attack"),
        (("--scenario", "hot", "--suite", "ML-768-AG-MD-65"), "has its own"),
        (("--scenario", "hot", "--duration", "10"), "has its own"),
        (("--plot", "x.png"), "name one with --scenario"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(2, "demo", *arguments)
