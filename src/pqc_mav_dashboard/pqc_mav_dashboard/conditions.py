# SPDX-License-Identifier: Apache-2.0
"""The condition table of the policy's newest decision: each condition with its figure and its limit."""

from dataclasses import asdict
from typing import Any

from pqc_mav_dashboard.picture import Sense

DEFAULTS = "Limits are the default values: a policy of this earlier version does not say its own."
RUNNING = "Limits are those of the running policy."


def condition_table(sense: Sense | None) -> dict[str, Any] | None:
    """Rows and a note, or why there are none; None without a decision."""
    if sense is None:
        return None
    # Who runs a policy has its package; a dashboard without ROS may not.
    from pqc_mav_policy.parameters import PolicyParameters
    from pqc_mav_policy.strategies.cascade.explain import laid_open
    from pqc_mav_policy.telemetry import snapshot

    try:
        inputs, now_s = snapshot.of_decision(sense.fields)
        own, limits = snapshot.own_conditions(sense.fields), snapshot.limits(sense.fields)
    except snapshot.SnapshotError as error:
        return {"absent": f"The policy has another version: {error}"}
    rows = [asdict(each) for each in laid_open(own, inputs, limits or PolicyParameters(), now_s)]
    return {"rows": rows, "note": DEFAULTS if limits is None else RUNNING}
