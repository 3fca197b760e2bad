# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench`: run, resume, list, show, verify, report and compare campaigns; time primitives alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqc_mav_cli.bench.field import field, verify_file
from pqc_mav_cli.bench.links import links
from pqc_mav_cli.bench.power import power
from pqc_mav_cli.bench.primitives import primitives
from pqc_mav_cli.console import console, note, print_json
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted

if TYPE_CHECKING:
    from pqc_mav_bench.campaign_client import Outcome
    from pqc_mav_bench.options import CampaignOptions
    from pqc_mav_bench.store import CampaignStore

bench_app = typer.Typer(
    help="Measure cipher suites: run campaigns over all of them, verify, analyse and report them.", no_args_is_help=True
)
bench_app.command()(primitives)
bench_app.command()(links)
bench_app.command()(field)
bench_app.command()(power)

_ROOT = Path("logs/benchmarks")
_QUICK_S = 4.0

EndAgent = Annotated[
    bool, typer.Option("--end-agent", help="With --role controller: stop the agent when the campaign is complete.")
]
Root = Annotated[Path, typer.Option(help="Folder of the campaigns.")]
RunArgument = Annotated[
    str, typer.Argument(help="A campaign: its name below --root, or its folder. Default: the newest.")
]


class View(str, Enum):
    """The views of the registry."""

    CORE = "core"
    EXTENDED = "extended"
    CAMPAIGN_2025 = "2025"


class WorkloadKind(str, Enum):
    """The workloads."""

    MAVLINK = "mavlink"
    BULK = "bulk"
    EXTERNAL = "external"


class Role(str, Enum):
    """Which part of a benchmark on two machines runs here."""

    CONTROLLER = "controller"
    AGENT = "agent"


@contextmanager
def bench_errors() -> Iterator[None]:
    """Turns the benchmark's errors into CliErrors with the same sentence."""
    from pqc_mav_bench.errors import BenchError, OptionsError
    from pqc_mav_bench.schema.run import SchemaError

    try:
        yield
    except OptionsError as error:
        raise CliError(str(error), ExitCode.USAGE) from None
    except (BenchError, SchemaError) as error:
        raise CliError(str(error)) from None


