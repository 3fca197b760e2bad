# SPDX-License-Identifier: Apache-2.0
"""Makes reports: one campaign, or two against each other; files are written under another name and renamed."""

from dataclasses import dataclass
from pathlib import Path

from pqc_mav_bench.report.browser import print_pdf
from pqc_mav_bench.report.contents import sections
from pqc_mav_bench.report.page import render
from pqc_mav_bench.report.report_input import ReportError, ReportInput, load, published_2025
from pqc_mav_bench.report.sections.common import first_upper
from pqc_mav_bench.report.sections.comparison import two_campaigns
from pqc_mav_common.atomic_file import atomic_write

TITLE = "Benchmark of post-quantum cipher suites for MAVLink"

#: Stands for the published campaign where a folder is expected.
PUBLISHED = "published"


@dataclass(frozen=True)
class Written:
    """What was written; `note` is one sentence when there is no PDF."""

    html: Path
    pdf: Path | None
    note: str


def _folder(output: Path | str | None, campaign: ReportInput, run_dir: Path | str) -> Path:
    """The output folder, made before the work begins: a report of a minute must not fail at its end."""
    if output is None and campaign.is_published:
        raise ReportError("The published campaign has no folder; name an output folder.")
    folder = Path(output) if output is not None else Path(run_dir) / "report"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"{folder} could not be created: {error.strerror or error}; choose another output folder."
        ) from None
    return folder


def _write(path: Path, text: str) -> None:
    try:
        atomic_write(path, text)
    except OSError as error:
        raise ReportError(
            f"{path} could not be written: {error.strerror or error}; choose another output folder."
        ) from None


def _campaign(where: Path | str, name: str = "this campaign") -> ReportInput:
    return published_2025() if str(where) == PUBLISHED else load(Path(where), name)


def report(
    run_dir: Path | str,
    output: Path | str | None = None,
    *,
    load_dir: Path | str | None = None,
    pdf: bool = True,
) -> Written:
    """Writes report.html, and report.pdf where a Chromium is installed.

    Args:
        run_dir: folder of a campaign, finished or not; "published" reports the published campaign of October 2025.
        output: folder to write to; `report` below the campaign when not given.
        load_dir: a campaign with the constant-rate workload, for the sections about throughput, loss and load.
        pdf: print the PDF too.

    Raises ReportError: nothing usable in a folder, or the output cannot be written. Nothing is then half-written.
    """
    campaign = _campaign(run_dir)
    load_campaign = None if load_dir is None else _campaign(load_dir, "the constant-rate campaign")
    folder = _folder(output, campaign, run_dir)
    _write(folder / "report.html", render(campaign, sections(campaign, load_campaign), TITLE, load=load_campaign))
    if not pdf:
        return Written(folder / "report.html", None, "PDF not asked for.")
    # Drawings are made anew: each is drawn once.
    paper = render(campaign, sections(campaign, load_campaign), TITLE, printed=True, load=load_campaign)
    note = print_pdf(paper, folder / "report.pdf")
    return Written(folder / "report.html", None if note else folder / "report.pdf", note)


def _names(*runs: Path | str) -> list[str]:
    """What a comparison calls two campaigns: by their folders, and as many of those above as it takes to differ."""
    parts = [Path(run).resolve().parts for run in runs]
    depths = range(1, max(map(len, parts)) + 1)
    depth = next((n for n in depths if parts[0][-n:] != parts[1][-n:]), 1)
    return [f"campaign {'/'.join(each[-depth:])}" for each in parts]


def compare(run_a: Path | str, run_b: Path | str, output: Path | str | None = None) -> Written:
    """Writes compare.html: ratios per suite of two campaigns, unexplained deviations flagged.

    Either may be "published". `output` is a folder, `report` below the first campaign when not given. Raises
    ReportError.
    """
    a, b = (_campaign(run, name) for run, name in zip((run_a, run_b), _names(run_a, run_b), strict=True))
    folder = _folder(output, a, run_a)
    page = render(a, two_campaigns(a, b), first_upper(f"{a.name} compared with {b.name}"))
    _write(folder / "compare.html", page)
    return Written(folder / "compare.html", None, "")
