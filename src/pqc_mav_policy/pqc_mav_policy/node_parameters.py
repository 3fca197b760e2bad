# SPDX-License-Identifier: Apache-2.0
"""Parameters of the policy node beside those of the strategies."""

from dataclasses import dataclass
from typing import Literal

from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_policy.parameter_table import ParameterTable, choice, number, specs
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters

MEASURED_PREFIX = "measured."
EXPERT_PREFIX = "expert."
Mode = Literal["auto", "hold", "manual"]


@dataclass(frozen=True)
class NodeParameters(ParameterTable):
    """What the node watches and how it acts. Frozen."""

    strategy: Literal["measured", "cascade", "expert", "rl", "hybrid"] = choice(
        "measured", "Who decides; cascade is the published policy."
    )
    mode: Mode = choice(  # noqa: RUF009 - it makes a field
        "auto",
        "How it starts: auto = decides and acts; hold = decides and publishes only; manual = keeps the pinned suite.",
    )
    pinned_suite: str = choice("", "Suite to keep in mode manual, id or short code; empty = the one in use.")
    proxy: str = choice("pqc_proxy", "Name of the proxy's node in the same namespace.")
    suites: tuple[str, ...] = choice((), "Only choose among these, ids or short codes; empty = every core suite.")
    performance_file: str = choice(
        "", "Measured performance of suites on this machine, CSV or JSON; empty = the published figures."
    )
    rl_policy_file: str = choice("", "Trained policy of the strategies rl and hybrid; empty = the shipped one.")
    threat_timeout_s: float = number(
        10.0, 1.0, 600.0, "s", "A threat report counts for this long unless the detector repeats it."
    )
    request_timeout_s: float = number(60.0, 1.0, 600.0, "s", "A rekey the proxy did not answer by then has failed.")


def node_specs() -> list[ParameterSpec]:
    """Every parameter of the node, in the order of the configuration file."""
    return [
        *specs(NodeParameters),
        *specs(PolicyParameters),
        *specs(MeasuredParameters, MEASURED_PREFIX),
        *specs(ExpertParameters, EXPERT_PREFIX),
    ]
