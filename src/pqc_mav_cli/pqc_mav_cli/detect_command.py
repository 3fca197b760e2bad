# SPDX-License-Identifier: Apache-2.0
"""`pqcmav detect`: records, trains, judges detectors, and judges recordings with one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqc_mav_cli.console import console, print_json
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted
from pqc_mav_common.atomic_file import atomic_write

if TYPE_CHECKING:
    from pqc_mav_detect.score import Score

detect_app = typer.Typer(
    help="Look for attacks in recorded traffic; record, train and judge detectors.", no_args_is_help=True
)
LABORATORY = Path("chaos") / "run"
RECORDINGS = Path("build") / "detection"

_Folder = Annotated[Path, typer.Argument(help="Folder of the recordings.")]
_Models = Annotated[
    Path | None, typer.Option(help="Folder with trained models instead of the shipped ones.", show_default=False)
]


def laboratory(begin: Path) -> Path | None:
    """The fault laboratory in the source tree around a folder."""
    return next((at / LABORATORY for at in (begin, *begin.parents) if (at / LABORATORY).is_file()), None)


@detect_app.command()
def record(
    folder: _Folder = RECORDINGS,
    jobs: Annotated[int, typer.Option(min=1, help="Recordings side by side.")] = 14,
    profiles: Annotated[str, typer.Option(help="Vehicles, e.g. 25,320. Default: all.", show_default=False)] = "",
    minutes: Annotated[float, typer.Option(min=0.01, help="Scales how long normal traffic is recorded.")] = 1.0,
) -> int:
    """Record everything that detectors are trained and judged with in the fault laboratory (needs root)."""
    tree = Path(os.environ.get("PQCMAV_ROOT", "."))
    found = laboratory(Path.cwd()) or laboratory(tree)
    if found is None:
        raise CliError(
            "Recording needs the fault laboratory, which is in the source tree: run this there.", ExitCode.USAGE
        )
    words = ["--folder", str(folder.absolute()), "--jobs", str(jobs), "--minutes", str(minutes)]
    words += ["--profiles", profiles] if profiles else []
    process = subprocess.Popen([sys.executable, str(found), "dataset", *words])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # it was interrupted, too, and takes its keys away


@detect_app.command()
def train(
    folder: _Folder = RECORDINGS,
    into: Annotated[Path, typer.Option(help="Folder for what was learned.")] = RECORDINGS / "models",
    what: Annotated[str, typer.Option(help="rules, xgboost, tst, or several.")] = "rules,xgboost",
    form: Annotated[str, typer.Option(help="Of the transformer: patch or published.")] = "patch",
    seed: Annotated[int, typer.Option(help="Seed of the random choices in training.")] = 1,
    minutes: Annotated[float, typer.Option(min=0.01, help="Longest training of the transformer.")] = 20.0,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="End it after this many steps instead; with the same seed the result is then repeatable.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Learn thresholds, trees or the transformer from recordings."""
    from pqc_mav_detect.detector import ModelError
    from pqc_mav_detect.detectors import NAMES
    from pqc_mav_detect.training import FORMS
    from pqc_mav_detect.training import train as trained

    chosen = what.split(",")
    if unknown := [name for name in chosen if name not in NAMES]:
        raise CliError(f"There is no detector '{unknown[0]}' to train; there are: {', '.join(NAMES)}.", ExitCode.USAGE)
    if form not in FORMS:
        raise CliError(f"There is no form '{form}'; there are: {', '.join(FORMS)}.", ExitCode.USAGE)
    for name in chosen:
        try:
            console().print(trained(name, folder, into, form, seed, minutes, steps))
        except ModelError as error:
            raise CliError(_sentence(error), ExitCode.USAGE) from None
    return ExitCode.OK


@detect_app.command()
def evaluate(
    folder: _Folder = RECORDINGS,
    detectors: Annotated[str, typer.Option(help="Which.")] = "rules,xgboost,tst",
    captures: Annotated[
        Path | None, typer.Option(help="Folder of captures in the CSV form.", show_default=False)
    ] = None,
    models: _Models = None,
    output: Annotated[Path | None, typer.Option(help="Page to write. Default: print it.", show_default=False)] = None,
    note: Annotated[str, typer.Option(help="A sentence about the recording, for the page.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
) -> int:
    """Judge the detectors with recordings they have not seen, and write the page about it."""
    from pqc_mav_detect.detector import ModelError
    from pqc_mav_detect.detectors import NAMES
    from pqc_mav_detect.evaluation.run import evaluate as evaluated

    chosen = detectors.split(",")
    if unknown := [name for name in chosen if name not in NAMES]:
        raise CliError(f"There is no detector '{unknown[0]}'; there are: {', '.join(NAMES)}.", ExitCode.USAGE)
    files = sorted(captures.glob("*.csv*")) if captures else []
    if output is not None and not output.absolute().parent.is_dir():
        raise CliError(f"There is no folder {output.parent} for the page.", ExitCode.USAGE)
    try:
        page = evaluated(folder, files, chosen, models, note, jobs)
    except ModelError as error:
        raise CliError(_sentence(error), ExitCode.USAGE) from None
    if output is None:
        print(page)
    else:
        atomic_write(output, page)
    return ExitCode.OK


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[0].upper()}{text[1:]}."


@detect_app.command()
def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (.csv, .csv.gz) or Parquet, one row for each 0.1 s: time_s, packets, bytes, mavlink_packets, of "
            "which each may be missing, and label; or windows of 'chaos/run record'; or a recorded flight (.mcap)."
        ),
    ],
    normal: Annotated[
        Path | None, typer.Option(help="A capture without attacks to compare with. Default: the file's own beginning.")
    ] = None,
    calm: Annotated[
        float,
        typer.Option(min=2.0, help="How many seconds at its beginning the file is taken to be calm, without --normal."),
    ] = 10.0,
    detector: Annotated[
        str, typer.Option(help="rules, or xgboost or tst for recorded flights and windows of 'chaos/run record'.")
    ] = "rules",
    model: Annotated[
        Path | None,
        typer.Option(
            help="Other thresholds, or another model, than shipped: a file that 'train' made.", show_default=False
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Name the attacks in a capture, and say how well if it has labels."""
    from pqc_mav_detect.detectors import NAMES
    from pqc_mav_detect.score import ScoreError
    from pqc_mav_detect.score import score as judged

    if detector not in NAMES:
        raise CliError(f"There is no detector '{detector}'; there are: {', '.join(NAMES)}.", ExitCode.USAGE)
    try:
        found = judged(file, normal, calm, detector, model)
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
