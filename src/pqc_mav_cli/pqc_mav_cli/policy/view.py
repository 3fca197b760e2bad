# SPDX-License-Identifier: Apache-2.0
"""How `pqcmav policy` shows decisions, conditions and suites."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from rich.table import Table
from rich.text import Text

from pqc_mav_cli.wording import counted, short_code
from pqc_mav_common.key_values import nested
from pqc_mav_common.parameters import yaml_text
from pqc_mav_policy.decision import Condition
from pqc_mav_policy.suite_table import SuiteRow
from pqc_mav_policy.telemetry.inputs import DecisionInput


def identity(message: Any) -> tuple[str, ...]:
    """What makes a decision worth showing after the one before; ages and waiting times in reasons do not."""
    return (
        message.mode,
        message.strategy,
        message.action,
        message.guard,
        message.from_suite,
        message.to_suite,
        message.outcome,
    )


def line(message: Any) -> str:
    """One decision on one line."""
    at = datetime.fromtimestamp(message.header.stamp.sec, tz=timezone.utc).strftime("%H:%M:%S")
    suite = short_code(message.from_suite) or "no session"
    if message.to_suite != message.from_suite:
        suite += f" -> {short_code(message.to_suite)}"
    mode = "" if message.mode == "auto" else f" [{message.mode}]"
    return f"{at}{mode} {message.action:<8} {message.guard:<10} {suite}: {message.reason}"


def as_json(message: Any) -> dict[str, Any]:
    """Everything of a decision, its inputs as an object."""
    stamp = message.header.stamp
    names = (
        *("sequence", "strategy", "mode", "action", "guard", "reason", "from_suite", "to_suite", "from_rank"),
        *("to_rank", "phase", "kind", "requested", "outcome", "outcome_ok"),
    )
    content = {name: getattr(message, name) for name in names}
    return {
        "time_s": stamp.sec + stamp.nanosec / 1e9,
        **content,
        "inputs": nested(message.inputs) or None,
    }


def conditions_json(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    """Conditions as objects."""
    return [asdict(condition) for condition in conditions]


def conditions_table(conditions: Sequence[Condition]) -> Table:
    """Conditions in the order of the cascade, then those of the strategy, whose rules have no place in it."""
    table = Table("", "rule", "condition", "now", "limit", "met", box=None, pad_edge=False)
    for each in conditions:
        met = {True: Text("yes", "bold"), False: Text("no"), None: Text("unknown")}[each.met]
        table.add_row(str(each.priority or ""), each.guard, each.what, each.value, each.limit, met)
    return table


def waiting_json(waits: Mapping[str, tuple[Any, Any]]) -> dict[str, dict[str, Any]]:
    """Parameters that wait for the next configure, as objects by name."""
    return {name: {"in_force": in_force, "set": value} for name, (in_force, value) in waits.items()}


def waiting_lines(waits: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """The same in words."""
    return [
        f"'{name}' is set to {yaml_text(value)}, which counts from the next configure on; in force is {yaml_text(now)}"
        for name, (now, value) in waits.items()
    ]


def summary(inputs: DecisionInput) -> str:
    """The rest of what the decision saw, in two lines."""
    session = inputs.session
    age = "unknown" if session.key_age_s is None else f"{session.key_age_s:.0f} s"
    avoided = ", ".join(map(short_code, inputs.blacklisted)) or "none"
    return (
        f"session {session.state.name}, epoch {session.epoch}, keys {age} old; phase {inputs.vehicle.phase.name}\n"
        f"{counted(len(inputs.available), 'suite')} available; avoided by the engine: {avoided}"
    )


def suites_json(rows: Sequence[SuiteRow], source: str) -> dict[str, Any]:
    """The table of suites; `source` says whose times they are."""
    suites = [
        {
            "suite": row.suite.id,
            "short_code": row.suite.short_code,
            "level": row.suite.level,
            "rank": row.rank,
            "octave": row.octave,
            "published_tier": row.tier,
            "published_work_ms": row.work_ms,
            "handshake_ms": row.handshake_ms,
        }
        for row in rows
    ]
    return {"suites": suites, "times": source}


def suites_table(rows: Sequence[SuiteRow]) -> Table:
    """Suites from light to heavy."""
    table = Table(box=None, pad_edge=False)
    table.add_column("suite")
    for name in ("level", "rank", "octave", "published tier", "published work [ms]", "handshake [ms]"):
        table.add_column(name, justify="right")
    for row in rows:
        tier = "-" if row.tier is None else str(row.tier)
        handshake = "-" if row.handshake_ms is None else f"{row.handshake_ms:.2f}"
        table.add_row(
            row.suite.short_code,
            str(row.suite.level),
            str(row.rank),
            str(row.octave),
            tier,
            f"{row.work_ms:.2f}",
            handshake,
        )
    return table
