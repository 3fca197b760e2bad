# SPDX-License-Identifier: Apache-2.0
"""A failed handshake is never a reason for a lower level, whatever an adversary answers.

The adversary decides the outcome of every request and what stands on the engine's list, each second anew. From level 5
no strategy may fall below the configured suite; where the operator allows lower levels, only what telemetry alone would
have decided may use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_flights import snapshots
from scenes import CATALOGUE, CORE, GROUND, change, suite, well
from whims import Whim

from pqc_mav_policy.controller import Controller
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.strategies.expert.expert import Expert
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import DEFAULT_FILE, load
from pqc_mav_policy.strategies.hybrid.hybrid import Hybrid
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.measured import Measured
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.strategies.rl.state import Choice
from pqc_mav_policy.strategies.rl.strategy import RlStrategy
from pqc_mav_policy.strategies.rl.table import Table, shipped
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome, Phase
from pqc_mav_policy.telemetry.telemetry import Telemetry

LEVEL_5 = [name for name in CORE if CATALOGUE[name].level == 5]
PERFORMANCE = load(DEFAULT_FILE)
SHIPPED = shipped()
ERRORS = ("timeout", "unreachable", "rejected", "bad_frame", "malformed", "bad_signature", "bad_confirm", "crypto", "")
often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def kinds(what: str) -> list[Any]:
    """Every level or family of the core suites."""
    return sorted({getattr(CATALOGUE[name], what) for name in CORE})


class LowLevels(Table):
    """A table that likes lower levels best and holding least: the worst an untrained strategy could want."""

    def __init__(self) -> None:
        super().__init__({})

    def value(self, state: object, choice: Choice) -> float:
        return {Choice.HOLD: 0.0, Choice.REKEY: 0.5, Choice.LEVEL_5: 1.0, Choice.LEVEL_3: 2.0, Choice.LEVEL_1: 3.0}[
            choice
        ]


def strategies(parameters: PolicyParameters, table: Table = SHIPPED) -> dict[str, Any]:
    """All strategies; `table` for the learned ones."""
    expert = Expert(CATALOGUE, parameters, ExpertParameters(), PERFORMANCE)
    return {
        "measured": Measured(CATALOGUE, parameters, cost_model(CATALOGUE, MeasuredParameters(), None)),
        "cascade": Cascade(CATALOGUE, parameters),
        "expert": expert,
        "rl": RlStrategy(CATALOGUE, parameters, table),
        "hybrid": Hybrid(expert, table),
    }


every: Any = pytest.mark.parametrize("name", ["measured", "cascade", "expert", "rl", "hybrid"])
# What the adversary does in one second: the fate of a request (None = no answer yet) and the engine's list.
fates = st.none() | st.sampled_from(("ok", *ERRORS))
# Whole levels and families at once, for only then is there no like suite left; and any others.
WHOLES = [(what, kind) for what in ("level", "kem_family", "sig_family") for kind in kinds(what)]
wholes = st.sets(st.sampled_from(WHOLES), max_size=3).map(
    lambda listed: [n for n in CORE if any(getattr(CATALOGUE[n], what) == kind for what, kind in listed)]
)
lists = st.just(CORE) | st.tuples(wholes, st.sets(st.sampled_from(CORE), max_size=6)).map(
    lambda both: (*both[0], *both[1])
)
seconds = st.lists(st.tuples(fates, lists, st.integers(1, 70)), min_size=1, max_size=25)


# Telemetry that decides something, in phases that allow much; snapshots() draws anything, most of which only holds.
TROUBLES: tuple[dict[str, Any], ...] = (
    {},
    {"session": {"key_age_s": 1e4}},
    {"thermal": {"rate_c_per_min": 9.0}},
    {"thermal": {"temperature_c": 75.0}},
    {"thermal": {"temperature_c": 90.0}},
    {"battery": {"voltage_v": 14.5}},
    {"link": {"loss": 0.2}},
    {"link": {"loss": 0.05}},
    {"link": {"longest_silence_s": 4.0}},
)
PHASES: tuple[dict[str, Any], ...] = (GROUND, {"phase": Phase.HOVER})
VIEWS = [well(**trouble, vehicle=phase) for trouble in TROUBLES for phase in PHASES]


def level(name: str) -> int:
    return CATALOGUE[name].level


def attacked(
    strategy: Any, start: str, views: Sequence[DecisionInput], acts: Sequence[tuple[Any, Any, int]]
) -> set[str]:
    """Suites a strategy asks for under an adversary's answers; `views` are the telemetry, in turn."""
    now, suite_now, epoch, pending = 1000.0, start, 0, ""
    state = strategy.initial_state(now)
    asked: set[str] = set()
    for number, (fate, listed, wait) in enumerate(acts):
        now += wait
        outcomes: tuple[Outcome, ...] = ()
        if pending and fate is not None:
            outcomes = (Outcome(pending, fate == "ok", now, suite_now, "", "" if fate == "ok" else fate),)
            if fate == "ok":
                suite_now, epoch = pending, epoch + 1
            pending = ""
        inputs = change(
            views[number % len(views)],
            session={"suite": suite_now, "epoch": epoch, "pending_suite": pending or None},
            outcomes=outcomes,
            blacklisted=tuple(listed),
        )
        # Several decisions on the same view, so that hysteresis and the pace of choices run out.
        for _ in range(7):
            decision, state = strategy.decide(inputs, state, now)
            if decision.acts:
                asked.add(decision.to_suite)
                pending = decision.to_suite
                break
            now += 1.0
            inputs = change(inputs, outcomes=())
    return asked


