# SPDX-License-Identifier: Apache-2.0
"""Strategies by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scenes import CATALOGUE, well

from pqc_mav_policy.settings import STRATEGIES, Settings, StrategyError, make
from pqc_mav_policy.strategies.expert.performance import PerformanceError


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_can_be_made_and_decides(name: str) -> None:
    strategy = make(name, CATALOGUE, Settings())
    assert strategy.name == name
    decision, _ = strategy.decide(well(), strategy.initial_state(0.0), 1.0)
    assert decision.reason


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    with pytest.raises(StrategyError, match="'guess' is not a strategy; the strategies are measured, cascade, expert"):
        make("guess", CATALOGUE, Settings())


def test_a_strategy_whose_module_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pqc_mav_policy.strategies.hybrid.hybrid", None)
    with pytest.raises(StrategyError, match="Strategy 'hybrid' cannot be loaded"):
        make("hybrid", CATALOGUE, Settings())


def test_the_experts_table_is_read_from_the_file_given() -> None:
    with pytest.raises(PerformanceError, match="nowhere"):
        make("expert", CATALOGUE, Settings(performance_file=Path("/nowhere.csv")))
