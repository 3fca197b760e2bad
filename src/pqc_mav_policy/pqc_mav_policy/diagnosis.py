# SPDX-License-Identifier: Apache-2.0
"""What `/diagnostics` says about the policy."""

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_policy.controller import Controller, Tick

# Rules whose hold means that the policy cannot do its work.
BLIND = frozenset({"safety", "session"})


def diagnose(tick: Tick, controller: Controller, problem: str, shape_problem: str = "") -> Diagnostic:
    """WARN while the policy holds for want of telemetry, session or suites, while a sense's rules are out, while it may
    not act, its last request failed, load is shed, or the operator is told of loss; ERROR in an emergency.

    `shape_problem`: why the proxy does not shape as asked."""
    decision, outcome = tick.decision, controller.last_outcome
    level, message = Level.OK, f"{decision.action} ({decision.guard}): {decision.reason}"
    if tick.emergency:
        level = Level.ERROR
        if tick.emergency not in decision.reason:  # as of a pinned suite, which is kept
            message = f"emergency, {tick.emergency}; {message}"
    elif problem:
        level, message = Level.WARN, f"{problem}; {message}"
    elif decision.guard in BLIND:
        level = Level.WARN
    elif tick.lacking:
        level = Level.WARN  # the decision's reason says which
    elif tick.mode == "hold" and decision.acts:
        level, message = Level.WARN, f"mode hold, not done: {message}"
    elif outcome is not None and not outcome.ok:
        level, message = Level.WARN, f"the last request failed: {outcome.message} Now {message}"
    elif controller.shedding.on or controller.shaped:
        level = Level.WARN  # the decision's reason says why
    if alert := controller.loss_alert.words:
        level, message = max(level, Level.WARN), f"{alert}; {message}"
    if shape_problem and controller.shedding.on:
        message = f"load cannot be shed, {shape_problem}; {message}"
    values: dict[str, object] = {
        "strategy": controller.strategy.name,
        "mode": tick.mode,
        "pinned": controller.pin,
        "action": str(decision.action),
        "guard": decision.guard,
        "suite": decision.from_suite,
        "rules out of use": "; ".join(tick.lacking),
        "shedding": controller.shedding.why,
        "operator alert": controller.loss_alert.words,
        "shed": controller.shedding.times,
        "shed for alarms": controller.shedding.alarms,
        "suites available": len(controller.available),
        "last outcome": outcome.message if outcome else "",
    }
    return Diagnostic("decision", level, message, values)
