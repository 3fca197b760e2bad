# SPDX-License-Identifier: Apache-2.0
"""The simulated link: what the receiver's window shows of losses, narrow channels and silences."""

from __future__ import annotations

import pytest

from pqc_mav_policy.telemetry.inputs import Link, Phase
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.link import LinkModel

GOOD = Conditions(Phase.CRUISE)


def run(model: LinkModel, conditions: Conditions, seconds: int, start: int = 0, **arguments: float) -> Link:
    for index in range(seconds):
        link = model.step(conditions, arguments.get("transferring", 0.0), float(start + index), arguments.get("near"))
    return link


def test_a_good_link_carries_everything() -> None:
    link = run(LinkModel(), GOOD, 10)
    assert (link.packets_per_s, link.loss, link.blackouts) == (320.0, 0.0, 0)
    assert link.gap_p95_s == pytest.approx(3.0 / 320.0)


def test_losses_stretch_the_gaps() -> None:
    link = run(LinkModel(), Conditions(Phase.CRUISE, loss=0.5), 10)
    assert link.loss == pytest.approx(0.5) and link.gap_p95_s == pytest.approx(6.0 / 320.0)
    fading = run(LinkModel(), Conditions(Phase.CRUISE, loss=0.995), 10)
    assert fading.gap_p95_s is not None and fading.gap_p95_s > 1.0


def test_a_transfer_takes_half_of_a_narrow_link_and_nothing_of_a_wide_one() -> None:
    narrow = Conditions(Phase.CRUISE, bandwidth_kbit_s=400.0)
    assert run(LinkModel(), narrow, 10).loss == pytest.approx(0.0)
    assert (run(LinkModel(), narrow, 10, transferring=1.0).loss or 0.0) > 0.3
    assert run(LinkModel(), GOOD, 10, transferring=1.0).loss == pytest.approx(0.0)


def test_silences_are_counted_once_each_and_forgotten() -> None:
    silent = Conditions(Phase.CRUISE, silent=True)
    model = LinkModel()
    run(model, GOOD, 5)
    link = run(model, silent, 4, 5, near=3.0)
    assert link.blackouts == 1 and link.blackouts_near_switch == 1 and link.longest_silence_s == 4.0
    run(model, GOOD, 2, 9)
    link = run(model, silent, 2, 11, near=3.0)
    assert link.blackouts_near_switch == 2
    link = run(model, GOOD, 10, 13, near=12.5)
    assert link.blackouts == 0 and link.blackouts_near_switch == 0 and link.loss == pytest.approx(0.0)
    one_second = LinkModel()
    run(one_second, GOOD, 5)
    run(one_second, silent, 1, 5)
    assert run(one_second, GOOD, 1, 6).blackouts == 0  # a second alone is no blackout


def test_nothing_heard_at_all() -> None:
    link = run(LinkModel(), Conditions(Phase.CRUISE, silent=True), 20)
    assert link.packets_per_s == 0.0 and link.gap_p95_s == 5.0 and link.loss == 1.0
