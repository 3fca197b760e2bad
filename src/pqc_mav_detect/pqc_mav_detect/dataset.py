# SPDX-License-Identifier: Apache-2.0
"""Windows with labels in a file: one row per 0.1 s, end and run, as CSV (.csv, .csv.gz) or Parquet (.parquet)."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_common import packed
from pqc_mav_common.errors import one_line
from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.window import Window

STOOD_S, RECOVERS_S = 0.5, 10.0  # a window this long: the machine stood still, and what follows is no normal traffic
KEYS = ("run", "end", "time_s", "span_s", "label", "episode", "silent")
COLUMNS = (*KEYS, *(name for name in CHANNELS if name != "silence"))


@dataclass(frozen=True)
class Row:
    """One window at one end. Labels are names of classes, "" = none.

    `label`: what an attacker really did in this window; `episode`: the attack that was under way, between two of its
    datagrams, too.
    """

    run: str
    end: str
    label: str
    episode: str
    window: Window

    def cells(self) -> dict[str, Any]:
        """As written."""
        window = self.window
        silent = max(window.silent.values(), default=0.0)
        values = {name: round(value, 4) for name, value in window.values.items() if name != "silence"}
        keys = (
            self.run,
            self.end,
            round(window.time_s, 3),
            round(window.span_s, 4),
            self.label,
            self.episode,
            round(silent, 3),
        )
        return {**dict(zip(KEYS, keys, strict=True)), **values}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a file of the form that its name says."""
    cells = [row.cells() for row in rows]
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(cells), path, compression="zstd")
        return
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: f"{value:.9g}" if isinstance(value, float) else value for name, value in row.items()} for row in cells
    )
    data = out.getvalue().encode()
    # No name and no time in it: the same rows are the same file.
    path.write_bytes(packed.pack(data, path))


def read_rows(path: Path) -> dict[tuple[str, str], list[Row]]:
    """The rows of each run and end, in order. Raises ModelError."""
    found: dict[tuple[str, str], list[Row]] = {}
    try:
        for cells in cells_of(path):
            row = _row(cells)
            found.setdefault((row.run, row.end), []).append(row)
    except KeyError as error:
        raise ModelError(f"{path} is no recording of windows: it has no column {error}") from None
    except (OSError, EOFError, TypeError, ValueError) as error:
        raise ModelError(f"{path} is no recording of windows: {one_line(error)}") from None
    return found


def ends_of(path: Path) -> dict[str, list[Row]]:
    """The rows of each end, of all runs in order of time."""
    found: dict[str, list[Row]] = {}
    for (_, end), rows in read_rows(path).items():
        found.setdefault(end, []).extend(rows)
    return {end: sorted(rows, key=lambda row: row.window.time_s) for end, rows in found.items()}


def stood_still(rows: Sequence[Row]) -> list[bool]:
    """For each row whether the machine of the recording stood still in it or shortly before it."""
    found, until_s = [], 0.0
    for row in rows:
        if row.window.span_s > STOOD_S:
            until_s = row.window.time_s + RECOVERS_S
        found.append(row.window.time_s < until_s)
    return found


def cells_of(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of any file of these forms, as they are written."""
    if path.suffix == ".parquet":
        import pyarrow.parquet

        yield from pyarrow.parquet.read_table(path).to_pylist()
        return
    yield from csv.DictReader(io.StringIO(packed.read(path).decode("utf-8-sig")))


def _row(cells: Mapping[str, Any]) -> Row:
    values = {name: float(cells.get(name) or 0.0) for name in CHANNELS}
    silent = float(cells["silent"] or 0.0)
    values["silence"] = silent
    window = Window(float(cells["time_s"]), float(cells["span_s"]), values, {"drone": silent} if silent else {})
    return Row(str(cells["run"]), str(cells["end"]), str(cells["label"] or ""), str(cells["episode"] or ""), window)
