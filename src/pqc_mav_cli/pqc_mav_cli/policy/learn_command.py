# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy learn`: refits the costs of suites, and so their order, from recorded flights."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import console
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted, short_code


def learn(
    flights: Annotated[list[Path], typer.Argument(help="Recordings (*.mcap) of this drone.")],
    output: Annotated[Path, typer.Option(help="Table to write, for the policy's 'performance_file'.")] = Path(
        "performance.csv"
    ),
    base: Annotated[
        Path | None,
        typer.Option(help="Table whose rows stay for suites that were not flown, e.g. of 'pqcmav bench performance'."),
    ] = None,
    namespace: Annotated[str, typer.Option(help="The vehicle's ROS namespace in the recordings.")] = "drone",
) -> None:
    """Learn what handshakes cost on this machine and link, and print the suites in the order that follows.

    Suites that differ in the cipher alone make the same handshake and stand in one line. A rank is given where the 95 %
    intervals over flights tell one, as a span of ranks where they overlap; a prediction and a single flight have none.
    """
    from pqc_mav_bench.analysis.intervals import run_median
    from pqc_mav_policy.registry import engine_catalogue
    from pqc_mav_policy.strategies.expert.performance import PerformanceError, load, save
    from pqc_mav_policy_lab.recordings import learn as learning
    from pqc_mav_recorder.file import RecordingError

    try:
        before = None if base is None else load(base)
        learned = learning.listen(flights, namespace)
    except PerformanceError as error:
        raise CliError(str(error), ExitCode.USAGE) from None
    except RecordingError as error:
        raise CliError(str(error)) from None
    rows = learning.table(learned, len(flights), before)
    try:
        save(output, rows)
    except OSError as error:
        raise CliError(f"Cannot write {output}: {error.strerror}.") from None
    out = console()
    flown = learning.flights_of_pairs(learned)
    found = {pair: run_median(times) for pair, times in flown.items()}
    entries = learning.order(rows, engine_catalogue())
    spans = {pair: (low, high) for pair, (_, low, high) in found.items() if math.isfinite(low)}
    for names, seconds in entries:
        pair = learning.pair_of(names[0])
        times = flown.get(pair, [])
        note = f", {counted(sum(map(len, times)), 'handshake')} in {counted(len(times), 'flight')}" if times else ""
        if pair in spans:
            note += f", 95 % interval of the handshake {spans[pair][0]:.1f} to {spans[pair][1]:.1f} ms"
        codes = ", ".join(map(short_code, names))
        out.print(f"{_rank(pair, spans):>5} {1e3 * seconds:10.1f} ms  {codes}{note or ', predicted'}")
    out.print(
        f"{counted(len(rows), 'suite')} written to {output}; name it in the policy's 'performance_file', and set "
        "'measured.link_kbit_s' high: these times contain the link's."
    )


def _rank(pair: str, spans: Mapping[str, tuple[float, float]]) -> str:
    """The ranks among those with an interval that it leaves; "-" without one."""
    if pair not in spans:
        return "-"
    low, high = spans[pair]
    best = 1 + sum(other_high < low for _, other_high in spans.values())
    worst = len(spans) - sum(other_low > high for other_low, _ in spans.values())
    return str(best) if best == worst else f"{best}-{worst}"
