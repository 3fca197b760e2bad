# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy learn`: refits the costs of suites, and so their order, from recorded flights."""

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
    """Learn what handshakes cost on this machine and link, and print the suites in the order that follows."""
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
    for place, (suite, seconds) in enumerate(learning.order(rows, engine_catalogue()), start=1):
        seen = learned.get(suite)
        note = f", {counted(len(seen.handshakes_ms), 'handshake')} in flight" if seen else ""
        out.print(f"{place:3} {short_code(suite):20} {1e3 * seconds:10.1f} ms{note}")
    out.print(f"{counted(len(rows), 'suite')} written to {output}; name it in the policy's 'performance_file'.")
