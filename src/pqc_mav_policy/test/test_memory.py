# SPDX-License-Identifier: Apache-2.0
"""What is remembered: switches, calm, stress, failures, phases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scenes import CORE, DEFAULT, GROUND, suite, well

from pqc_mav_policy.memory import Memory, begin, observe
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome, Phase, TunnelState

PARAMETERS = PolicyParameters()
OTHER, THIRD = suite("ML-512-AG-FA-512"), suite("ML-1024-AG-MD-87")


def see(memory: Memory, now: float, inputs: DecisionInput | None = None) -> Memory:
    return observe(inputs or well(), memory, PARAMETERS, now)


def settled() -> Memory:
    """A drone that has been well from second 0 to 100."""
    memory = begin(0.0)
    for second in range(101):
        memory = see(memory, float(second))
    return memory


def test_first_session_is_no_rekey_and_counts_as_calm_since_the_start() -> None:
    memory = settled()
    assert (memory.suite, memory.rekeys, memory.previous_suite, memory.calm_since_s) == (DEFAULT, (), "", 0.0)


def ours(ok: bool = True) -> tuple[Outcome, ...]:
    return (Outcome(DEFAULT, ok, 100.8),)


def test_new_keys_reset_calm_whoever_asked_for_them() -> None:
    memory = see(settled(), 101.0, well(epoch=1, switched=100.6))
    assert memory.last_switch_s == memory.calm_since_s == 100.6
    assert memory.previous_suite == ""


@pytest.mark.parametrize("order", ["keys first", "together", "answer first"])
def test_keys_that_were_asked_for_here_count_once(order: str) -> None:
    asked = see(settled(), 100.5, well(session={"pending_suite": DEFAULT}))
    new = {"epoch": 1, "switched": 100.6}
    if order == "keys first":
        waiting = well(session={"pending_suite": DEFAULT}, **new)
        memory = see(see(see(asked, 101.0, waiting), 101.5, waiting), 102.0, well(outcomes=ours(), **new))
    elif order == "together":
        memory = see(asked, 101.0, well(outcomes=ours(), **new))
    else:
        memory = see(see(asked, 101.0, well(outcomes=ours())), 102.0, well(**new))
    assert memory.rekeys == (100.6,)
    assert see(memory, 103.0, well(epoch=2, switched=102.6)).rekeys == (100.6,), "somebody else's"
    again = see(memory, 110.0, well(session={"pending_suite": DEFAULT}, epoch=2, switched=109.6))
    assert again.rekeys == (100.6, 109.6), "those of the next request"


def test_five_rekeys_of_an_operator_leave_the_policy_all_of_its_own() -> None:
    memory = settled()
    for epoch in range(1, 6):
        memory = see(memory, 100.0 + epoch, well(epoch=epoch, switched=99.8 + epoch))
    assert memory.rekeys == () and memory.last_switch_s == 104.8
    failed = see(memory, 106.0, well(epoch=5, switched=104.8, outcomes=ours(ok=False)))
    assert see(failed, 107.0, well(epoch=6, switched=106.9)).rekeys == ()


def test_another_suite_leaves_the_one_before_to_roll_back_to_until_keys_change_again() -> None:
    memory = see(settled(), 101.0, well(OTHER, epoch=1, switched=100.6))
    assert memory.previous_suite == DEFAULT
    assert see(memory, 102.0, well(OTHER, epoch=2, switched=101.6)).previous_suite == ""


def test_a_new_session_after_a_lost_link_is_no_rekey() -> None:
    memory = see(settled(), 101.0, well(epoch=7, switched=100.5, outcomes=ours()))
    lost = see(memory, 102.0, well(session={"state": TunnelState.DOWN, "suite": "", "epoch": 0}))
    assert lost.suite == DEFAULT
    assert see(lost, 103.0, well(epoch=0, switched=102.5)).rekeys == (100.5,)


def test_a_new_session_is_noticed_even_with_the_same_suite_and_epoch() -> None:
    memory = see(settled(), 101.0, well(epoch=0, switched=0.0))
    assert memory.last_switch_s == 0.0
    assert see(memory, 103.0, well(epoch=0, switched=0.5)).last_switch_s == 0.0
    assert see(memory, 103.0, well(epoch=0, switched=0.51)).last_switch_s == 0.51
    again = see(memory, 103.0, well(epoch=0, switched=102.5))
    assert (again.last_switch_s, again.calm_since_s, again.rekeys) == (102.5, 102.5, ())
    assert see(again, 104.0, well(epoch=0, switched=102.9)) == replace(again, last_s=104.0), (
        "the same one, reckoned anew"
    )


def test_rekeys_leave_the_window_when_it_is_over() -> None:
    memory = see(settled(), 101.0, well(epoch=1, switched=101.0, outcomes=ours()))
    inside = see(memory, 101.0 + PARAMETERS.rate_limit_window_s - 0.1, well(epoch=1, switched=101.0))
    assert inside.rekeys == (101.0,)
    assert see(memory, 101.0 + PARAMETERS.rate_limit_window_s, well(epoch=1, switched=101.0)).rekeys == ()


@pytest.mark.parametrize(
    "disturbance",
    [
        well(thermal={"temperature_c": 80.5}),
        well(battery={"voltage_v": 13.9}),
        well(link={"gap_p95_s": 1.2}),
        well(link={"loss": 0.2}),
        well(link={"blackouts_near_switch": 4}),
        well(thermal={"rate_c_per_min": 6.0}),
        well(battery={"rate_mv_per_min": -600.0}),
        well(battery={"valid": False}),
        well(link={"valid": False}),
    ],
)
def test_every_disturbance_ends_the_calm(disturbance: DecisionInput) -> None:
    assert see(settled(), 101.0, disturbance).calm_since_s == 101.0


def test_stress_is_timed_from_its_first_sight_and_forgotten_when_it_ends() -> None:
    hot = well(thermal={"rate_c_per_min": 6.0})
    memory = see(see(settled(), 101.0, hot), 102.0, hot)
    assert memory.stress_since_s == 101.0
    assert memory.stressed_for(103.5) == 2.5
    over = see(memory, 103.0)
    assert over.stress_since_s is None
    assert over.stressed_for(104.0) == 0.0


def test_a_switch_restarts_the_time_stress_has_to_last() -> None:
    hot = {"rate_c_per_min": 6.0}
    memory = see(settled(), 101.0, well(thermal=hot))
    assert see(memory, 103.0, well(OTHER, epoch=1, switched=102.5, thermal=hot)).stress_since_s == 102.5


def test_what_was_not_watched_was_not_persistent() -> None:
    hot = well(thermal={"rate_c_per_min": 6.0})
    memory = see(settled(), 101.0, hot)
    later = see(memory, 120.0, hot)
    assert later.stress_since_s == later.calm_since_s == 120.0


@pytest.mark.parametrize(("gap", "persistent"), [(2.0, True), (2.01, False)])
def test_a_gap_as_long_as_telemetry_may_be_old_still_counts_as_watched(gap: float, persistent: bool) -> None:
    hot = well(thermal={"rate_c_per_min": 6.0})
    memory = see(settled(), 101.0, hot)
    assert (see(memory, 101.0 + gap, hot).stress_since_s == 101.0) is persistent


def failed(suite_id: str, error: str = "timeout") -> DecisionInput:
    return well(outcomes=(Outcome(suite_id, False, 100.5, DEFAULT, "failed", error),))


@pytest.mark.parametrize("error", ["timeout", "bad_frame", "bad_signature", "bad_confirm", "rejected", "crypto", ""])
def test_a_failed_handshake_leaves_its_time_and_its_number(error: str) -> None:
    memory = see(settled(), 101.0, failed(OTHER, error))
    assert memory == replace(see(settled(), 101.0), last_failure_s=101.0, failures=1)
    again = see(memory, 103.0, failed(OTHER, error))
    assert (again.failures, again.last_failure_s) == (2, 103.0)


def test_success_and_new_keys_end_a_row_of_failures() -> None:
    memory = see(settled(), 101.0, failed(OTHER, "timeout"))
    assert see(memory, 103.0).failures == 1
    assert see(memory, 103.0, well(outcomes=(Outcome(OTHER, True, 102.5),))).failures == 0
    assert see(memory, 103.0, well(epoch=0, switched=102.5)).failures == 0


def test_a_ratchet_that_failed_is_remembered_until_the_keys_change() -> None:
    memory = see(settled(), 101.0, well(outcomes=(Outcome(DEFAULT, False, 100.5, DEFAULT, kind="ratchet"),)))
    assert memory.ratchet_failed
    assert see(memory, 102.0).ratchet_failed
    assert not see(memory, 103.0, well(epoch=1, switched=102.5)).ratchet_failed
    assert not see(settled(), 101.0, failed(OTHER)).ratchet_failed


def test_a_refusal_that_leads_to_another_suite_is_no_repetition() -> None:
    refused = replace(failed(OTHER, "rejected"), blacklisted=(OTHER,))
    assert see(settled(), 101.0, refused).failures == 0


def test_the_cooldown_begins_with_the_later_of_switch_and_failure() -> None:
    memory = begin(0.0)
    assert memory.cooldown_until_s(30.0) is None
    assert replace(memory, last_switch_s=5.0).cooldown_until_s(30.0) == 35.0
    assert replace(memory, last_switch_s=5.0, last_failure_s=7.0).cooldown_until_s(30.0) == 37.0


def test_success_is_not_a_failure() -> None:
    memory = see(settled(), 101.0, well(outcomes=(Outcome(OTHER, True, 100.5),)))
    assert memory.last_failure_s is None


def test_an_abandoned_suite_is_forgotten_when_its_time_is_over() -> None:
    memory = replace(settled(), abandoned=OTHER, abandoned_until_s=200.0)
    assert see(memory, 199.9).abandoned == OTHER
    assert see(memory, 200.0).abandoned == ""


ROLLED = {"epoch": 1, "switched": 101.6}  # the session after the rollback from DEFAULT to OTHER


@pytest.mark.parametrize("order", ["keys first", "together", "answer first", "unasked"])
def test_the_suite_that_a_rollback_leaves_is_abandoned_from_then_on(order: str) -> None:
    memory = replace(settled(), rolling_to=OTHER)
    answer = (Outcome(OTHER, True, 101.7),)
    waiting = well(session={"pending_suite": OTHER})
    if order == "keys first":
        memory = see(see(memory, 101.0, waiting), 102.0, well(OTHER, session={"pending_suite": OTHER}, **ROLLED))
    elif order == "together":
        memory = see(see(memory, 101.0, waiting), 102.0, well(OTHER, outcomes=answer, **ROLLED))
    elif order == "answer first":
        memory = see(see(memory, 101.8, well(outcomes=answer)), 102.0, well(OTHER, **ROLLED))
    else:
        memory = see(memory, 102.0, well(OTHER, **ROLLED))
    assert (memory.abandoned, memory.abandoned_until_s) == (DEFAULT, 101.6 + PARAMETERS.blacklist_ttl_s)
    assert memory.rolling_to == ""


@pytest.mark.parametrize(
    "after",
    [
        well(),  # mode hold: nothing was asked for
        well(outcomes=(Outcome(OTHER, False, 101.0, DEFAULT, "refused", "rejected"),)),
        well(THIRD, **ROLLED),  # an operator went before it
    ],
    ids=["not asked for", "failed", "another suite"],
)
def test_a_rollback_that_was_not_carried_out_abandons_nothing(after: DecisionInput) -> None:
    memory = see(replace(settled(), rolling_to=OTHER), 101.0, after)
    assert (memory.abandoned, memory.rolling_to) == ("", "")
    later = see(memory, 102.0, well(OTHER, epoch=2, switched=101.9))
    assert later.abandoned == "", "who changes the suite afterwards has other reasons"


def test_a_change_of_phase_is_an_event_until_the_keys_change() -> None:
    memory = see(settled(), 101.0, well(vehicle={"phase": Phase.HOVER}))
    assert (memory.phase, memory.phase_since_s, memory.event) == (Phase.HOVER, 101.0, True)
    assert not see(memory, 102.0, well(epoch=1, switched=101.5, vehicle={"phase": Phase.HOVER})).event


def test_the_first_phase_seen_and_an_invalid_one_are_no_events() -> None:
    assert not see(begin(0.0), 1.0, well(vehicle=GROUND)).event
    memory = see(settled(), 101.0, well(vehicle={"phase": Phase.HOVER, "valid": False}))
    assert (memory.phase, memory.event) == (Phase.CRUISE, False)


def test_observing_changes_nothing_but_returns_anew() -> None:
    memory = settled()
    copy = replace(memory)
    see(memory, 101.0, well(OTHER, epoch=1, switched=101.0))
    assert memory == copy
    assert CORE
