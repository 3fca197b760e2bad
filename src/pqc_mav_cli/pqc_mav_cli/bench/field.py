# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench field`: all that the owner of a board measures for others, by one command, in one file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from pqc_mav_cli.bench.links import available, links, measured
from pqc_mav_cli.bench.primitives import primitives
from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted

CAMPAIGN, LINKS, PRIMITIVES = "matrix", "links", "primitives"


def field(
    file: Annotated[Path, typer.Argument(help="File to write: NAME.tar.gz.")],
    machine: Annotated[str, typer.Option(help="Name to record instead of the machine's host name.")] = "",
    runs: Annotated[int, typer.Option(help="Runs of each suite; six are the fewest with an interval.", min=1)] = 6,
    suite: Annotated[list[str] | None, typer.Option(help="A suite; may be repeated. Default: all 72.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One short run of each: a trial, not a result.")] = False,
    root: Annotated[Path, typer.Option(help="Folder for what is measured.")] = Path("logs/field"),
) -> int:
    """Measure a board for others: every operation alone, all suites, the named links; pack and verify it.

    Temperature, clock and frequency governor are in each run of a suite; for those, the governor is set to
    'performance' if that is allowed (root). Power is measured if a sensor is there, and left out if not. Six runs take
    some hours: close other programs, and cool the board as in the air. Asked again after an interruption, it goes on
    where it was.
    'pqcmav bench verify FILE' checks the file anywhere.
    """
    from pqc_mav_bench import archive as archives
    from pqc_mav_bench.store import CampaignStore
    from pqc_mav_cli.bench.command import bench_errors

    if not file.name.endswith(".tar.gz"):
        raise CliError(f"{file} has to end in .tar.gz.", ExitCode.USAGE)
    suites = available(suite or _core())
    samples = 20 if quick else 200
    if not _kept(root / PRIMITIVES, samples, machine):
        primitives(output=root / PRIMITIVES, n=samples, machine=machine)
    given = {
        "name": CAMPAIGN,
        "suites": suites,
        "duration_s": 4.0 if quick else 10.0,
        "handshakes": 5 if quick else 30,
        "repetitions": 1 if quick else runs,
        "attempts": 3,
        "machine_name": machine,
    }
    with TemporaryDirectory(prefix="pqcmav-field-") as spare:
        failed = measured(root, given, Path(spare))
    few = {"duration": 4.0, "handshakes": 5, "repetitions": 1} if quick else {"repetitions": runs}
    failed += links(output=root / LINKS, suite=suites if suite else None, machine=machine, root=root, **few)
    with bench_errors():
        beside = {name: root / name for name in (LINKS, PRIMITIVES)}
        archives.archive(CampaignStore.open(root / CAMPAIGN), file, beside=beside)
    return ExitCode.FAILED if verify_file(file) or failed else ExitCode.OK


def verify_file(file: Path) -> int:
    """Says what is wrong with an archive: its files, and each campaign and table in it. Returns how much."""
    from pqc_mav_bench import archive as archives
    from pqc_mav_bench.primitives.verify import result_in, verify_primitives
    from pqc_mav_bench.verify import verify_campaign
    from pqc_mav_cli.bench.command import bench_errors

    with bench_errors(), TemporaryDirectory(prefix="pqcmav-field-") as folder:
        problems: list[object] = list(archives.check(file, Path(folder)))
        campaigns = [Path(folder) / "campaign", *sorted((Path(folder) / LINKS).glob("*"))]
        if not problems:
            for each in campaigns:
                problems += verify_campaign(each).problems
            if alone := result_in(Path(folder) / PRIMITIVES):
                problems += verify_primitives(alone).problems
    for problem in problems:
        note(str(problem))
    found = counted(len(problems), "problem") if problems else "all correct"
    print(f"{file}: {counted(len(campaigns), 'campaign')}: {found}")
    return len(problems)


def _kept(folder: Path, samples: int, machine: str) -> bool:
    """Whether the operations alone were measured before. Raises CliError if they were measured otherwise than asked."""
    from pqc_mav_bench.primitives.verify import result_in
    from pqc_mav_bench.store import read_json
    from pqc_mav_cli.bench.command import bench_errors

    found = result_in(folder)
    if found is None:
        return False
    with bench_errors():
        kept = read_json(found)
    named = not machine or kept["environment"]["host"] == machine
    if not named or kept["method"]["n"] != samples:
        other = "number of samples" if named else "name of the machine"
        raise CliError(f"{folder} was measured with another {other}; remove it, or give another --root.")
    return True


def _core() -> list[str]:
    import pqc_mav_tunnel

    return [suite.short_code for suite in pqc_mav_tunnel.suites("core")]
