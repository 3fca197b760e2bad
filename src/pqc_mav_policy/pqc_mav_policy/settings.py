# SPDX-License-Identifier: Apache-2.0
"""Everything a strategy is made from, and the strategies by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.expert import performance
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import PerformanceTable
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue

# Name -> "module:function". Each function takes (Catalogue, Settings) and returns the strategy; modules load on demand.
STRATEGIES: Mapping[str, str] = {
    "measured": "pqc_mav_policy.strategies.measured.measured:make",
    "cascade": "pqc_mav_policy.strategies.cascade.cascade:make",
    "expert": "pqc_mav_policy.strategies.expert.expert:make",
    "rl": "pqc_mav_policy.strategies.rl.strategy:make",
    "hybrid": "pqc_mav_policy.strategies.hybrid.hybrid:make",
}


class StrategyError(ValueError):
    """A strategy cannot be made: one sentence for a person."""


@dataclass(frozen=True)
class Settings:
    """Parameters of every strategy; None means the shipped file."""

    policy: PolicyParameters = field(default_factory=PolicyParameters)
    measured: MeasuredParameters = field(default_factory=MeasuredParameters)
    expert: ExpertParameters = field(default_factory=ExpertParameters)
    performance_file: Path | None = None
    rl_policy_file: Path | None = None

    def performance(self) -> PerformanceTable:
        """Reads the table. Raises PerformanceError."""
        return performance.load(self.performance_file or performance.DEFAULT_FILE)


def make(name: str, catalogue: Catalogue, settings: Settings) -> Strategy[Any]:
    """The strategy of that name. Raises StrategyError for an unknown one, PerformanceError for a bad table."""
    if name not in STRATEGIES:
        raise StrategyError(f"'{name}' is not a strategy; the strategies are {', '.join(STRATEGIES)}.")
    module, function = STRATEGIES[name].split(":")
    try:
        maker = getattr(import_module(module), function)
    except ImportError as error:
        raise StrategyError(f"Strategy '{name}' cannot be loaded: {error}.") from None
    made: Strategy[Any] = maker(catalogue, settings)
    return made
