# SPDX-License-Identifier: Apache-2.0
"""What a handshake is expected to cost: published, measured on the ground, measured in flight, on a link with loss."""

from __future__ import annotations

import pytest
from scenes import CATALOGUE, suite

from pqc_mav_policy.strategies.expert.performance import Performance, PerformanceTable
from pqc_mav_policy.strategies.measured.costs import REMEMBERED_S, CostModel, cost_model
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.telemetry.inputs import Link, Outcome

LIGHT, BEST, HQC, MCELIECE = map(
    suite, ("ML-512-AG-FA-512", "ML-1024-AG-FA-1024", "HQC-256-AG-MD-87", "MC-460-AG-MD-65")
)
GOOD = Link(loss=0.0, valid=True)


def model(*rows: Performance, **limits: float) -> CostModel:
    return cost_model(CATALOGUE, MeasuredParameters(**limits), PerformanceTable(rows) if rows else None)


def row(name: str, handshake_ms: float, energy_j: float | None = None) -> Performance:
    return Performance(name, handshake_ms, None, energy_j, None, "bench", False)


def test_without_a_measurement_the_published_medians_and_the_bytes() -> None:
    best = CATALOGUE[BEST]
    expected = work_ms(best.kem_token, best.sig_token) / 1e3 + best.handshake_bytes * 8 / 1e6
    assert model().cost_s(BEST, GOOD, ()) == pytest.approx(expected)
    assert model(link_kbit_s=1e6).cost_s(BEST, GOOD, ()) == pytest.approx(0.00216, abs=1e-4)


def test_loss_makes_the_transfer_longer_and_an_unknown_link_does_not() -> None:
    clear = model().cost_s(MCELIECE, GOOD, ())
    lossy = model().cost_s(MCELIECE, Link(loss=0.5, valid=True), ())
    assert lossy == pytest.approx(2 * clear, rel=0.1)
    assert model().cost_s(MCELIECE, Link(loss=0.5, valid=False), ()) == clear
    assert model().cost_s(BEST, Link(loss=1.0, valid=True), ()) < 10.0


def test_this_machines_table_counts_and_scales_what_it_lacks() -> None:
    """Twice as slow as published on two suites: so it is on the others."""
    table = [row(n, 2.0 * work_ms(CATALOGUE[n].kem_token, CATALOGUE[n].sig_token)) for n in (LIGHT, HQC)]
    slow = model(*table)
    assert slow.compute_s[BEST] == pytest.approx(2 * model().compute_s[BEST])
    assert slow.compute_s[HQC] == pytest.approx(2 * model().compute_s[HQC])
    assert (slow.source, model().source) == ("bench", "published medians, Raspberry Pi 5")


def test_energy_counts_where_it_was_measured() -> None:
    dear = model(row(BEST, 3.0, 5.0), row(LIGHT, 3.0))
    assert not dear.fits(BEST, GOOD, (), 10.0)
    assert dear.fits(LIGHT, GOOD, (), 10.0)
    assert model(row(BEST, 3.0, 5.0), budget_j=6.0).fits(BEST, GOOD, (), 10.0)
    assert model(row(BEST, 3.0), budget_j=0.001).fits(BEST, GOOD, (), 10.0), (
        "what was not measured is not held against it"
    )


def test_energy_counts_for_every_cipher() -> None:
    table = [row(BEST, 3.0, 1.0), row(BEST.replace("aesgcm", "chacha20poly1305"), 3.0, 2.0), row(LIGHT, 3.0)]
    assert set(model(*table).energy_j.values()) == {1.5} and BEST in model(*table).energy_j


def test_handshakes_of_this_flight_are_averaged() -> None:
    def done(took_s: float | None, ok: bool = True) -> Outcome:
        return Outcome(BEST, ok, 1.0, took_s=took_s)

    costs = model()
    seen = costs.note((), (done(0.1),), 5.0)
    assert seen == ((BEST, 0.1, 5.0),)
    seen = costs.note(seen, (done(0.2), done(None), done(9.0, ok=False), Outcome("gone", True, 1.0, took_s=9.0)), 6.0)
    assert seen == ((BEST, pytest.approx(0.13), 6.0),)
    both = costs.note(seen, (Outcome(LIGHT, True, 2.0, took_s=0.1),), 7.0)
    assert [name for name, *_ in both] == sorted((BEST, LIGHT))


def test_what_a_cipher_took_counts_for_every_cipher() -> None:
    """Else the scatter of a link would change the cipher at renewals."""
    costs = model()
    other = BEST.replace("aesgcm", "chacha20poly1305")
    seen = costs.note(((LIGHT, 0.1, 0.0),), (Outcome(BEST, True, 1.0, took_s=3.0),), 1.0)
    assert costs.cost_s(other, GOOD, seen) == costs.cost_s(BEST, GOOD, seen) > 2.0
    seen = costs.note(seen, (Outcome(other, True, 2.0, took_s=1.0),), 2.0)
    assert seen == tuple(sorted(((LIGHT, 0.1, 0.0), (other, pytest.approx(2.4), 2.0))))


def test_what_was_slow_long_ago_is_forgotten() -> None:
    """Anybody in the path can delay a handshake, and what costs too much is not tried again."""
    costs = model()
    slow = ((LIGHT, 0.1, 0.0), (BEST, 9.0, 1.0))
    assert costs.note(slow, (), REMEMBERED_S) == slow[1:]
    assert costs.note(slow, (), REMEMBERED_S + 1.0) == ()


def test_waiting_that_all_suites_share_is_no_suites_cost() -> None:
    """Four round trips over a satellite make the lightest suite take 2 s: that says nothing against the others."""
    costs = model()
    seen = ((LIGHT, 2.0, 0.0),)
    assert costs.cost_s(LIGHT, GOOD, seen) == pytest.approx(costs.predicted_s(LIGHT, GOOD))
    assert costs.cost_s(BEST, GOOD, seen) == costs.predicted_s(BEST, GOOD)
    slow = tuple(sorted((*seen, (HQC, 5.0, 0.0))))
    assert costs.cost_s(HQC, GOOD, slow) == pytest.approx(5.0 - 2.0 + costs.predicted_s(LIGHT, GOOD))
    assert costs.cost_s(LIGHT, GOOD, slow) == pytest.approx(costs.predicted_s(LIGHT, GOOD))
    fast = tuple(sorted((*seen, (HQC, 2.01, 0.0))))
    assert costs.cost_s(HQC, GOOD, fast) == costs.predicted_s(HQC, GOOD), "never less than predicted"
