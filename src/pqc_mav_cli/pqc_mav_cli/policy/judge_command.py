# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy judge`: when adapting pays: all strategies against a static suite of level 5, with intervals."""

import os
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.policy.publish import publish

NAME = "policy-judged"


def judge(
    missions: Annotated[
        list[str] | None, typer.Argument(help="Names of simulated missions. Default: all of them.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="Variants of each mission; 30 or more for the intervals.")] = 30,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = max(1, os.cpu_count() or 1),
    output: Annotated[Path | None, typer.Option(help=f"Folder for {NAME}.md and .json.")] = None,
) -> None:
    """Fly many variants of every mission under all strategies and static suites, and say when adapting pays."""
    from pqc_mav_policy.registry import engine_catalogue
    from pqc_mav_policy_lab.compare import judged, judged_report
    from pqc_mav_policy_lab.flight_model.costs import published_costs
    from pqc_mav_policy_lab.missions import attacked, simulated

    names = (*simulated.NAMES, *attacked.NAMES)
    if unknown := [name for name in missions or () if name not in names]:
        raise CliError(f"'{unknown[0]}' is not a mission; the missions are {', '.join(names)}.", ExitCode.USAGE)
    try:
        found = judged.judge(missions or names, seeds, jobs, note)
    except simulated.MissionError as error:
        raise CliError(str(error)) from None
    content = judged_report.as_content(found, published_costs(engine_catalogue()).source)
    publish(NAME, judged_report.as_markdown(content), content, output)
