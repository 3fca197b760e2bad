# SPDX-License-Identifier: Apache-2.0
"""The operator is told of sustained loss, and only of that."""

from __future__ import annotations

from collections.abc import Iterable

from scenes import change, well

from pqc_mav_policy.loss_alert import LossAlert, observe
from pqc_mav_policy.parameters import PolicyParameters

P = PolicyParameters()
SECONDS = int(P.alert_after_s)


def after(losses: Iterable[float | None], **link: object) -> LossAlert:
    """The alert after these losses, one a second."""
    alert = LossAlert()
    for second, loss in enumerate(losses):
        alert = observe(alert, change(well(), link={"loss": loss, **link}), P, float(second))
    return alert


def test_loss_above_three_per_cent_for_ten_seconds_is_told() -> None:
    assert (P.alert_loss, P.alert_after_s) == (0.03, 10.0)
    assert after([0.031] * SECONDS).words == ""
    words = after([0.031] * (SECONDS + 1)).words
    assert words.startswith("3.1 % of the drone's packets have been lost for 10 s, limit 3 %")
    assert "lower the mission's tempo" in words


def test_the_limit_itself_and_a_gap_begin_anew() -> None:
    assert after([0.03] * (3 * SECONDS)) == LossAlert()
    assert after([0.5] * SECONDS + [0.0] + [0.5] * SECONDS).words == ""


def test_a_link_that_is_not_heard_says_nothing_of_loss() -> None:
    assert after([0.5] * (SECONDS + 1), valid=False) == LossAlert()
    assert after([0.5] * SECONDS + [None]) == LossAlert()


def test_it_ends_with_the_loss() -> None:
    assert after([0.5] * (2 * SECONDS)).words
    assert after([0.5] * (2 * SECONDS) + [0.01]) == LossAlert()
