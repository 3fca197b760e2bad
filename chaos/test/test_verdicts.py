# SPDX-License-Identifier: Apache-2.0
"""Each thing a row is judged by, one at a time, from a run that passes."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import NormalDist

import pytest
from accounting import RECEIVED_DROPS
from conditions import Condition, Event, Expect, Rekey
from hypothesis import given
from hypothesis import strategies as st
from tables import HEAD, aligned, markdown, row, short_counter
from verdicts import (
    HANDSHAKE_OUTCOMES,
    Observation,
    RekeyResult,
    Way,
    accounted_for,
    binomial_bounds,
    problems,
    to_dict,
    unexplained_losses,
)

PLAIN = Condition("plain", "plain")


def totals(**counts: int) -> dict[str, int]:
    base = dict.fromkeys((*RECEIVED_DROPS, *HANDSHAKE_OUTCOMES, "delivered", "control"), 0) | counts
    return {"enc_rx_datagrams": accounted_for(base), **base}


def good(**changes: object) -> Observation:
    ends = ("drone", "gcs")
    seen = Observation(
        ways={name: Way(1000, 1000, lost_on_link=0, recovery_s=0.1) for name in ("down", "up")},
        rekeys=[RekeyResult(True, True, 3.0, "Rekeyed.")],
        totals={end: totals(delivered=1000, control=10) for end in ends},
        stats={end: {"roams": 0, "plain_dropped_no_session": 0} for end in ends},
        rss_before_kib=dict.fromkeys(ends, 20_000),
        rss_after_kib=dict.fromkeys(ends, 20_100),
        states=dict.fromkeys(ends, "UP"),
    )
    return replace(seen, **changes)


def ways(**changes: object) -> dict[str, Way]:
    return {"down": replace(good().ways["down"], **changes), "up": good().ways["up"]}


def test_a_good_run_passes() -> None:
    assert problems(PLAIN, good()) == []


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (good(ways=ways(delivered=999)), "999 of 1000 delivered down"),
        (good(ways=ways(duplicated=1)), "1 messages arrived twice down"),
        (good(ways=ways(sent=0, delivered=0)), "nothing was sent down"),
        (good(corrupted=1), "1 spoiled"),
        (good(misdelivered=2), "2 misdelivered"),
        (good(rekeys=[RekeyResult(False, True, 3.0, "No answer.")]), "rekey 1 failed: No answer."),
        (good(rekeys=[]), "0 of 1 rekeys were answered"),
        (good(states={"drone": "HANDSHAKING", "gcs": "UP"}), "drone is HANDSHAKING"),
        (good(totals={"gcs": totals(delivered=5, enc_rx_datagrams=6)}), "accounts for 5"),
        (good(rss_after_kib={"gcs": 40_000}), "gcs grew from 20000 to 40000 KiB"),
        (good(stats={"gcs": {"roams": 1}}), "followed 1 address changes"),
    ],
)
def test_each_fault_is_named(seen: Observation, words: str) -> None:
    assert any(words in each for each in problems(PLAIN, seen)), problems(PLAIN, seen)


def test_loss_must_be_the_links() -> None:
    lossy = Condition("lossy", "lossy", {"loss": 0.3}, expect=Expect(loss=0.3))

    def both(delivered: int, on_link: int) -> Observation:
        return good(ways={name: Way(1000, delivered, lost_on_link=on_link) for name in ("down", "up")})

    assert problems(lossy, both(700, 300)) == []
    assert any("expected" in each for each in problems(lossy, both(600, 400)))
    assert any("vanished" in each for each in problems(lossy, both(700, 299)))


def test_losses_at_the_ends_are_explained() -> None:
    assert unexplained_losses(Way(100, 90, lost_on_link=4, lost_at_ends=6)) == 0
    assert unexplained_losses(Way(100, 90, lost_on_link=4, lost_at_ends=5)) == 1
    assert unexplained_losses(Way(100, 90, lost_on_link=20)) == 0
    assert unexplained_losses(Way(100, 90, lost_on_link=None)) == 0


def test_recovery_has_a_limit() -> None:
    cut = Condition("cut", "cut", events=(Event(1, "impair", heals=True),), expect=Expect(loss=None, recover_s=1.0))
    assert problems(cut, good()) == []
    assert any("after 1.20 s" in each for each in problems(cut, good(ways=ways(recovery_s=1.2))))
    assert any("never" in each for each in problems(cut, good(ways=ways(recovery_s=None))))


def test_an_attack_must_bite() -> None:
    attack = Condition(
        "a", "a", events=(Event(1, "attack", {"mode": "replay"}),), expect=Expect(drops={"drop_replay": 5})
    )
    felt = {"gcs": totals(delivered=9, drop_replay=4), "drone": totals(drop_replay=1)}
    assert problems(attack, good(attack={"replayed": 5}, totals=felt)) == []
    assert any("did not bite" in each for each in problems(attack, good(attack={"replayed": 5})))
    assert any("did nothing" in each for each in problems(attack, good(totals=felt)))


def test_a_clock_must_have_been_stepped() -> None:
    clock = Condition("c", "c", events=(Event(1, "step_clock", {"end": "gcs", "seconds": -86_400}),))
    assert problems(clock, good(clock_steps_s={"gcs": -86_400.2})) == []
    assert any("went 0 s" in each for each in problems(clock, good()))


def test_a_rekey_that_may_fail_may_and_a_killed_end_may_change_its_size() -> None:
    tolerant = Condition("t", "t", rekeys=(Rekey(1, must_succeed=False),))
    refused = good(
        rekeys=[RekeyResult(False, False, 5.0, "No answer.")], rss_after_kib={"gcs": 90_000}, killed=("gcs",)
    )
    assert problems(tolerant, refused) == []


def test_lost_at_most_and_least_rate() -> None:
    roam = Condition("r", "r", expect=Expect(loss=None, lost_at_most=3, accounted=False))
    assert problems(roam, good(ways=ways(delivered=997))) == []
    assert any("4 messages lost" in each for each in problems(roam, good(ways=ways(delivered=996))))
    slow = Condition("s", "s", seconds=10, expect=Expect(loss=None, delivered_per_s=90))
    assert problems(slow, good()) == []
    assert any("only 80" in each for each in problems(slow, good(ways=ways(delivered=800, lost_on_link=200))))


@given(trials=st.integers(1, 5000), share=st.floats(0, 1))
def test_bounds_hold_the_mean_and_are_exact_at_the_ends(trials: int, share: float) -> None:
    least, most = binomial_bounds(trials, share)
    assert 0 <= least <= trials * share + 1e-9
    assert trials * share - 1e-9 <= most <= trials
    if share in (0.0, 1.0):
        assert least == most == trials * share


def test_bounds_are_four_and_a_half_deviations() -> None:
    least, most = binomial_bounds(10_000, 0.5)
    assert (least, most) == (4774, 5226)
    assert NormalDist().cdf(-4.5) < 1e-5


def test_counters_of_one_drone_are_not_counted_twice() -> None:
    seen = good(totals={"gcs": totals(drop_replay=7)}, stats={"gcs": {"drop_replay": 7, "plain_dropped_no_session": 2}})
    assert seen.drops == {"drop_replay": 7, "plain_dropped_no_session": 2}


def test_handshake_datagrams_are_accounted_for_and_shown_where_they_are_not_honest() -> None:
    seen = good(totals={"gcs": totals(delivered=5, hs_taken=4, hs_repeated=3, hs_tag=2)})
    assert seen.totals["gcs"]["enc_rx_datagrams"] == 14
    assert problems(PLAIN, seen) == []
    assert seen.drops == {"hs_tag": 2}


def test_a_row_shows_it_all() -> None:
    cut = Condition("cut", "link cut", events=(Event(1, "impair", heals=True),))
    cells = dict(
        zip(HEAD, row(cut, good(ways=ways(delivered=990, lost_on_link=8, recovery_s=0.25)), ["bad"]), strict=True)
    )
    assert cells["lost"] == "10"
    assert cells["unexplained"] == "2"
    assert cells["recovered s"] == "0.250"
    assert cells["rekeys"] == "ok 3 ms"
    assert cells["RSS MiB gcs"] == "19.5 -> 19.6"
    assert cells["verdict"] == "FAILED"
    calm = dict(zip(HEAD, row(PLAIN, good(), []), strict=True))
    assert (calm["recovered s"], calm["drops"], calm["verdict"]) == ("-", "none", "ok")


def test_many_rekeys_are_summed_up() -> None:
    seen = Observation(rekeys=[RekeyResult(i != 5, True, 10.0 + i, "") for i in range(12)])
    line = dict(zip(HEAD, row(PLAIN, seen, []), strict=True))
    assert line["rekeys"] == "11 of 12 ok, 10 to 21 ms"


def test_a_row_of_a_run_that_never_was_can_be_shown() -> None:
    assert row(PLAIN, Observation(), ["could not be run"])[-1] == "FAILED"


def test_tables() -> None:
    assert markdown(("a", "b"), [(1, "x")]) == "| a | b |\n|---|---|\n| 1 | x |\n"
    assert aligned(("a", "bb"), [("long", 1)]) == "a     bb\nlong  1"
    assert short_counter("drop_auth_fail") == "auth fail"
    assert short_counter("plain_dropped_no_session") == "plain no session"


def test_the_row_as_json() -> None:
    text = json.dumps(to_dict(PLAIN, good(), ["bad"]))
    assert json.loads(text)["ways"]["down"]["unexplained"] == 0
