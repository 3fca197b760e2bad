# SPDX-License-Identifier: Apache-2.0
"""When fresh keys come from a ratchet, and when not: each limit just within and just beyond, under every strategy."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import CATALOGUE, GROUND, change, suite, well

from pqc_mav_policy import memory as memories
from pqc_mav_policy import renewal
from pqc_mav_policy.decision import Action, Decision, Kind
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome

LONG = suite("HQC-256-AG-SP-256s")  # its key and signature are 37,037 bytes; its keys are renewed every 300 s
SHORT = suite("HQC-256-AG-MD-87")
P = PolicyParameters()


def it(current: str = LONG, parameters: PolicyParameters = P, failed: bool = False, **session: Any) -> Situation:
    inputs = change(well(current), session={"ratchet_for_s": 3000.0, **session})
    memory = memories.begin(0.0)
    if failed:
        outcome = Outcome(current, False, 1.0, current, kind="ratchet")
        memory = memories.observe(inputs, memory, parameters, 1.0)
        memory = memories.observe(change(inputs, outcomes=(outcome,)), memory, parameters, 2.0)
    return Situation(inputs, memory, parameters, Ladder(CATALOGUE), 100.0)


@pytest.mark.parametrize(
    ("session", "taken"),
    [
        ({}, True),
        ({"ratchets": 6}, True),
        ({"ratchets": 7}, False),
        ({"ratchet_for_s": 330.1}, True),
        ({"ratchet_for_s": 330.0}, False),
        ({"ratchet_for_s": 0.5}, False),
        ({"ratchet_for_s": 0.0}, False),
    ],
)
def test_a_long_handshake_gives_way_where_the_tunnel_would_ratchet_too(session: dict[str, Any], taken: bool) -> None:
    assert bool(renewal.instead(it(**session))) is taken
    assert bool(renewal.possible(it(**session))) is (session.get("ratchet_for_s") != 0.0)


@pytest.mark.parametrize(("limit", "taken"), [(37036, True), (37037, False)])
def test_the_limit_is_on_key_and_signature(limit: int, taken: bool) -> None:
    assert bool(renewal.instead(it(parameters=PolicyParameters(ratchet_above_bytes=limit)))) is taken
    assert renewal.instead(it()) == "key and signature of a full handshake are 37037 bytes"


def test_a_short_handshake_is_made_in_full_and_0_ratchets_every_suite() -> None:
    assert not renewal.instead(it(SHORT))
    assert renewal.instead(it(SHORT, PolicyParameters(ratchet_above_bytes=0)))


def test_after_a_ratchet_that_failed_a_full_handshake_comes() -> None:
    assert not renewal.instead(it(failed=True))
    assert renewal.possible(it(failed=True))


def test_the_limit_of_the_tunnel_itself_is_the_default() -> None:
    """16,384 bytes of its long message: no suite's key and signature are so near to it that the rest would matter."""
    sizes = [each.answer_bytes for each in CATALOGUE.values()]
    assert not [size for size in sizes if P.ratchet_above_bytes - 200 < size <= P.ratchet_above_bytes]


def test_only_requests_for_fresh_keys_become_ratchets() -> None:
    for action in Action:
        decision = Decision(action, "guard", "Because.", SHORT, SHORT)
        eased = renewal.by_ratchet(decision, "why")
        assert (eased.kind is Kind.RATCHET) is (action is Action.REKEY)
        assert eased.reason == ("Because; by a ratchet: why." if action is Action.REKEY else "Because.")


def decided(inputs: DecisionInput) -> Decision:
    """By the cascade, after a minute and more of the same."""
    strategy = Cascade(CATALOGUE, P)
    state = strategy.initial_state(0.0)
    for second in range(62):
        decision, state = strategy.decide(inputs, state, float(second))
    return decision


def test_the_cascade_renews_a_long_suite_s_keys_by_ratchets() -> None:
    due = change(well(LONG, vehicle=GROUND), session={"key_age_s": 400.0, "ratchet_for_s": 3000.0})
    due = change(due, available=(LONG, SHORT))
    assert (decided(due).action, decided(due).kind) == (Action.REKEY, Kind.RATCHET)
    seventh = decided(change(due, session={"ratchets": 7}))
    assert (seventh.action, seventh.kind) == (Action.REKEY, Kind.REKEY)


def test_the_cascade_ratchets_a_refused_suite_only_where_no_other_is_left() -> None:
    due = change(well(SHORT, vehicle=GROUND), session={"key_age_s": 400.0, "ratchet_for_s": 3000.0})
    refused = change(due, blacklisted=(SHORT,))
    assert decided(refused).action is Action.DOWN
    alone = decided(change(refused, available=(SHORT,)))
    assert (alone.action, alone.kind) == (Action.REKEY, Kind.RATCHET)
    assert alone.reason.endswith("by a ratchet: its handshakes are refused and no lighter suite of its level is left.")
    assert decided(change(refused, available=(SHORT,), session={"ratchet_for_s": 0.0})).action is Action.HOLD
