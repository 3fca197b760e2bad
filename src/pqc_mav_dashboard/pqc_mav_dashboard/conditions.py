# SPDX-License-Identifier: Apache-2.0
"""The condition table of the policy's newest decision: each condition with its figure and its limit."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pqc_mav_dashboard.picture import Sense

DEFAULTS = "Limits are the default values: those of the running policy are not known here."
RUNNING = "Limits are those of the running policy."


def condition_table(sense: Sense | None, parameters: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """Rows and a note, or why there are none; None without a decision. `parameters` as the node has them."""
    if sense is None:
        return None
    # Who runs a policy has its package; a dashboard without ROS may not.
    from pqc_mav_policy.parameter_table import build, names
    from pqc_mav_policy.parameters import PolicyParameters
    from pqc_mav_policy.strategies.cascade.explain import laid_open
    from pqc_mav_policy.telemetry import snapshot

    try:
        inputs, now_s = snapshot.of_decision(sense.fields)
        own = snapshot.own_conditions(sense.fields)
    except snapshot.SnapshotError as error:
        return {"absent": f"The policy has another version: {error}"}
    limits, note = PolicyParameters(), DEFAULTS
    if parameters:
        known = set(names(PolicyParameters))
        try:
            limits = build(PolicyParameters, {name: value for name, value in parameters.items() if name in known})
            note = RUNNING
        except ValueError:
            pass  # of another version: the defaults, and said so
    return {"rows": [asdict(each) for each in laid_open(own, inputs, limits, now_s)], "note": note}
