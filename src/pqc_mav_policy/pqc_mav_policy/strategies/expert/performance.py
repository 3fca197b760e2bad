# SPDX-License-Identifier: Apache-2.0
"""Measured performance of suites: the file that a benchmark writes and the expert strategy reads.

CSV with the columns `suite,handshake_ms,power_w,energy_j,loss,source,simulated`; an empty cell is unknown, `loss` a
fraction (0-1), `power_w` the mean power of the companion computer while the suite carried traffic, `energy_j` the
energy of one handshake, `simulated` true or false. JSON: a list of objects with the same keys, null for unknown.

The shipped default, `performance_rpi4_2025.csv`, holds the published figures of 30 suites on a Raspberry Pi 4
under the XGBoost detector ([rpi4-results] Tables 4, 7 and 8, policy "Lightweight"): another machine, another proxy.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from stat import S_ISREG
from typing import Any

from pqc_mav_common.atomic_file import atomic_write

DEFAULT_FILE = Path(__file__).with_name("performance_rpi4_2025.csv")
COLUMNS = ("suite", "handshake_ms", "power_w", "energy_j", "loss", "source", "simulated")
MAX_BYTES = 4 << 20
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


class PerformanceError(ValueError):
    """A file cannot be used: one sentence for a person."""


@dataclass(frozen=True)
class Performance:
    """One suite's figures; None where nothing was measured."""

    suite: str
    handshake_ms: float
    power_w: float | None
    energy_j: float | None
    loss: float | None
    source: str
    simulated: bool


class PerformanceTable(Mapping[str, Performance]):
    """Figures by suite id. Immutable."""

    def __init__(self, rows: Iterable[Performance]) -> None:
        self._rows = {row.suite: row for row in rows}

    def __getitem__(self, suite: str) -> Performance:
        return self._rows[suite]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the figures come from, each source once."""
        return tuple(dict.fromkeys(row.source for row in self._rows.values()))


def load(path: Path) -> PerformanceTable:
    """Reads CSV or, by its ending, JSON. Raises PerformanceError naming file and row."""
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise PerformanceError(f"{path} is not a file.")
        if status.st_size > MAX_BYTES:
            raise PerformanceError(f"{path} is larger than {MAX_BYTES} bytes; a table of suites is smaller.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PerformanceError(f"Cannot read the performance table {path}: {error}.") from None
    rows: dict[str, Performance] = {}
    for number, content in enumerate(_contents(path, text), start=1):
        try:
            row = _row(content)
            if row.suite in rows:
                raise ValueError(f"{row.suite} is listed twice")
        except (KeyError, TypeError, ValueError) as error:
            raise PerformanceError(f"{path}, row {number}: {error}.") from None
        rows[row.suite] = row
    if not rows:
        raise PerformanceError(f"{path} lists no suite; expected the columns {','.join(COLUMNS)}.")
    return PerformanceTable(rows.values())


def save(path: Path, rows: Iterable[Performance]) -> None:
    """Writes CSV, whole or not at all."""
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        cells = [getattr(row, name) for name in COLUMNS[:-1]]
        writer.writerow(["" if cell is None else cell for cell in cells] + [str(row.simulated).lower()])
    atomic_write(path, text.getvalue())


def _contents(path: Path, text: str) -> list[Mapping[str, Any]]:
    if path.suffix != ".json":
        reader = csv.DictReader(text.splitlines())
        try:
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise PerformanceError(f"{path}: expected the columns {','.join(COLUMNS)}.")
            return list(reader)
        except csv.Error as error:
            raise PerformanceError(f"{path} is not valid CSV: {error}.") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PerformanceError(f"{path} is not valid JSON: {error}.") from None
    if not isinstance(content, list) or not all(isinstance(entry, dict) for entry in content):
        raise PerformanceError(f"{path}: expected a list of objects with {', '.join(COLUMNS)}.")
    return content


def _row(content: Mapping[str, Any]) -> Performance:
    if set(content) != set(COLUMNS) or (None in content.values() and None in content):
        raise ValueError(f"expected the values {', '.join(COLUMNS)}")
    handshake = _number(content, "handshake_ms")
    if handshake is None:
        raise ValueError("handshake_ms is missing")
    loss = _number(content, "loss")
    if loss is not None and loss > 1:
        raise ValueError(f"loss is {loss:g}; it is a fraction from 0 to 1")
    simulated = content["simulated"]
    simulated = _WORDS.get(simulated.strip().lower()) if isinstance(simulated, str) else simulated
    if not isinstance(simulated, bool):
        raise ValueError("simulated must be true or false")
    suite, source = str(content["suite"]).strip(), str(content["source"]).strip()
    if not suite or not source:
        raise ValueError("suite and source must be named")
    return Performance(
        suite, handshake, _number(content, "power_w"), _number(content, "energy_j"), loss, source, simulated
    )


def _number(content: Mapping[str, Any], name: str) -> float | None:
    value = content[name]
    if value is None or value == "":
        return None
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{name} is {value}; it must be a number of at least 0")
    return number
