# SPDX-License-Identifier: Apache-2.0
"""Load shedding: when the proxy has to shape MAVLink, least important messages last, and when no more. Pure.

A queue that stands in the radio delays commands as much as streams. While link or processor is saturated, the proxy
is therefore asked to send no more than the owner's `shed_kbit`, in order of importance. Shaped, neither shows any
longer whether it would still be saturated; so the proxy is let go on trial, after a time that doubles with each
relapse.

A detector that is sure of a volumetric attack is a reason, too: what fills the host's network takes the room of the
tunnel. It sees the attack however the proxy shapes, so that needs no trial and no doubling: anybody can provoke an
alarm, and pays with it for the owner's rate, for as long as it stands and the usual time of calm.
"""

from dataclasses import dataclass, replace

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Threat

# Lost packets alone are a bad radio; with a standing queue they are what it had no room for.
LEAST_LOSS = 0.02
MOST_DOUBLINGS = 5
# A relapse later than this after the last one is a new trouble.
FORGET_S = 1800.0
VOLUMETRIC = "volumetric"  # class of pqc_mav_detect: traffic at other ports of this host


@dataclass(frozen=True)
class Shedding:
    """`why` it is on, "" while it is off; `times` of relapses in a row, and `changed_s` when saturation last began or
    ended it. `alarms`: how often an alarm alone began it, `by_alarm`: whether one did this time."""

    why: str = ""
    since_s: float | None = None  # when there was first a reason, None while there is none
    calm_since_s: float | None = None
    times: int = 0
    changed_s: float = 0.0
    alarms: int = 0
    by_alarm: bool = False

    @property
    def on(self) -> bool:
        """Whether the proxy should shape."""
        return bool(self.why)


def saturated(seen: DecisionInput, parameters: PolicyParameters) -> str:
    """What shows that there is more than can be carried, one clause; "" where nothing does."""
    link, system = seen.link, seen.system
    if link.valid and link.queue_s is not None and link.loss is not None:
        limit_s = parameters.shed_queue_ms / 1e3
        if link.queue_s > limit_s and link.loss > LEAST_LOSS:
            return (
                f"the link is saturated: {100 * link.loss:.1f} % of the packets are lost, and a round trip takes "
                f"{1e3 * link.queue_s:.0f} ms more than the least one, limit {1e3 * limit_s:g} ms"
            )
    fresh = system.valid and (system.age_s is None or system.age_s <= parameters.stale_s)
    if fresh and system.cpu_percent is not None and system.cpu_percent > parameters.shed_cpu_percent:
        return f"the processor is at {system.cpu_percent:.0f} %, limit {parameters.shed_cpu_percent:g} %"
    return ""


def alarmed(seen: DecisionInput) -> str:
    """The alarm for which load is shed, one clause; "" without. One that is only suspected is none."""
    sure = seen.threat is Threat.ATTACK and seen.threat_kind == VOLUMETRIC
    return f"a detector reports traffic at other ports ({VOLUMETRIC})" if sure else ""


def observe(before: Shedding, seen: DecisionInput, parameters: PolicyParameters, now: float) -> Shedding:
    """After a snapshot of usable senses."""
    if not parameters.shed_kbit:
        return Shedding()
    full = saturated(seen, parameters)
    why = full or alarmed(seen)
    if why:
        since = now if before.since_s is None else before.since_s
        after = replace(before, since_s=since, calm_since_s=None)
        if before.on:
            return replace(after, why=why)
        if now - since < parameters.tau_down_s:
            return after
        if not full:
            return replace(after, why=why, alarms=before.alarms + 1, by_alarm=True)
        times = before.times + 1 if before.times and now - before.changed_s < FORGET_S else 1
        return replace(after, why=why, times=times, changed_s=now, by_alarm=False)
    # Where the ground station is not heard, nothing tells that the link has room again; the end of an alarm needs none.
    heard = seen.link.valid or before.by_alarm
    calm = (now if before.calm_since_s is None else before.calm_since_s) if heard else None
    after = replace(before, since_s=None, calm_since_s=calm)
    if not before.on or calm is None or now - calm < trial_s(before, parameters):
        return after
    return replace(after, why="", by_alarm=False, changed_s=before.changed_s if before.by_alarm else now)


def trial_s(shedding: Shedding, parameters: PolicyParameters) -> float:
    """How long it has to be calm before the proxy is let go."""
    doublings = 0 if shedding.by_alarm else min(max(shedding.times - 1, 0), MOST_DOUBLINGS)
    return parameters.tau_up_s * float(2**doublings)
