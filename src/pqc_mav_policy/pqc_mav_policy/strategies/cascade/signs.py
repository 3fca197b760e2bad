# SPDX-License-Identifier: Apache-2.0
"""What a snapshot shows: emergency, bad link, stress. Each answer is a clause with the figures, or "" for no.

A stream that is not valid shows nothing: its rules are out (see senses.py).
"""

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DOCUMENTED_CELLS, DecisionInput, Threat


def emergency(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """Battery or processor beyond the emergency limits."""
    voltage = inputs.battery.voltage_v if inputs.battery.valid else None
    limit = inputs.battery.scaled(parameters.battery_emergency_v)
    if voltage is not None and limit is not None and voltage < limit:
        return f"battery at {voltage:.2f} V, below {limit:g} V{_cells(inputs)}"
    charge = inputs.battery.state_of_charge if inputs.battery.valid else None
    if charge is not None and charge < parameters.battery_emergency_charge:
        return f"{100 * charge:.3g} % of the charge left, below {100 * parameters.battery_emergency_charge:g} %"
    temperature = inputs.thermal.temperature_c if inputs.thermal.valid else None
    if temperature is not None and temperature > parameters.temperature_emergency_c:
        return f"processor at {temperature:.1f} C, above {parameters.temperature_emergency_c:g} C"
    return ""


def blackouts(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """Too many silences since the last switch."""
    count = inputs.link.blackouts_near_switch
    if inputs.link.valid and count > parameters.rollback_blackouts:
        return f"{count} blackouts near the last switch, more than {parameters.rollback_blackouts}"
    return ""


def bad_link(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """Gaps between packets, or loss, beyond their limits."""
    link = inputs.link
    if not link.valid:
        return ""
    if link.gap_p95_s is not None and link.gap_p95_s > parameters.gap_p95_s:
        return f"95 % of the gaps between packets are within {link.gap_p95_s:.2f} s, limit {parameters.gap_p95_s:g} s"
    if link.loss is not None and link.loss > parameters.loss_limit:
        return f"{100 * link.loss:.1f} % of the packets are lost, limit {100 * parameters.loss_limit:g} %"
    return ""


def stress(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """The drone's own strain, or an attack."""
    return strain(inputs, parameters) or attack(inputs, parameters)


def strain(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """Temperature rising or voltage falling too fast, a throttled processor: the drone's own telemetry."""
    rate = inputs.thermal.rate_c_per_min if inputs.thermal.valid else None
    if rate is not None and rate > parameters.temperature_rate_c_per_min:
        return f"temperature rises by {rate:.1f} C/min, limit {parameters.temperature_rate_c_per_min:g} C/min"
    rate = inputs.battery.rate_mv_per_min if inputs.battery.valid else None
    limit = inputs.battery.scaled(parameters.voltage_rate_mv_per_min)
    if rate is not None and limit is not None and rate < limit:
        return f"voltage changes by {rate:.0f} mV/min, limit {limit:g} mV/min{_cells(inputs)}"
    if parameters.throttled_is_stress and inputs.thermal.valid and inputs.thermal.throttled:
        return "the processor is throttled"
    return ""


def attack(inputs: DecisionInput, parameters: PolicyParameters) -> str:
    """An attack that a detector is sure of."""
    if parameters.attack_is_stress and inputs.threat is Threat.ATTACK:
        return f"an attack is reported{f' ({inputs.threat_kind})' if inputs.threat_kind else ''}"
    return ""


def _cells(inputs: DecisionInput) -> str:
    cells = inputs.battery.cells
    return "" if cells == DOCUMENTED_CELLS else f" ({cells} cells)"
