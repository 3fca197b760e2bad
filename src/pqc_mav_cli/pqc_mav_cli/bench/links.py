# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench links`: some suites over each of the named links, one campaign each, verified and exported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors

if TYPE_CHECKING:
    from pqc_mav_bench.options import CampaignOptions


def links(
    output: Annotated[Path, typer.Argument(help="Folder to export to, a folder below it for each link.")],
    link: Annotated[
        list[str] | None,
        typer.Option(help="lan, lte, radio-64k or radio-sik (simulated serial radios); may be repeated. Default: all."),
    ] = None,
    suite: Annotated[list[str] | None, typer.Option(help="A suite; may be repeated. Default: eight.")] = None,
    duration: Annotated[float, typer.Option(help="Seconds of data in each run.")] = 10.0,
    handshakes: Annotated[int, typer.Option(help="Handshakes in each run.")] = 30,
    repetitions: Annotated[int, typer.Option(help="Runs of each suite; with one alone none is called shortest.")] = 6,
    attempts: Annotated[int, typer.Option(help="Attempts at a run that fails, or finds the machine busy.")] = 3,
    machine: Annotated[str, typer.Option(help="Name to record instead of the machine's host name.")] = "",
    root: Annotated[Path, typer.Option(help="Folder of the campaigns.")] = Path("logs/benchmarks"),
) -> int:
    """Measure some suites over named links, on this machine: lan, lte, radio-64k, radio-sik.

    The report of a campaign shows them when they are in 'campaign-links' or 'campaign-standards' beside it. Asked again
    after an interruption, it goes on where it was.
    """
    from pqc_mav_bench.link_presets import PRESETS, SUITES

    unknown = [name for name in link or () if name not in PRESETS]
    if unknown:
        raise CliError(f"--link {unknown[0]}: there are {', '.join(PRESETS)}.", ExitCode.USAGE)
    failed = 0
    for preset in [PRESETS[name] for name in link or PRESETS]:
        given = {
            "name": f"links-{preset.name}",
            "suites": suite or available(SUITES),
            "link": preset.words,
            "duration_s": duration,
            "handshakes": handshakes,
            "repetitions": repetitions,
            "attempts": attempts,
            "machine_name": machine,
            "workload": {"messages_per_s": preset.messages_per_s},
        }
        failed += measured(root, given, output / preset.name)
    return ExitCode.FAILED if failed else ExitCode.OK


def available(names: Sequence[str]) -> list[str]:
    """The short codes of those that this machine has; a note names the others. Raises CliError if none is left."""
    import pqc_mav_tunnel

    with engine_errors():
        codes = list(dict.fromkeys(pqc_mav_tunnel.find_suite(name).short_code for name in names))
    here = {suite.short_code for suite in pqc_mav_tunnel.suites("all", only_available=True)}
    found = [code for code in codes if code in here]
    if not found:  # an empty list would mean all of them
        raise CliError("None of these suites is available here; 'pqcmav suites' says why.", ExitCode.USAGE)
    if missing := [code for code in codes if code not in here]:
        note(f"left out: {', '.join(missing)}; 'pqcmav suites' says why")
    return found


def measured(root: Path, given: dict[str, Any], output: Path) -> int:
    """One campaign, begun or gone on with. Returns how many runs failed or figures are wrong."""
    from pqc_mav_bench.export import export
    from pqc_mav_bench.options import options_from
    from pqc_mav_bench.plan import chosen_suites
    from pqc_mav_bench.store import MANIFEST, CampaignStore
    from pqc_mav_bench.verify import verify_campaign
    from pqc_mav_cli.bench.command import bench_errors
    from pqc_mav_cli.bench.run import run_here
    from pqc_mav_cli.bench.view import progress

    with bench_errors():
        wanted = options_from(given)
        folder = root / wanted.name
        begun = (folder / MANIFEST).is_file()
        if begun and (other := _differs(CampaignStore.open(folder).manifest()["options"], wanted)):
            raise CliError(f"{folder} was begun with another {other}; remove it, or give another --root.")
        resume = folder if begun else None
        print(f"{wanted.name}: {wanted.link}")
        with progress(sys.stdout.isatty()) as on_feedback:
            fresh = None if begun else wanted
            outcome = run_here(root, chosen_suites(wanted), wanted, fresh, resume, on_feedback)
        print(outcome.message)
        store = CampaignStore.open(folder)
        export(store, output)
        problems = verify_campaign(output).problems
    for problem in problems:
        note(str(problem))
    print(output)
    return outcome.failed + len(problems) + (not outcome.ok)


def _differs(kept: dict[str, Any], wanted: CampaignOptions) -> str:
    """The first option in which a campaign that was begun differs from what is asked for now."""
    from pqc_mav_bench.options import options_from

    before, now = options_from(kept).model_dump(), wanted.model_dump()
    return next((name for name in now if before[name] != now[name]), "")
