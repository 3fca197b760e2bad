# SPDX-License-Identifier: Apache-2.0
"""The invariants over random telemetry, hours of simulated time per run.

I1 safety, I2 liveness, I3 monotonic degradation, I4 determinism ([pqcmav-paper] IV-A); hysteresis, cooldown,
rate limit.
Every run also fails handshakes, loses sessions and lets answers come late.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import Phase as Phases
from hypothesis import strategies as st
from plant import BLACKLIST_S, Plant, Weather
from scenes import CATALOGUE, CORE, DEFAULT, every

from pqc_mav_policy import senses
from pqc_mav_policy.alarms import RESPONSES
from pqc_mav_policy.bands import BANDS
from pqc_mav_policy.decision import Action
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import STREAMS
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.strategies.expert.expert import Expert
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import DEFAULT_FILE, load
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.measured import Measured
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.telemetry import snapshot
from pqc_mav_policy.telemetry.inputs import Phase

P = every()
CASCADE = Cascade(CATALOGUE, P)
EXPERT = Expert(CATALOGUE, P, ExpertParameters(), load(DEFAULT_FILE))
LADDER = Ladder(CATALOGUE)
HOUR = 3600
# Actions the rate limit stands against; the other two are the way out of an emergency.
LIMITED = {Action.REKEY, Action.UPGRADE, Action.DOWN}
# Hours of simulated time, not examples, are what finds things here.
few = settings(
    max_examples=2,
    deadline=None,
    phases=[Phases.explicit, Phases.reuse, Phases.generate],
    suppress_health_check=[HealthCheck.too_slow],
)

seeds = st.integers(0, 2**32 - 1)
suites = st.sampled_from(CORE)
MEASURED = Measured(CATALOGUE, P, cost_model(CATALOGUE, MeasuredParameters(), None))
strategies: Any = pytest.mark.parametrize(
    "strategy", [MEASURED, CASCADE, EXPERT], ids=["measured", "cascade", "expert"]
)
Steps = list[Any]


def flown(seed: int, start: str, strategy: Any = CASCADE, hours: float = 2.0, **plant: Any) -> tuple[Plant, Steps]:
    """A run of two hours (7,200 decisions)."""
    made = Plant(strategy, seed, start=start, responses=(*sorted(RESPONSES), "", "new"), **plant)
    return made, made.run(int(hours * HOUR))


@strategies
@few
@given(seeds, suites)
def test_i1_nothing_is_changed_blindly_or_twice_at_once(strategy: Any, seed: int, start: str) -> None:
    """No request without any telemetry, without a session, or while another is under way; and none for the sake of a
    sense that is out."""
    _, steps = flown(seed, start, strategy)
    for step in steps:
        if step.decision.acts:
            unusable = senses.out(step.inputs, P)
            assert len(unusable) < len(STREAMS)
            assert step.decision.guard not in ("link", "blackout", "loss") or "link" not in unusable
            assert step.decision.guard not in ("phase", "upgrade") or "vehicle" not in unusable
            assert step.decision.guard != "emergency" or not {"battery", "thermal"} <= set(unusable)
            assert step.inputs.session.alive
            assert step.inputs.session.pending_suite is None
            assert step.decision.to_suite in CORE
            assert step.decision.reason.endswith(".")


@few
@given(seeds, suites)
def test_i1_no_switch_ordered_in_flight_would_black_out_even_the_published_tunnel_beyond_5_s(
    seed: int, start: str
) -> None:
    """Ours switches without interruption. The published one stopped for 3 s and a handshake, up to 36.6 s with
    McEliece-8192128 and seconds with SPHINCS+: such suites may be left in flight, never taken."""
    _, steps = flown(seed, start)
    for step in steps:
        if step.decision.acts and step.decision.action is not Action.REKEY and step.inputs.vehicle.armed:
            there = CATALOGUE[step.decision.to_suite]
            assert there.kem_token != "classicmceliece8192128"
            assert there.sig_family != "SPHINCS+"
            assert BANDS[step.inputs.vehicle.phase].allows(there)


@few
@given(seeds, suites, st.sampled_from(CORE))
def test_i2_with_every_suite_but_one_failing_it_ends_on_one_that_works(seed: int, start: str, only: str) -> None:
    """In an emergency on the ground: either the one that works is heavier than the present one, which then is kept,
    or it is found, however many fail before it."""
    plant = Plant(CASCADE, seed, start=start, working=(only,), weather=Weather(**dict.fromkeys(vars(Weather()), 0.0)))
    plant.troubles["hot"] = plant.now + 10 * HOUR
    plant.run(int(2 * HOUR))  # after each failure it waits longer before it asks again
    if LADDER.lighter(only, start):
        assert plant.suite == only
    else:
        assert plant.suite == start
    assert plant.state.name == "UP"


@few
@given(seeds, suites, st.data())
def test_i2_flights_with_many_failing_suites_always_come_back_up(seed: int, start: str, data: st.DataObject) -> None:
    """After hours of trouble, calm on the ground brings back a suite no lighter than before, if any works."""
    working = data.draw(st.sets(suites, min_size=1, max_size=10)) | {DEFAULT}
    plant, _ = flown(seed, start, working=tuple(working), hours=1.0)
    plant.weather = Weather(**dict.fromkeys(vars(Weather()), 0.0))
    plant.troubles.clear()
    plant.phase, plant.wanders = Phase.DISARMED, False
    before = LADDER.order.rank(plant.suite)
    plant.run(int(BLACKLIST_S + P.blacklist_ttl_s + P.rate_limit_window_s + 200))
    after = LADDER.order.rank(plant.suite)
    assert after >= min(before, LADDER.order.rank(DEFAULT))


@few
@given(seeds, suites)
def test_i3_under_stress_suites_only_get_lighter(seed: int, start: str) -> None:
    """While emergency, bad link or stress is on, no request leads to a heavier suite or a higher level by a DOWN."""
    plant, steps = flown(seed, start, weather=Weather(warming=0.01, gaps=0.01, outages=0.01))
    for step in steps:
        decision = step.decision
        if not decision.acts:
            continue
        if step.stressed:
            assert decision.action in (Action.DOWN, Action.DOWN_0, Action.ROLLBACK)
            assert LADDER.lighter(decision.to_suite, decision.from_suite)
        if decision.action in (Action.DOWN, Action.DOWN_0):
            assert LADDER.lighter(decision.to_suite, decision.from_suite)
        if decision.action is Action.DOWN:
            assert CATALOGUE[decision.to_suite].level <= CATALOGUE[decision.from_suite].level
        if decision.action is Action.UPGRADE:
            assert LADDER.lighter(decision.from_suite, decision.to_suite)
            assert step.inputs.vehicle.armed is False
    assert plant.asked


@strategies
@few
@given(seeds, suites)
def test_i4_the_same_inputs_give_the_same_decisions(strategy: Any, seed: int, start: str) -> None:
    """A run replayed from its own published inputs decides the same, byte for byte."""
    _, steps = flown(seed, start, strategy, hours=0.3)
    memory = strategy.initial_state(1000.0)
    for step in steps:
        published = snapshot.dump(step.inputs, step.now)
        inputs, now = snapshot.load(published)
        decision, memory = strategy.decide(inputs, memory, now)
        assert decision == step.decision
        assert snapshot.dump(inputs, now) == published


@few
@example(3196, "cs-mlkem1024-aesgcm-mldsa87")  # a session that comes back with the same suite and epoch
@given(seeds, suites)
def test_hysteresis_and_cooldown(seed: int, start: str) -> None:
    """A step down for link or stress follows 5 s of it in every snapshot, an upgrade 30 s without any; after a switch
    nothing but an emergency or a rollback comes within 5 s."""
    _, steps = flown(seed, start)
    for index, step in enumerate(steps):
        decision = step.decision
        if not decision.acts:
            continue
        recent = [other for other in steps[max(0, index - 60) : index] if step.now - other.now <= P.tau_down_s]
        if decision.guard in ("link", "stress"):
            assert all(other.stressed for other in recent)
        if decision.action is Action.UPGRADE:
            calm = [other for other in steps[max(0, index - 60) : index] if step.now - other.now < P.tau_up_s]
            assert not any(other.stressed for other in calm)
        switched = step.inputs.session.last_switch_s
        assert switched is not None
        if decision.guard not in ("emergency", "blackout"):
            assert step.now - switched >= P.cooldown_s


@strategies
@few
@given(seeds, suites)
def test_rate_limit(strategy: Any, seed: int, start: str) -> None:
    """At most five successful changes of keys within any 300 s, but for emergencies and rollbacks."""
    plant, _ = flown(seed, start, strategy, weather=Weather(warming=0.02, gaps=0.02))
    times = [(when, action) for when, action, *_ in plant.switches]
    for index, (when, action) in enumerate(times):
        if action in LIMITED:
            within = [other for other, _ in times[:index] if when - other < P.rate_limit_window_s]
            assert len(within) < P.rate_limit_count


@few
@given(seeds)
def test_rekeys_follow_the_familys_interval(seed: int) -> None:
    """Over calm hours: ML-KEM every minute, HQC every five, McEliece only when the phase of flight changed."""
    calm = Weather(**dict.fromkeys(vars(Weather()), 0.0))
    for start, interval in ((DEFAULT, P.rekey_mlkem_s), ("cs-hqc192-aesgcm-mldsa65", P.rekey_hqc_s)):
        plant = Plant(Cascade(CATALOGUE, every(target_suite=start)), seed, start=start, weather=calm, wanders=False)
        plant.phase = Phase.CRUISE
        plant.run(HOUR)
        times = [when for when, action, *_ in plant.switches if action is Action.REKEY]
        assert len(times) == pytest.approx(HOUR / interval, rel=0.2)
        assert all(later - earlier > interval for earlier, later in pairwise(times))
    mceliece = "cs-classicmceliece460896-aesgcm-mldsa65"
    plant = Plant(Cascade(CATALOGUE, every(target_suite=mceliece)), seed, start=mceliece, weather=calm, wanders=False)
    for phase in (Phase.HOVER, Phase.DISARMED):
        plant.phase = phase
        plant.run(HOUR // 2)
    events = [when for when, *_ in plant.switches]
    assert len(events) == 1
    assert HOUR / 2 < events[0] - 1000.0 < HOUR / 2 + 70
