# SPDX-License-Identifier: Apache-2.0
"""Which senses can be used now. One that is missing, invalid or too old takes its own rules out, and no others.

A drone without a thermal zone (any virtual machine) or without a battery reading still has a battery, or a processor,
that may be in an emergency: to hold for want of one sense would switch the others off as well.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pqc_mav_policy.parameters import STREAMS, PolicyParameters
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput, Link, Thermal, Vehicle

_UNKNOWN: Mapping[str, Any] = {"battery": Battery(), "thermal": Thermal(), "vehicle": Vehicle(), "link": Link()}


def out(inputs: DecisionInput, parameters: PolicyParameters) -> dict[str, str]:
    """Senses that cannot be used -> why, one clause each that begins with the sense's name."""
    found = gone(inputs)
    for name in STREAMS:
        age_s = getattr(inputs, name).age_s
        if name not in found and age_s is not None and age_s > parameters.stale_s:
            found[name] = f"{name}: {age_s:.1f} s old, limit {parameters.stale_s:g} s"
    return found


def usable(inputs: DecisionInput, parameters: PolicyParameters) -> DecisionInput:
    """The snapshot in which a sense that cannot be used says nothing. What is asked of it below looks at no age again,
    and it is the same when it is made from itself."""
    unusable = out(inputs, parameters)
    unknown = {name: _UNKNOWN[name] for name in unusable}
    missing = tuple(unusable[name] for name in STREAMS if name in unusable)
    return replace(inputs, missing=missing, **unknown) if unusable else inputs


def gone(usable: DecisionInput) -> dict[str, str]:
    """Senses that say nothing -> why."""
    found = {}
    for name in STREAMS:
        if not getattr(usable, name).valid:
            said = (text for text in usable.missing if text.startswith(f"{name}: "))
            found[name] = next(said, f"{name}: not valid")
    return found


def lacking(usable: DecisionInput) -> tuple[str, ...]:
    """Everything that takes rules out, one clause each."""
    found = gone(usable)
    battery = usable.battery
    if battery.valid and battery.voltage_v is not None and not battery.cells:
        found["battery"] = "battery: its number of cells is unknown, so its voltage is not judged"
    return tuple(found.values())


def blind(usable: DecisionInput, parameters: PolicyParameters) -> str:
    """Why nothing may be changed: no sense is left, or one is missing that the owner requires; "" otherwise."""
    unusable = gone(usable)
    if len(unusable) == len(STREAMS):
        return f"no telemetry: {'; '.join(unusable.values())}"
    required = [unusable[name] for name in parameters.required if name in unusable]
    return f"telemetry is required: {'; '.join(required)}" if required else ""
