# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy judge`: when adapting pays: all strategies against a static suite of level 5, with intervals."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode

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
    _publish(judged_report.as_markdown(content), content, output)


def _publish(page: str, content: Mapping[str, Any], output: Path | None) -> None:
    from pqc_mav_common.atomic_file import atomic_write
    from pqc_mav_policy_lab.compare.rows_json import as_json

    if output is None:
        print(page)
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        atomic_write(output / f"{NAME}.md", page)
        atomic_write(output / f"{NAME}.json", as_json(content))
    except OSError as error:
        raise CliError(f"Cannot write to {output}: {error.strerror}.") from None
    print(f"Written to {output}: {NAME}.md, {NAME}.json")