@bench_app.command()
def run(
    suite: Annotated[list[str] | None, typer.Option(help="A suite to measure; may be repeated. Default: all.")] = None,
    view: Annotated[
        View, typer.Option(help="core: 72 suites; extended: 132; 2025: the 30 measured in that year.")
    ] = View.CORE,
    scenario: Annotated[list[str] | None, typer.Option(help="baseline, xgboost or tst; may be repeated.")] = None,
    emulated: Annotated[
        bool, typer.Option("--emulated", help="A documented load in place of the scenarios' detectors.")
    ] = False,
    duration: Annotated[float, typer.Option(help="Seconds of data in each run.")] = 30.0,
    repetitions: Annotated[int, typer.Option(help="Runs of each suite.")] = 1,
    handshakes: Annotated[
        int,
        typer.Option(
            help="Handshakes in each run; a suite is ranked from 30, and two runs of its KEM and signature, on."
        ),
    ] = 1,
    workload: Annotated[
        WorkloadKind,
        typer.Option(
            help="mavlink: a simulated vehicle; bulk: a constant rate of equal packets; external: a real autopilot or "
            "SITL and ground software, counted at both proxies."
        ),
    ] = WorkloadKind.MAVLINK,
    rate: Annotated[float, typer.Option(help="mavlink: messages per second and direction.")] = 320.0,
    mbps: Annotated[float, typer.Option(help="bulk: rate [Mbit/s].")] = 8.0,
    packet_bytes: Annotated[int, typer.Option(help="bulk: size of a packet [B].")] = 256,
    direction: Annotated[str, typer.Option(help="bulk: up (ground to drone, as published), down or both.")] = "up",
    autopilot_port: Annotated[
        int, typer.Option(help="external, on one machine: where the autopilot sends to.")
    ] = 14590,
    ground_port: Annotated[
        int, typer.Option(help="external, on one machine: where the ground software listens.")
    ] = 14550,
    link: Annotated[
        str,
        typer.Option(
            help="A link between the ends, each way: delay, loss and rate, such as '20ms 5% 1Mbit', or lan, lte, "
            "radio-64k, radio-sik."
        ),
    ] = "",
    rekey_interval: Annotated[
        float, typer.Option(help="Seconds between rekeys, R in the rekey overhead Phi(R).")
    ] = 60.0,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Keep the order of the suites instead of randomising it.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 20260221,
    attempts: Annotated[int, typer.Option(help="Attempts at a run that fails, or find the machine busy.")] = 2,
    key_pool: Annotated[
        bool,
        typer.Option(
            "--key-pool", help="Allow the ground to use key pairs made in advance; by default such a run fails."
        ),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"{_QUICK_S:g} s of data per run: all 72 suites in 10 minutes.")
    ] = False,
    name: Annotated[str, typer.Option(help="Name of the campaign. Default: the time of its start.")] = "",
    machine: Annotated[str, typer.Option(help="Name to record instead of the machines' host names.")] = "",
    root: Root = _ROOT,
    role: Annotated[
        Role | None, typer.Option(help="On two machines whose proxies are running: which part to run here.")
    ] = None,
    end_agent: EndAgent = False,
) -> int:
    """Run a campaign.

    Without --role, everything is started on this machine with fresh keys and ports: both proxies, a simulated vehicle,
    a ground client, controller and agent. On two machines, start the proxies first ('pqcmav up drone' and 'pqcmav up
    gcs --key-pool-depth 0'), then 'pqcmav bench run --role agent' on the ground and '--role controller' on the drone.
    'pqcmav bench resume' continues an interrupted campaign.
    """
    if role is Role.AGENT:
        from pqc_mav_bench.process_main import agent

        return agent(["pqcmav", "--ros-args", "-r", "__ns:=/gcs"])
    with bench_errors():
        from pqc_mav_bench.options import options_from
        from pqc_mav_bench.plan import chosen_suites

        options = options_from(
            {
                "name": name,
                "suites": suite or [],
                "view": view.value,
                "scenarios": scenario or ["baseline"],
                "emulate_detectors": emulated,
                "repetitions": repetitions,
                "handshakes": handshakes,
                "link": link,
                "key_pool": key_pool,
                "duration_s": min(duration, _QUICK_S) if quick else duration,
                "rekey_interval_s": rekey_interval,
                "workload": {
                    "kind": workload.value,
                    "messages_per_s": rate,
                    "mbps": mbps,
                    "packet_bytes": packet_bytes,
                    "direction": direction,
                    "autopilot_port": autopilot_port,
                    "ground_port": ground_port,
                },
                "randomise": not in_order,
                "seed": seed,
                "attempts": attempts,
                "machine_name": machine,
            }
        )
        suites = chosen_suites(options)
    if link and role is not None:
        raise CliError("--link is for a benchmark on one machine; the link between two is what it is.", ExitCode.USAGE)
    return _campaign(root, suites, options, options, None, role, end_agent)


@bench_app.command()
def resume(
    campaign: RunArgument = "",
    root: Root = _ROOT,
    role: Annotated[
        Role | None, typer.Option(help="controller: the proxies and the agent are already running.")
    ] = None,
    end_agent: EndAgent = False,
) -> int:
    """Continue an interrupted campaign; finished runs are kept."""
    with bench_errors():
        from pqc_mav_bench.options import options_from
        from pqc_mav_bench.plan import chosen_suites

        store = _store(campaign, root)
        given = options_from(store.manifest().get("options", {}))
        suites = chosen_suites(given)
    return _campaign(store.folder.parent, suites, given, None, store.folder, role, end_agent)


@bench_app.command(name="list")
def list_campaigns(
    root: Root = _ROOT, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False
) -> None:
    """List the campaigns below a folder, newest first."""
    from pqc_mav_bench.errors import StoreError
    from pqc_mav_bench.store import campaigns
    from pqc_mav_cli.bench.view import campaigns_table

    manifests, damaged = [], []
    for store in campaigns(root):
        try:
            manifests.append(store.manifest())
        except StoreError as error:
            damaged.append(str(error))
    if as_json:
        print_json(manifests)
    elif manifests:
        console().print(campaigns_table(manifests))
    if damaged:
        raise CliError(" ".join(damaged))
    if not manifests and not as_json:
        note(f"There is no campaign below {root}; 'pqcmav bench run --quick' makes one.")


@bench_app.command()
def show(
    campaign: RunArgument = "",
    root: Root = _ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest, for scripts.")] = False,
) -> None:
    """Show a campaign: its totals and each of its runs."""
    from pqc_mav_bench import tidy
    from pqc_mav_cli.bench.view import campaigns_table, runs_table

    with bench_errors():
        store = _store(campaign, root)
        manifest = store.manifest()
        if as_json:
            print_json(manifest)
            return
        console().print(campaigns_table([manifest]))
        if tidy.file_in(store.folder) is not None:
            console().print()
            try:
                table = tidy.read(store.folder)
            except ValueError as error:
                raise CliError(f"The table of {store.folder} is damaged: {error}") from None
            console().print(runs_table(table))
        for failure in manifest.get("failures", []):
            note(f"failed: {failure['run']}: {failure['reason']}")