@every
@often
@given(
    st.sampled_from(LEVEL_5),
    st.sampled_from(LEVEL_5),
    st.lists(st.sampled_from(VIEWS) | snapshots(), min_size=1, max_size=6),
    seconds,
)
def test_from_level_5_no_answer_leads_below_the_configured_suite(
    name: str, start: str, configured: str, views: list[DecisionInput], acts: list[Any]
) -> None:
    """By default not even the drone's own telemetry leads lower."""
    strategy = strategies(PolicyParameters(), LowLevels())[name]
    views = [change(view, configured_suite=configured, available=CORE, session=well(start).session) for view in views]
    assert all(level(asked) == 5 for asked in attacked(strategy, start, views, acts))


@every
@often
@given(st.sampled_from(LEVEL_5), st.sampled_from(LEVEL_5), st.booleans(), seconds)
def test_where_lower_levels_are_allowed_handshakes_alone_never_lead_there(
    name: str, start: str, configured: str, ground: bool, acts: list[Any]
) -> None:
    """Telemetry is well all the time; a learned table may want a lower level all the same, and then may have it."""
    tables: list[Table] = [SHIPPED] if name in ("measured", "cascade", "expert") else [SHIPPED, Table({})]
    for table in tables:
        strategy = strategies(PolicyParameters(minimum_level=1, target_suite="max"), table)[name]
        # A band is the drone's own telemetry, too; on the ground and in hover these suites are fit for it.
        phase = GROUND if ground else {"phase": Phase.HOVER}
        view = well(start, configured_suite=configured, vehicle=phase)
        free = attacked(strategy, start, [view], [(None, (), wait) for _, _, wait in acts])
        wanted = min([5, *map(level, free)])
        assert all(level(asked) >= wanted for asked in attacked(strategy, start, [view], acts))


def lowered(strategy: Any, view: DecisionInput, current: str, listed: Sequence[str], seconds_before: int) -> bool:
    """Whether the engine's list alone leads to a lower level, after that many seconds of the same telemetry."""
    base = change(view, session={"suite": current}, blacklisted=())
    state = strategy.initial_state(0.0)
    for second in range(seconds_before):
        _, state = strategy.decide(base, state, float(second))
    now = float(seconds_before)
    free, _ = strategy.decide(base, state, now)
    found, _ = strategy.decide(change(base, blacklisted=tuple(listed)), state, now)
    return bool(found.acts) and level(found.to_suite) < level(free.to_suite)


