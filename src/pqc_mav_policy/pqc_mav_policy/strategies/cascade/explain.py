# SPDX-License-Identifier: Apache-2.0
"""A decision laid open: every condition of the cascade with its figure, its limit and whether it is met."""

from collections.abc import Sequence

from pqc_mav_policy import senses
from pqc_mav_policy.decision import Condition
from pqc_mav_policy.parameters import STREAMS, PolicyParameters
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput, Link, Thermal, Threat


def laid_open(
    own: Sequence[Condition], inputs: DecisionInput, parameters: PolicyParameters, now: float
) -> list[Condition]:
    """The conditions of the strategy that runs: those that it said with the decision, `own`, after those that it shares
    with the cascade. Without own ones it is the cascade, or goes by it."""
    shared = conditions(inputs, parameters, now)
    return [*(each for each in shared if each.guard != "upgrade"), *own] if own else shared


def conditions(inputs: DecisionInput, parameters: PolicyParameters, now: float) -> list[Condition]:
    """In the order of the cascade. What depends on earlier seconds (hysteresis, calm) is in the decision's reason."""
    p = parameters
    # What a sense that is not valid says is unknown.
    battery = inputs.battery if inputs.battery.valid else Battery()
    thermal = inputs.thermal if inputs.thermal.valid else Thermal()
    link = inputs.link if inputs.link.valid else Link()
    blackouts = link.blackouts_near_switch if link.valid else None
    slope, throttled = inputs.battery.scaled(p.voltage_rate_mv_per_min), inputs.thermal.throttled
    since = None if inputs.session.last_switch_s is None else now - inputs.session.last_switch_s
    return [
        *_senses(inputs, p),
        _below(2, "emergency", "battery", battery.voltage_v, inputs.battery.scaled(p.battery_emergency_v), "V"),
        _below(2, "emergency", "charge", battery.state_of_charge, p.battery_emergency_charge, ""),
        _above(2, "emergency", "processor", thermal.temperature_c, p.temperature_emergency_c, "C"),
        _above(3, "blackout", "blackouts near a switch", blackouts, p.rollback_blackouts, ""),
        _below(4, "cooldown", "time since the switch", since, p.cooldown_s, "s"),
        _above(5, "link", "95 % of the gaps", link.gap_p95_s, p.gap_p95_s, "s"),
        _above(5, "link", "loss", link.loss, p.loss_limit, ""),
        _above(6, "stress", "temperature's rate", thermal.rate_c_per_min, p.temperature_rate_c_per_min, "C/min"),
        _below(6, "stress", "voltage's rate", battery.rate_mv_per_min, slope, "mV/min"),
        Condition(6, "stress", "throttled", _yes(throttled), "", throttled and p.throttled_is_stress),
        Condition(
            6,
            "stress",
            "threat",
            ": ".join(filter(None, (inputs.threat.name.lower(), inputs.threat_kind, inputs.threat_response))),
            "attack",
            inputs.threat is Threat.ATTACK and p.attack_is_stress,
        ),
        Condition(8, "upgrade", "disarmed", _yes(inputs.vehicle.armed is False), "", inputs.vehicle.armed is False),
    ]


def _senses(inputs: DecisionInput, parameters: PolicyParameters) -> list[Condition]:
    """A sense that is out is said, not met: it takes its rules out, and only where it is required, or no other is left,
    everything holds."""
    unusable = senses.out(inputs, parameters)
    found = [
        Condition(1, "sense", name, unusable[name].partition(": ")[2], "its rules are out", None)
        if name in unusable
        else _above(1, "sense", f"age of {name}", getattr(inputs, name).age_s, parameters.stale_s, "s")
        for name in STREAMS
    ]
    blind = senses.blind(senses.usable(inputs, parameters), parameters)
    return [*found, Condition(1, "safety", "telemetry", blind, "", True)] if blind else found


def _above(priority: int, guard: str, what: str, value: float | None, limit: float, unit: str) -> Condition:
    met = None if value is None else value > limit
    return Condition(priority, guard, what, _text(value, unit), f"> {_text(limit, unit)}", met)


def _below(priority: int, guard: str, what: str, value: float | None, limit: float | None, unit: str) -> Condition:
    met = None if value is None or limit is None else value < limit
    return Condition(priority, guard, what, _text(value, unit), f"< {_text(limit, unit)}", met)


def _text(value: float | None, unit: str) -> str:
    return "unknown" if value is None else f"{value:.4g} {unit}".rstrip()


def _yes(value: bool) -> str:
    return "yes" if value else "no"
