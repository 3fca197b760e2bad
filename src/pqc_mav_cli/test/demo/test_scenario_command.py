# SPDX-License-Identifier: Apache-2.0
"""A short scenario with everything real in it, and what is refused."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from commands import DEADLINE_S, Running, pqcmav, refused

from pqc_mav_cli.demo.scenario_result import ATTACK, DETECT_S, ORDER_S
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
    # Not in the take-off itself: there the running session costs nothing, and a handshake does.
    assert down["guard"] == "phase" and any(f"unfit for phase {name}" in down["reason"] for name in ("hover", "cruise"))
    assert any(row["ok"] and row["suite"] == down["to_suite"] for row in result["rekeys"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert not list(tmp_path.iterdir()), "keys and the simulated board are removed"


FLIGHT_S = 90.0 + 2.0 * DEADLINE_S  # and time to start and to end


@on_request("flies for 2 minutes")
def test_a_real_attack_is_named_and_answered_by_fresh_keys(tmp_path: Path) -> None:
    plot = str(tmp_path / "attack.png")
    ended = pqcmav("demo", "--scenario", "attack", "--json", "--plot", plot, timeout=FLIGHT_S)
    result = json.loads(ended.stdout)
    said = ended.stdout + ended.stderr
    checks = {check["name"]: check for check in result["checks"]}
    assert {"attack", "detector", "response", "suite"} <= set(checks)
    assert ended.returncode == 0 and result["passed"], said
    begin_s, end_s = (time_s for time_s, _ in result["events"])
    named = [row for row in result["alarms"] if row["level"] == ATTACK]
    assert named and {row["kind"] for row in named} <= {"forgery", "replay", "flood"}, said
    assert 0.0 <= named[0]["t"] - begin_s <= DETECT_S
    asked = [row for row in result["requests"] if row["guard"] == "alarm"]
    assert [row["action"] for row in asked] == ["REKEY"] and begin_s <= asked[0]["t"] <= end_s, said
    assert "a detector reports" in asked[0]["reason"]
    fresh = [row for row in result["rekeys"] if row["ok"] and row["t"] > asked[0]["t"] - ORDER_S]
    assert fresh and fresh[0]["suite"] == asked[0]["to_suite"] == result["start_suite"] == result["final_suite"]
    assert result["downlink"]["sent"] == result["downlink"]["received"] > 10_000


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
