# SPDX-License-Identifier: Apache-2.0
"""The conditions of the strategy measured that the cascade has not, each with its present figure and its limit."""

from pqc_mav_policy.decision import Condition
from pqc_mav_policy.strategies.measured.rules import View, stronger


def conditions(view: View) -> list[Condition]:
    """Of the rules save, renew and climb."""
    it, limits = view.it, view.costs.parameters
    stressed_s, calm_s = it.memory.stressed_for(it.now), it.calm_s
    code = it.ladder.code
    to = stronger(view)
    interval_s = it.interval_s(it.current)
    found = [
        Condition(0, "budget", "trouble", view.trouble or "none", "tight budget", bool(view.trouble)),
        _above("save", f"cost of {code(it.current)}", 1e3 * view.cost_s(it.current), 1e3 * view.budget_s, "ms"),
        _above("save", "trouble has lasted", stressed_s, it.parameters.tau_down_s, "s", reached=True),
        _above("renew", "age of the keys", it.key_age_s, interval_s, "s", reached=True)
        if interval_s
        else Condition(0, "renew", "age of the keys", f"{it.key_age_s:.4g} s", "never due", False),
    ]
    energy = view.costs.energy_j.get(it.current)
    if energy is not None:
        found.append(_above("save", f"energy of {code(it.current)}", energy, limits.budget_j, "J"))
    climbing = [
        _above("climb", "calm has lasted", calm_s, it.parameters.tau_up_s, "s", reached=True),
        Condition(0, "climb", "next step up in", f"{view.climb_wait_s:.4g} s", "0 s", view.climb_wait_s == 0),
        Condition(0, "climb", "stronger suite", "none", f"<= {1e3 * view.climb_s:.4g} ms", False)
        if to is None
        else Condition(
            0,
            "climb",
            f"cost of {code(to)}",
            f"{1e3 * view.cost_s(to):.4g} ms",
            f"<= {1e3 * view.climb_s:.4g} ms",
            True,
        ),
    ]
    return [*found, *climbing]


def _above(guard: str, what: str, value: float, limit: float, unit: str, reached: bool = False) -> Condition:
    """Met beyond a limit, or also at it if it is to be `reached`."""
    met = value >= limit if reached else value > limit
    sign = ">=" if reached else ">"
    return Condition(0, guard, what, f"{value:.4g} {unit}", f"{sign} {limit:.4g} {unit}", met)
