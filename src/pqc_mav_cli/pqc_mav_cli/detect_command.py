# SPDX-License-Identifier: Apache-2.0
"""`pqcmav detect`: judges recorded traffic with the detector that flies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqc_mav_cli.console import console, print_json
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted

if TYPE_CHECKING:
    from pqc_mav_detect.score import Score

detect_app = typer.Typer(help="Look for attacks in recorded traffic.", no_args_is_help=True)


@detect_app.callback()
def _group() -> None:
    # With one command alone, typer would make it the group itself.
    pass


@detect_app.command()
def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (.csv, .csv.gz) or Parquet, one row for each 0.1 s: time_s, packets, bytes, mavlink_packets, of "
            "which each may be missing, and label; or windows of 'chaos/run record'."
        ),
    ],
    normal: Annotated[
        Path | None, typer.Option(help="A capture without attacks to compare with. Default: the file's own beginning.")
    ] = None,
    calm: Annotated[
        float,
        typer.Option(min=2.0, help="How long the file is taken to be calm at its beginning, without --normal [s]."),
    ] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Name the attacks in a capture, and where it has labels say how well."""
    from pqc_mav_detect.score import ScoreError
    from pqc_mav_detect.score import score as judged

    try:
        found = judged(file, normal, calm)
    except ScoreError as error:
        raise CliError(str(error), ExitCode.USAGE) from None
    if json:
        print_json([asdict(each) for each in found])
        return ExitCode.OK
    for each in found:
        console().print(_text(each))
    return ExitCode.OK


def _text(found: Score) -> str:
    lines = [f"{found.name}: {counted(found.windows, 'window')}, {found.span_s:.0f} s"]
    for alarm in found.alarms:
        lines.append(
            f"  {alarm.begin_s:10.1f} to {alarm.end_s:.1f} s  {alarm.level.name:10} {alarm.kind}: {alarm.reason}"
        )
    if not found.alarms:
        lines.append("  nothing unusual")
    if found.labelled:
        named = [delay for delay in found.delays_s if delay is not None]
        words = f"{len(named)} of {counted(len(found.delays_s), 'attack')} named"
        if named:
            words += f", after {max(named):.1f} s at most"
        lines.append(f"  {words}; {counted(found.false_alarms, 'false alarm')}")
    return "\n".join(lines)
