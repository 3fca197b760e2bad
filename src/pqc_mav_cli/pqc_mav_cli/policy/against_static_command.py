# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy against-static`: a strategy against every static suite on many variants, with intervals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.policy.judged_pages import missions_of, publish

NAME = "policy-against-static"


def against_static(
    missions: Annotated[
        list[str] | None, typer.Argument(help="Names of simulated missions. Default: all of them.")
    ] = None,
    strategy: Annotated[str, typer.Option(help="Strategy to judge.")] = "measured",
    seeds: Annotated[int, typer.Option(min=2, help="Variants of each mission; 30 or more for the intervals.")] = 30,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = max(1, os.cpu_count() or 1),
    output: Annotated[Path | None, typer.Option(help=f"Folder for {NAME}.md and .json.")] = None,
) -> None:
    """Fly every mission from every suite, once static and once under a strategy, and compare pair by pair."""
    from pqc_mav_policy.registry import engine_available, engine_catalogue
    from pqc_mav_policy.settings import STRATEGIES
    from pqc_mav_policy_lab.compare import against_static as judging
    from pqc_mav_policy_lab.compare import static_report
    from pqc_mav_policy_lab.flight_model.costs import published_costs
    from pqc_mav_policy_lab.missions.simulated import NAMES

    names = missions_of(missions, NAMES)
    if strategy not in STRATEGIES:
        raise CliError(f"'{strategy}' is not a strategy; the strategies are {', '.join(STRATEGIES)}.", ExitCode.USAGE)
    catalogue = engine_catalogue()
    suites = judging.distinct(catalogue, engine_available())
    pairs = judging.against_static(strategy, names, suites, seeds, jobs, note)
    content = static_report.as_content(pairs, strategy, published_costs(catalogue).source)
    publish(NAME, static_report.as_markdown(content, catalogue), content, output)