@bench_app.command()
def verify(
    campaign: RunArgument = "",
    root: Root = _ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> int:
    """Check a campaign's files: hashes, schema, arithmetic, completeness. The exit code is 1 if anything is wrong.

    Of a folder with primitives.json.gz, or of that file, every figure is computed anew from its samples. Of an archive
    (NAME.tar.gz) everything in it is checked.
    """
    from pqc_mav_bench.primitives.verify import result_in, verify_primitives
    from pqc_mav_bench.verify import verify_campaign

    if campaign.endswith(".tar.gz"):
        return ExitCode.FAILED if verify_file(Path(campaign)) else ExitCode.OK
    places = (root / campaign, Path(campaign)) if campaign else ()
    if alone := next(filter(None, map(result_in, places)), None):
        with bench_errors():
            timed = verify_primitives(alone)
        nouns = {"operation": timed.operations, "sample": timed.samples, "hash": 1}
        return _judged(timed, {"file": timed.file}, nouns, as_json)
    with bench_errors():
        verdict = verify_campaign(_store(campaign, root).folder)
    nouns = {"run": verdict.runs, "hash": verdict.hashes, "value": verdict.fields, "relation": verdict.relations}
    return _judged(verdict, {"folder": verdict.folder}, nouns, as_json)


def _judged(verdict: Any, place: dict[str, Path], looked: dict[str, int], as_json: bool) -> int:
    from dataclasses import asdict

    if as_json:
        where = {name: str(path) for name, path in place.items()}
        print_json({**asdict(verdict), **where, "passed": verdict.passed})
    else:
        for problem in verdict.problems:
            note(str(problem))
        nouns = ", ".join(counted(n, noun, "hashes" if noun == "hash" else "") for noun, n in looked.items())
        found = "all correct" if verdict.passed else counted(len(verdict.problems), "problem")
        print(f"{next(iter(place.values())).name}: checked {nouns}: {found}")
    return ExitCode.OK if verdict.passed else ExitCode.FAILED


@bench_app.command()
def report(
    campaign: RunArgument = "",
    root: Root = _ROOT,
    output: Annotated[
        Path | None, typer.Option(help="Folder to write to. Default: 'report' in the campaign's.")
    ] = None,
    load: Annotated[str, typer.Option(help="A campaign with the bulk workload, for the throughput sections.")] = "",
    pdf: Annotated[bool, typer.Option(help="Also make the PDF, if Chromium is installed.")] = True,
) -> None:
    """Write a campaign's report: one HTML page, and a PDF of it."""
    from pqc_mav_bench.report.build import report as make

    with _reporting():
        load_folder = _reported(load, root) if load else None
        _say_written(make(_reported(campaign, root), output, load_dir=load_folder, pdf=pdf))


@bench_app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")],
    campaign: Annotated[str, typer.Option(help="A campaign: name or folder. Default: the newest.")] = "",
    root: Root = _ROOT,
    runs: Annotated[bool, typer.Option(help="Also keep the files of the runs, compressed.")] = True,
) -> None:
    """Write a campaign's compact form, for others to keep: tables, manifest, a page, and each run's file compressed."""
    from pqc_mav_bench.export import export as write
    from pqc_mav_bench.store import RUNS

    with bench_errors():
        written = write(_store(campaign, root), folder, runs=runs)
    files = [path for path in written if RUNS in path.relative_to(folder).parts]
    for path in written:
        if path not in files:
            print(path)
    if files:
        size = sum(path.stat().st_size for path in files)
        print(f"{folder / RUNS}: {counted(len(files), 'file')}, {size / 1e6:.2f} MB")


@bench_app.command()
def archive(
    file: Annotated[Path, typer.Argument(help="File to write: NAME.tar.gz.")],
    campaign: Annotated[str, typer.Option(help="A campaign: name or folder. Default: the newest.")] = "",
    root: Root = _ROOT,
    recording: Annotated[
        list[Path] | None, typer.Option(help="A flight recording (MCAP) to put beside it; may be repeated.")
    ] = None,
) -> None:
    """Pack a campaign for the public: all raw files, tables, recordings with their traces, data sheet and hashes.

    The same content gives the same bytes. 'pqcmav bench verify FILE' checks the file.
    """
    from pqc_mav_bench import archive as archives

    with bench_errors():
        sizes = archives.archive(_store(campaign, root), file, recording or [])
    size = file.stat().st_size / 1e6
    print(f"{file}: {counted(len(sizes), 'file')}, {sum(sizes.values()) / 1e6:.2f} MB, packed {size:.2f} MB")


