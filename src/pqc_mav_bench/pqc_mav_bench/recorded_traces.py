# SPDX-License-Identifier: Apache-2.0
"""A flight recording as one long table: a row for each value, with the time it was received.

Columns: `time_ns` since 1970, `topic`, `field` (nested ones with dots, elements of arrays with their number), `value`
for numbers and flags, `text` for the rest. All topics of a recording share one clock, so power, link, battery and
decisions are synchronised by it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from pqc_mav_bench import tidy
from pqc_mav_bench.errors import StoreError
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.reader import RecordingReader

COLUMNS = ("time_ns", "topic", "field", "value", "text")
#: Longer arrays are raw data of other kinds, which the recording has.
_MOST_ELEMENTS = 64
_DEEPEST = 6

Value = tuple[str, float | None, str | None]


def traces(path: Path) -> pd.DataFrame:
    """Every value of a recording. Raises StoreError for a file that is none."""
    reader = RecordingReader(path)
    rows: list[tuple[int, str, str, float | None, str | None]] = []
    try:
        for message in reader.messages():
            content = reader.decode(message)
            rows += [(message.log_ns, message.topic.name, *value) for value in _values(content, "", 0)]
    except RecordingError as error:
        raise StoreError(str(error)) from None
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"time_ns": "int64", "value": "float64"})


def traces_parquet(path: Path) -> bytes:
    """The table as Parquet; empty where Parquet cannot be written here. Raises StoreError."""
    return tidy.parquet(traces(path)) if tidy.has_parquet() else b""


def _values(content: Any, name: str, depth: int) -> Iterator[Value]:
    if isinstance(content, (bool, int, float)):
        yield name, float(content), None
    elif isinstance(content, str):
        yield name, None, content
    elif isinstance(content, (list, tuple)):
        for place, element in enumerate(content[:_MOST_ELEMENTS] if len(content) <= _MOST_ELEMENTS else ()):
            yield from _values(element, f"{name}[{place}]", depth)
    elif depth < _DEEPEST and (fields := getattr(type(content), "__slots__", None)):
        for field in fields:
            plain = str(field).lstrip("_")
            yield from _values(getattr(content, str(field)), f"{name}.{plain}" if name else plain, depth + 1)
