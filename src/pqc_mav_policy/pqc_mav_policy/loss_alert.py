# SPDX-License-Identifier: Apache-2.0
"""The operator's alert: sustained loss is a reason to fly slower or to stop heavy analytics; no suite mends it. Pure.

The rule is the published one ([endurance-paper] 6.1): above 3 %, sustained. It changes no decision.
"""

from dataclasses import dataclass

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput


@dataclass(frozen=True)
class LossAlert:
    """`since_s` the loss has been above the limit, None while it is not; `words` for the operator, "" without alert."""

    since_s: float | None = None
    words: str = ""


def observe(before: LossAlert, seen: DecisionInput, parameters: PolicyParameters, now: float) -> LossAlert:
    """After a snapshot of usable senses. A link that is not heard says nothing of loss: the alert is off."""
    link = seen.link
    if not link.valid or link.loss is None or link.loss <= parameters.alert_loss:
        return LossAlert()
    since_s = now if before.since_s is None else before.since_s
    if now - since_s < parameters.alert_after_s:
        return LossAlert(since_s)
    return LossAlert(
        since_s,
        f"{100 * link.loss:.1f} % of the drone's packets have been lost for {now - since_s:.0f} s, limit "
        f"{100 * parameters.alert_loss:g} %: lower the mission's tempo or stop heavy analytics",
    )
