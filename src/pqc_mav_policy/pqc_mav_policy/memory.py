# SPDX-License-Identifier: Apache-2.0
"""What a strategy remembers from one decision to the next, and how a snapshot changes it. Immutable."""

from dataclasses import dataclass, replace

from pqc_mav_policy import senses
from pqc_mav_policy.parameters import STREAMS, PolicyParameters
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Session

SAME_SWITCH_S = 0.5  # the time of one switch is known that well: it is reckoned from the age of the keys


@dataclass(frozen=True)
class Memory:
    """Times are seconds of the clock given to `decide`.

    `calm_since_s` is when the last disturbance or switch was, `stress_since_s` since when a bad link or stress was seen
    in every snapshot (None while there is none). `rekeys` holds the successful changes of keys within the rate limit's
    window that were asked for here: an operator's, and the proxy's own by age, are not this limit's. `abandoned` is the
    suite that the last rollback left because of blackouts, until `abandoned_until_s`: without it the next step would
    lead back. `rolling_to` is where a rollback leads that was decided and is not carried out yet. Failed handshakes
    leave nothing here but their time: anybody in the path can make them fail, so which suites to avoid for them is the
    engine's to say (DecisionInput.blacklisted).
    """

    calm_since_s: float
    phase_since_s: float
    last_s: float
    stress_since_s: float | None = None
    suite: str = ""
    epoch: int = 0
    previous_suite: str = ""  # in use before the last change of suite; "" when the last switch only renewed keys
    last_switch_s: float | None = None
    phase: Phase = Phase.UNKNOWN
    event: bool = False  # the phase changed since the keys did
    rekeys: tuple[float, ...] = ()
    owed: bool = False  # a request of ours succeeded, and its keys were not seen yet
    served: bool = False  # the keys of the request that waits for its answer were seen
    rolling_to: str = ""
    abandoned: str = ""
    abandoned_until_s: float = 0.0
    last_failure_s: float | None = None
    failures: int = 0  # in a row
    ratchet_failed: bool = False  # since the keys changed
    sensed: tuple[str, ...] = ()  # senses that could be used

    def stressed_for(self, now: float) -> float:
        """For how long stress has lasted [s]; 0 without."""
        return 0.0 if self.stress_since_s is None else now - self.stress_since_s

    def cooldown_until_s(self, cooldown_s: float) -> float | None:
        """When the cooldown after the last switch or failed request ends [s]; None before the first of either."""
        times = [when for when in (self.last_switch_s, self.last_failure_s) if when is not None]
        return max(times) + cooldown_s if times else None


def begin(now: float) -> Memory:
    """Nothing seen yet."""
    return Memory(calm_since_s=now, phase_since_s=now, last_s=now)


def observe(inputs: DecisionInput, memory: Memory, parameters: PolicyParameters, now: float) -> Memory:
    """The memory after seeing a snapshot (of usable senses), before deciding on it."""
    waits = inputs.session.pending_suite is not None
    memory = replace(
        memory,
        served=memory.served and (waits or bool(inputs.outcomes)),
        abandoned=memory.abandoned if now < memory.abandoned_until_s else "",
        rekeys=tuple(time for time in memory.rekeys if now - time < parameters.rate_limit_window_s),
    )
    memory = _outcomes(inputs, memory, now)
    memory = _session(inputs, memory, parameters, now)
    # A request that failed, or was never made (mode hold), left the suite where it was.
    memory = replace(memory, rolling_to=memory.rolling_to if waits or memory.owed else "")
    memory = _phase(inputs, memory, now)
    return replace(_disturbances(inputs, memory, parameters, now), last_s=now)


def _outcomes(inputs: DecisionInput, memory: Memory, now: float) -> Memory:
    for outcome in inputs.outcomes:
        if outcome.ok:
            memory = replace(memory, failures=0, owed=not memory.served, served=False)
        else:
            # Where the engine avoids the suite from now on, another is asked for next, and that is no repetition.
            again = memory.failures + (outcome.suite not in inputs.blacklisted)
            failed = memory.ratchet_failed or outcome.kind == "ratchet"
            memory = replace(memory, failures=again, last_failure_s=now, ratchet_failed=failed, served=False)
    return memory


def _session(inputs: DecisionInput, memory: Memory, parameters: PolicyParameters, now: float) -> Memory:
    """Notices new keys and suites, no matter who asked for them."""
    session = inputs.session
    if not session.alive or not _other_keys(session, memory):
        return memory
    at = session.last_switch_s if session.last_switch_s is not None else now
    first = not memory.suite
    # Epoch 0 is a new session's first handshake, after a loss of the link or at the very start: not a rekey.
    waits = session.pending_suite is not None
    ours = memory.owed or (waits and not memory.served)
    rekeys = memory.rekeys if first or session.epoch == 0 or not ours else (*memory.rekeys, at)
    other_suite = not first and session.suite != memory.suite
    if other_suite and session.suite == memory.rolling_to:
        until_s = at + parameters.blacklist_ttl_s
        memory = replace(memory, abandoned=memory.suite, abandoned_until_s=until_s, rolling_to="")
    return replace(
        memory,
        suite=session.suite,
        epoch=session.epoch,
        previous_suite=memory.suite if other_suite else "",
        last_switch_s=at,
        calm_since_s=max(memory.calm_since_s, at),
        stress_since_s=None if memory.stress_since_s is None else max(memory.stress_since_s, at),
        event=False,
        rekeys=rekeys,
        owed=False,
        served=waits and (ours or memory.served),
        failures=0,  # whoever asked for these keys: handshakes come through
        ratchet_failed=False,
    )


def _other_keys(session: Session, memory: Memory) -> bool:
    """Whether it has other keys than those remembered. After a loss of the link a new session may have the same suite
    and, as the first one, epoch 0: then the time of the switch tells."""
    if (session.suite, session.epoch) != (memory.suite, memory.epoch):
        return True
    before, after = memory.last_switch_s, session.last_switch_s
    return before is not None and after is not None and after - before > SAME_SWITCH_S


def _phase(inputs: DecisionInput, memory: Memory, now: float) -> Memory:
    if not inputs.vehicle.valid or inputs.vehicle.phase is memory.phase:
        return memory
    known = memory.phase is not Phase.UNKNOWN
    return replace(memory, phase=inputs.vehicle.phase, phase_since_s=now, event=memory.event or known)


def _disturbances(inputs: DecisionInput, memory: Memory, parameters: PolicyParameters, now: float) -> Memory:
    sensed = tuple(name for name in STREAMS if getattr(inputs, name).valid)
    # What a sense would have shown since it was lost is not known: calm begins anew, without it.
    lost = bool(set(memory.sensed) - set(sensed))
    blind = lost or bool(senses.blind(inputs, parameters)) or now - memory.last_s > parameters.stale_s
    stressed = bool(signs.bad_link(inputs, parameters) or signs.stress(inputs, parameters))
    disturbed = stressed or bool(signs.emergency(inputs, parameters) or signs.blackouts(inputs, parameters))
    since = memory.stress_since_s
    if not stressed:
        since = None
    elif since is None or blind:
        # What happened between two snapshots far apart was not seen, so it does not count as persistent.
        since = now
    calm = now if disturbed or blind else memory.calm_since_s
    return replace(memory, stress_since_s=since, calm_since_s=calm, sensed=sensed)