@every
@often
@given(snapshots(), st.sampled_from(CORE), lists, st.integers(1, 9), st.sampled_from((SHIPPED, LowLevels())))
def test_the_engines_list_never_lowers_a_decision(
    name: str, view: DecisionInput, current: str, listed: Any, lasted: int, table: Table
) -> None:
    """Whatever telemetry says and the operator allows: the level is at least what it would be with nothing avoided."""
    assert not lowered(strategies(PolicyParameters(minimum_level=1), table)[name], view, current, listed, lasted)


@every
def test_no_level_or_family_on_the_engines_list_lowers_a_decision(name: str) -> None:
    """The same, for every trouble that leads somewhere, with whole levels and families avoided."""
    currents = [suite(code) for code in ("MC-8192-AG-MD-87", "HQC-256-AG-MD-87", "ML-1024-AG-MD-87", "ML-768-AG-MD-65")]
    listed = [[n for n in CORE if getattr(CATALOGUE[n], what) == kind] for what, kind in WHOLES]
    listed += [[n for n in CORE if level(n) == 5 and n != keep] for keep in currents]
    parameters = PolicyParameters(minimum_level=1, target_suite="max")
    tables: list[Table] = [SHIPPED] if name in ("measured", "cascade", "expert") else [SHIPPED, LowLevels()]
    for table in tables:
        strategy = strategies(parameters, table)[name]
        for view in VIEWS:
            for current in currents:
                for avoided in listed:
                    # Long enough for stress to have lasted, and for a choice of the learned ones to be due.
                    assert not lowered(strategy, view, current, [*avoided, current], 10), (view, current, avoided)


@every
@often
@given(snapshots(), st.sampled_from(CORE), st.sampled_from(CORE), st.integers(0, 2**32 - 1))
def test_with_everything_avoided_the_running_suite_is_kept(
    name: str, view: DecisionInput, current: str, configured: str, seed: int
) -> None:
    strategy = strategies(PolicyParameters(minimum_level=1), Whim(seed))[name]
    inputs = change(view, session={"suite": current}, configured_suite=configured, blacklisted=CORE)
    state = strategy.initial_state(0.0)
    for now in range(8):
        decision, state = strategy.decide(inputs, state, float(now))
        assert decision.to_suite == decision.from_suite


@often
@given(st.sampled_from(CORE), st.sampled_from(CORE), st.sampled_from((0, 1, 3, 5)), st.sampled_from(ERRORS))
def test_a_pin_below_the_lowest_level_is_not_followed(pin: str, configured: str, minimum: Any, error: str) -> None:
    parameters = PolicyParameters(minimum_level=minimum)
    telemetry = Telemetry(parameters.near_switch_s, 10.0)
    controller = Controller(Cascade(CATALOGUE, parameters), CATALOGUE, parameters, telemetry, 0.0)
    controller.allow(CORE, configured)
    refused = level(pin) < (minimum or level(configured))
    assert bool(controller.too_low(pin)) is refused


def test_the_review_s_four_answers_do_not_move_a_level_5_drone() -> None:
    """Four refusals stepped a drone from level 5 to level 1 in 86 s: now it stays, and renews nothing lower."""
    start = suite("ML-1024-AG-MD-87")
    for name, strategy in strategies(PolicyParameters()).items():
        state = strategy.initial_state(0.0)
        listed: tuple[str, ...] = ()
        for second in range(600):
            inputs = well(start, configured_suite=start, session={"key_age_s": 1e4}, blacklisted=listed)
            decision, state = strategy.decide(inputs, state, float(second))
            if decision.acts:
                assert level(decision.to_suite) == 5, name
                listed = (*listed, decision.to_suite)
