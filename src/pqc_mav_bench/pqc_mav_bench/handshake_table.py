# SPDX-License-Identifier: Apache-2.0
"""The table of single handshakes: one row for each of a run, with every time that either end took of it.

Columns: `scenario`, `suite`, `repetition` (of the tidy table), `number` (from 1, in the order they were made), then the
times in ms, the ground's with the prefix `gcs_`. Where one end reports more handshakes than the other, the rest of the
other's is missing.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_common import packed
from pqc_mav_common.atomic_file import atomic_write

CSV = "handshakes.csv"
KEY = ("scenario", "suite", "repetition")
NUMBER = "number"
GROUND = "gcs_"
#: More digits are noise of the number format: a clock's nanosecond is 1e-6 ms.
_FORMAT = "%.6g"


def frame(runs: Iterable[RunMetrics]) -> pd.DataFrame:
    """All single handshakes of some runs, sorted by their key."""
    rows = [row for run in runs for row in _rows(run)]
    table = pd.DataFrame(rows, columns=list(dict.fromkeys([*KEY, NUMBER, *(name for row in rows for name in row)])))
    return table.sort_values([*KEY, NUMBER], kind="stable", ignore_index=True)


def _rows(run: RunMetrics) -> Iterator[Mapping[str, object]]:
    context, drone = run.run_context, run.handshake.samples_ms or {}
    ground = {f"{GROUND}{name}": values for name, values in (run.handshake.gcs_samples_ms or {}).items()}
    times = {**drone, **ground}
    for index in range(max(map(len, times.values()), default=0)):
        yield {
            "scenario": context.scenario,
            "suite": context.suite_id,
            "repetition": context.repetition,
            NUMBER: index + 1,
            **{name: values[index] for name, values in times.items() if index < len(values)},
        }


def text(table: pd.DataFrame) -> str:
    """The table as CSV."""
    return str(table.to_csv(index=False, lineterminator="\n", float_format=_FORMAT))


def write(table: pd.DataFrame, folder: Path, *, compressed: bool = False) -> Path | None:
    """Writes the table below `folder` by write and rename, in one of its forms; None for an empty one."""
    path, other = folder / CSV, folder / f"{CSV}{packed.ENDING}"
    if compressed:
        path, other = other, path
    other.unlink(missing_ok=True)
    if table.empty:
        path.unlink(missing_ok=True)
        return None
    content = text(table).encode()
    atomic_write(path, packed.pack(content, path))
    return path


def file_in(folder: Path) -> Path | None:
    """The file in a campaign's folder that `read` reads; None where there is none."""
    return next((folder / name for name in (CSV, f"{CSV}{packed.ENDING}") if (folder / name).is_file()), None)


def read(folder: Path) -> pd.DataFrame:
    """The table in a campaign's folder; empty where there is none. Raises ValueError."""
    path = file_in(folder)
    if path is None:
        return frame([])
    table = pd.read_csv(io.BytesIO(packed.read(path)), dtype={"scenario": str, "suite": str})
    missing = [name for name in (*KEY, NUMBER) if name not in table.columns]
    if missing:
        raise ValueError(f"{path} is no table of handshakes: column {missing[0]!r} is missing.")
    return table
