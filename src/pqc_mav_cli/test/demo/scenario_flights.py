# SPDX-License-Identifier: Apache-2.0
"""Synthetic flights of scenarios, good until a test spoils them."""

from __future__ import annotations

import math
from dataclasses import replace

from pqc_mav_cli.demo import scenario_trace as rows
from pqc_mav_cli.demo.result import Direction
from pqc_mav_cli.demo.scenario_result import ScenarioResult
from pqc_mav_cli.demo.scenario_trace import DecisionRow, ScenarioTrace
from pqc_mav_cli.demo.scenarios import SCENARIOS

HEAVY, MIDDLE, LIGHT = "cs-hqc256-aesgcm-mldsa87", "cs-mlkem1024-aesgcm-mldsa87", "cs-mlkem512-aesgcm-mldsa44"
BEST = "cs-mlkem1024-aesgcm-falcon1024"
TIERS = {HEAVY: 81, MIDDLE: 12, LIGHT: 3, BEST: 9}


def direction(sent: int, lost: int = 0, **changes: int) -> Direction:
    counts = {"duplicates": 0, "reordered": 0, "bad": 0, **changes}
    return Direction(sent=sent, received=sent - lost + counts["duplicates"], rate_hz=320.0, latency_us={}, **counts)


def decision(t: float, action: str, guard: str, before: str, after: str) -> DecisionRow:
    reason = f"{guard} at {t:g} s, with the figures that mattered."
    return DecisionRow(t, action, guard, reason, before, after, TIERS[after], action != "HOLD")


def threat(t: float, attack: bool) -> rows.ThreatRow:
    if attack:
        return rows.ThreatRow(t, 2, "forgery", "renew_keys", "Forged packets of a session: 133 packets/s.")
    return rows.ThreatRow(t, 0, "", "", "Nothing unusual.")


def _steps(guard: str) -> list[DecisionRow]:
    return [
        decision(10.0, "DOWN", "phase", HEAVY, MIDDLE),
        decision(24.0, "DOWN_0" if guard == "emergency" else "DOWN", guard, MIDDLE, LIGHT),
        decision(80.0, "UPGRADE", "upgrade", LIGHT, HEAVY),
    ]


def flown(name: str) -> ScenarioResult:
    """A flight that passes."""
    scenario = SCENARIOS[name]
    attacked = name == "attack"
    start = BEST if attacked else HEAVY
    changes = [decision(20.0, "REKEY", "alarm", BEST, BEST)] if attacked else _steps(sorted(scenario.guards)[0])
    kept = BEST if attacked else LIGHT
    holds = [decision(float(t), "HOLD", "nominal", suite, suite) for t, suite in ((1, start), (50, kept), (88, start))]
    seconds = range(int(scenario.duration_s))
    trace = ScenarioTrace(
        battery=[rows.BatteryRow(t, 16.0 - t / 100, 0.9) for t in seconds],
        thermal=[rows.ThermalRow(t, math.nan if t == 40 else 50 + t / 3, t > 85, "model") for t in seconds],
        vehicle=[rows.VehicleRow(t, 8.0, 6 < t < 72, 1 if t < 6 or t >= 72 else 4) for t in seconds],
        link=[rows.LinkRow(t, 0.0, 5.0, 0.5) for t in seconds],
        threat=[threat(t, attacked and 18 <= t < 45) for t in seconds],
        refused=[rows.RefusedRow(t, 400.0 if attacked and 18 <= t < 42 else 0.0) for t in seconds],
        status=[rows.StatusRow(0.0, start), *(rows.StatusRow(row.t + 0.1, row.to_suite) for row in changes)],
        decisions=sorted([*changes, *holds], key=lambda row: row.t),
        rekeys=[rows.RekeyRow(row.t + 0.1, True, row.to_suite, 1, 12.0, "") for row in changes],
        events=[(event.at_s, event.text) for event in scenario.events],
    )
    return ScenarioResult(
        scenario=scenario,
        trace=trace,
        downlink=direction(30_000, 700 if scenario.name == "bad-link" else 0),
        uplink=direction(3_500, 80 if scenario.name == "bad-link" else 0),
        link_lost=(700, 80) if scenario.name == "bad-link" else (0, 0),
        flood_sent=10_000,
        refused=9_900,
        steps={"arm": True, "take off": True, "land": True},
        max_altitude_m=8.0,
        start_suite=start,
        final_suite=start,
        exit_codes={"drone/pqc_proxy": 0},
    )


def without(result: ScenarioResult, action: str) -> list[DecisionRow]:
    """The flight's decisions with every one of an action turned into a hold."""
    return [
        replace(row, action="HOLD", requested=False) if row.action == action else row for row in result.trace.decisions
    ]