@bench_app.command()
def performance(
    output: Annotated[Path, typer.Argument(help="CSV file to write; name it in the policy's 'performance_file'.")],
    campaign: Annotated[str, typer.Option(help="A campaign: name or folder. Default: the newest.")] = "",
    root: Root = _ROOT,
) -> None:
    """Write what a campaign measured as the performance table of the policy's expert strategy."""
    from pqc_mav_bench.performance_table import write

    with bench_errors():
        count = write(_store(campaign, root).folder, output)
    print(f"{output}: {counted(count, 'suite')}")


@bench_app.command()
def compare(
    first: Annotated[str, typer.Argument(help="A campaign: name or folder; or 'published'.")],
    second: Annotated[str, typer.Argument(help="Another campaign; or 'published'.")],
    root: Root = _ROOT,
    output: Annotated[Path | None, typer.Option(help="Folder to write to.")] = None,
) -> None:
    """Compare two campaigns, or one with the published figures: ratio per suite, deviations flagged."""
    from pqc_mav_bench.report.build import compare as make

    with _reporting():
        _say_written(make(_reported(first, root), _reported(second, root), output))


@bench_app.command()
def schema() -> None:
    """Print the JSON Schema of a run's metrics.json."""
    with bench_errors():
        from pqc_mav_bench.schema.document import json_schema

        print(json_schema(), end="")


@contextmanager
def _reporting() -> Iterator[None]:
    from pqc_mav_bench.report.report_input import ReportError

    try:
        with bench_errors():
            yield
    except ReportError as error:
        raise CliError(str(error)) from None


def _reported(campaign: str, root: Path) -> Path | str:
    """What a report is made of: a campaign's folder, or the published figures."""
    from pqc_mav_bench.report.build import PUBLISHED

    return campaign if campaign == PUBLISHED else _store(campaign, root).folder


def _say_written(written: Any) -> None:
    for path in (written.html, written.pdf):
        if path is not None:
            print(path)
    if written.note:
        note(written.note)


def _store(campaign: str, root: Path) -> CampaignStore:
    """The campaign a user means. Raises StoreError."""
    from pqc_mav_bench.errors import StoreError
    from pqc_mav_bench.store import CampaignStore, campaigns

    if campaign:
        named = root / campaign
        return CampaignStore.open(named if named.is_dir() else Path(campaign))
    found = campaigns(root)
    if not found:
        raise StoreError(f"There is no campaign below {root}; 'pqcmav bench run --quick' makes one.")
    return found[0]


def _campaign(
    root: Path,
    suites: list[str],
    given: CampaignOptions,
    options: CampaignOptions | None,
    folder: Path | None,
    role: Role | None,
    end_agent: bool,
) -> int:
    from pqc_mav_cli.bench.view import progress

    with bench_errors(), progress(sys.stdout.isatty()) as on_feedback:
        if role is Role.CONTROLLER:
            outcome = _as_controller(root, options, folder, end_agent, on_feedback)
        else:
            from pqc_mav_cli.bench.run import run_here

            outcome = run_here(root, suites, given, options, folder, on_feedback)
    print(outcome.message)
    if outcome.folder is not None:
        print(outcome.folder)
    return ExitCode.OK if outcome.ok and outcome.failed == 0 else ExitCode.FAILED


def _as_controller(
    root: Path, options: CampaignOptions | None, folder: Path | None, end_agent: bool, on_feedback: Any
) -> Outcome:
    """The controller's node in this process, next to a proxy that is already running."""
    from pqc_mav_bench.controller_node import ControllerNode
    from pqc_mav_bench.process_main import spinning
    from pqc_mav_cli.bench.run import ask
    from pqc_mav_common.process import stop_on_signals

    stop = stop_on_signals()
    parameters = {"root": str(root.resolve()), "shutdown_agent": end_agent}
    arguments = ["pqcmav", "--ros-args", "-r", "__ns:=/drone"]
    for name, value in parameters.items():
        arguments += ["-p", f"{name}:={json.dumps(value)}"]
    with spinning(arguments, ControllerNode) as node:
        return ask(node.get_fully_qualified_name(), options, folder, on_feedback, stop)
