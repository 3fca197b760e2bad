# SPDX-License-Identifier: Apache-2.0
"""What a detector asks for (ThreatReport.response), and what that has led to so far. Pure.

Anybody can provoke an alarm with a few datagrams, so no answer may cost more than the attack. An alarm causes at most
one renewal of the keys and one change of suite per episode, renewals only every EVERY_S, and only where the rate limit
then still has room for all renewals by age: alarms neither add handshakes without end nor let the keys grow old. No
alarm leads to a lower level.
"""

from dataclasses import dataclass, replace

from pqc_mav_policy.decision import Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import DecisionInput, Threat

RENEW_KEYS = "renew_keys"
DEFER_RENEWALS = "defer_renewals"
LIGHT_HANDSHAKES = "light_handshakes"
HOLD = "hold"
RESPONSES = frozenset({RENEW_KEYS, DEFER_RENEWALS, LIGHT_HANDSHAKES, HOLD})
# From one renewal that an alarm causes to the next at least this long [s].
EVERY_S = 60.0


@dataclass(frozen=True)
class Alarm:
    """The alarm that stands: `response` is "" while there is none, or one that asks for nothing known here.

    An episode lasts from `since_s` until a snapshot without any threat; its class may change meanwhile.
    """

    response: str = ""
    kind: str = ""
    since_s: float | None = None
    renewed: bool = False  # it caused fresh keys in this episode
    changed: bool = False  # it caused another suite in this episode
    renewed_s: float | None = None  # when any alarm last caused fresh keys

    @property
    def said(self) -> str:
        """It in words."""
        return f"{'a detector suspects' if self.response == HOLD else 'a detector reports'} {self.kind or 'an attack'}"


NONE = Alarm()


def observe(alarm: Alarm, inputs: DecisionInput, now: float) -> Alarm:
    """The alarm after this snapshot. A bad radio looks like what asks to hold, so that is never more than suspected;
    everything else counts once it is sure."""
    if inputs.threat is Threat.NONE:
        return Alarm(renewed_s=alarm.renewed_s)
    response = inputs.threat_response if inputs.threat_response in RESPONSES else ""
    stands = inputs.threat is Threat.ATTACK or response == HOLD
    since = now if alarm.since_s is None else alarm.since_s
    return replace(alarm, response=response if stands else "", kind=inputs.threat_kind, since_s=since)


def settle(alarm: Alarm, decision: Decision, guard: str, now: float) -> Alarm:
    """What a decision leaves behind; `guard` is that of the requests which alarms cause."""
    if not decision.acts or not alarm.response:
        return alarm
    changes = decision.to_suite != decision.from_suite
    if decision.guard == guard:
        return replace(alarm, renewed=True, changed=alarm.changed or changes, renewed_s=now)
    return replace(alarm, changed=alarm.changed or (changes and alarm.response == LIGHT_HANDSHAKES))


def why_not(alarm: Alarm, it: Situation, suite: str) -> str:
    """Why an alarm must not renew the keys now with this suite, one clause; "" when it may."""
    last = it.memory.last_switch_s
    if alarm.renewed or (alarm.since_s is not None and last is not None and last >= alarm.since_s):
        return "the keys have been renewed since"
    if alarm.renewed_s is not None and it.now - alarm.renewed_s < EVERY_S:
        return f"an alarm renewed them {it.now - alarm.renewed_s:.0f} s ago, and does so every {EVERY_S:g} s at most"
    if not _room(it, it.interval_s(suite)):
        return "the rate limit has no more room than renewals by age need"
    return ""


def _room(it: Situation, interval_s: float) -> bool:
    """Whether one renewal more now delays none of those that come by age."""
    most, window = it.parameters.rate_limit_count, it.parameters.rate_limit_window_s
    times = [*it.memory.rekeys, it.now]
    if len(times) > most:
        return False
    while interval_s and len(times) <= len(it.memory.rekeys) + most:
        due = times[-1] + interval_s
        if sum(1 for time in times if due - time < window) >= most:
            return False
        times.append(due)
    return True
