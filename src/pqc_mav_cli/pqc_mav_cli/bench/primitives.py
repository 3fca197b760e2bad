# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench primitives`: every KEM, signature and AEAD operation alone."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console, note
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors


def primitives(
    output: Annotated[Path, typer.Option(help="Folder to write primitives.json.gz and primitives.csv to.")] = Path(
        "logs/benchmarks/primitives"
    ),
    n: Annotated[int, typer.Option("--n", help="Samples of each operation.", min=5, max=100_000)] = 200,
    payload: Annotated[
        list[int] | None, typer.Option(help="AEAD payload [B]; may be repeated. Default: 64, 256, 1024, 1400.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Token of an algorithm, e.g. mlkem768; may be repeated.")
    ] = None,
    extended: Annotated[
        bool, typer.Option("--extended", help="Include FrodoKEM and the fast SPHINCS+ variants.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 20260221,
    machine: Annotated[str, typer.Option(help="Name to record instead of the machine's host name.")] = "",
) -> None:
    """Time every KEM, signature and AEAD operation on its own: medians with 95 % intervals, cycles, energy.

    The full set takes about eight minutes with 200 samples; most of that is SPHINCS+ signing and Classic McEliece key
    pairs.
    """
    from pqc_mav_bench.errors import BenchError
    from pqc_mav_bench.primitives import benchmark
    from pqc_mav_bench.primitives import result as result_file
    from pqc_mav_bench.primitives.energy import find_meter
    from pqc_mav_bench.primitives.operations import PAYLOADS, all_operations

    sizes = payload or list(PAYLOADS)
    if any(not 1 <= size <= 65_000 for size in sizes):
        raise CliError("--payload: give sizes from 1 to 65000 bytes.", ExitCode.USAGE)
    with engine_errors():
        operations = all_operations(sizes, "extended" if extended else "core", only or ())
    if only and len(operations) == 1:
        raise CliError(
            f"--only {' '.join(only)}: no such algorithm in this view; 'pqcmav suites' shows them.", ExitCode.USAGE
        )
    result = benchmark.measure(operations, n, seed, find_meter(), _progress())
    if machine:
        result = result_file.named(result, machine)
    try:
        written = result_file.write(result, output)
    except BenchError as error:
        raise CliError(str(error)) from None
    console().print(_table(result))
    note(f"cycles: {result['cycles_status']}; energy: {result['energy_status']}")
    for path in written:
        print(path)


def _progress() -> Any:
    shown = -1

    def show(done: int, total: int, label: str) -> None:
        nonlocal shown
        percent = 100 * done // total
        if percent != shown:
            shown = percent
            ending = "\n" if done == total else ""
            print(f"\r{percent:3d} %  {label:<50}", end=ending, file=sys.stderr, flush=True)

    return show if sys.stderr.isatty() else lambda *_: None


def _table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("algorithm", "operation", "payload", "n", "median us", "95 % interval", "p95", "max"):
        table.add_column(title, justify="left" if title in ("algorithm", "operation") else "right")
    for row in result["operations"]:
        table.add_row(
            row["algorithm"],
            row["operation"],
            "" if row["payload_bytes"] is None else f"{row['payload_bytes']} B",
            str(row["n"]),
            f"{row['median_us']:.4g}",
            f"{row['ci_low_us']:.4g} - {row['ci_high_us']:.4g}",
            f"{row['p95_us']:.4g}",
            f"{row['max_us']:.4g}",
        )
    return table
