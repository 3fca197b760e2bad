# SPDX-License-Identifier: Apache-2.0
"""Means of few runs have the interval that so few of them take, and of one there is none."""

from __future__ import annotations

import math
import sys

import pytest
import radios
import versus


def test_radios_shows_the_mean_of_what_succeeded():
    assert radios.shown([100, 120, 140]) == "120 ± 50"
    assert radios.shown([100, 120, 140, math.nan]) == "120 ± 50 (1 failed)"
    assert radios.shown([100, math.nan]) == "100 (1 failed)"
    assert radios.shown([math.nan]) == "- (1 failed)"


@pytest.mark.parametrize(("runs", "said"), [([100, 110, 120], "1.100 ± 0.248"), ([110], "1.100")])
def test_versus_shows_the_ratio(monkeypatch, capsys, runs, said):
    costs = {"old": [[100.0, 100.0] for _ in runs], "new": [[float(run)] * 2 for run in runs]}
    monkeypatch.setattr(versus, "cost_us", lambda folder: costs[str(folder)].pop(0))
    monkeypatch.setattr(sys, "argv", ["versus.py", "old", "new", "--repetitions", str(len(runs))])
    versus.main()
    gcs, drone = capsys.readouterr().out.splitlines()
    assert gcs.startswith("gcs: 100.00 us before") and gcs.endswith(f"ratio {said}") and drone.endswith(said)
