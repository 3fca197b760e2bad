# SPDX-License-Identifier: Apache-2.0
"""python -m pqc_mav_bench.report RUN [--output FOLDER] [--load RUN] [--compare RUN] [--no-pdf]."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pqc_mav_bench.report.build import TITLE, compare, report
from pqc_mav_bench.report.report_input import ReportError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pqc_mav_bench.report", description="Writes the report of a campaign."
    )
    parser.add_argument("run", help="folder of a campaign, or 'published' for the published figures of October 2025")
    parser.add_argument("--output", type=Path, help="folder to write to (default: report below the campaign)")
    parser.add_argument("--load", help="folder of a campaign with the bulk workload, for the sections on throughput")
    parser.add_argument("--compare", help="another campaign: writes compare.html instead of the report")
    parser.add_argument("--title", default=TITLE, help="heading of the page")
    parser.add_argument("--no-pdf", action="store_true", help="write the page only")
    given = parser.parse_args(arguments)
    try:
        if given.compare:
            written = compare(given.run, given.compare, given.output)
        else:
            written = report(given.run, given.output, load_dir=given.load, pdf=not given.no_pdf, title=given.title)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in (written.html, written.pdf):
        if path is not None:
            print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if written.note:
        print(written.note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
