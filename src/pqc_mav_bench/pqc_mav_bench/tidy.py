# SPDX-License-Identifier: Apache-2.0
"""The tidy table: one row per run, one column per value. What analysts and the report read.

Columns, in this order:

* `scenario`, `suite`, `repetition`: together the key of a row;
* `status`: "passed" or "failed";
* `metrics_file`, `metrics_sha256`: where the row comes from: the path below the campaign's folder, and the hash in it;
* `category.field` for every numeric field (flags are 0 and 1) and every text of the schema, in the schema's order.
  Missing values are NaN in numeric columns and empty in text columns. Lists and counts by type are only in the JSON.

Units are in the field names, and docs/metrics.csv explains them. The table of an exported campaign
leaves out columns that are the same in every run; they are in its campaign.json, and `read` puts them back.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.io.parquet import get_engine

from pqc_mav_bench.schema.field import MetricField
from pqc_mav_bench.schema.history import BEFORE, lacked
from pqc_mav_bench.schema.run import RunMetrics, all_fields
from pqc_mav_common import packed
from pqc_mav_common.atomic_file import atomic_write

KEY = ("scenario", "suite", "repetition")
PROVENANCE = ("metrics_file", "metrics_sha256")
HEAD = (*KEY, "status", *PROVENANCE)
PASSED, FAILED = "passed", "failed"
CSV, PARQUET = "tidy.csv", "tidy.parquet"
#: Names of the table, the preferred one first; an exported campaign has a large one compressed.
TABLES = (PARQUET, CSV, CSV + packed.ENDING)
#: Set in the manifest of an exported campaign, which is table, manifest and page, without the files of the runs: the
#: columns that the table leaves out because every run has the same value there.
COMPACT = "same_in_every_run"


def flat_fields() -> list[MetricField]:
    """The fields that have a column."""
    return [field for field in all_fields() if field.flat]


def columns() -> list[str]:
    """Every column of the table, in order."""
    return [*HEAD, *(field.path for field in flat_fields())]


def row(run: RunMetrics, metrics_file: str) -> dict[str, Any]:
    """One run as a row."""
    context = run.run_context
    values: dict[str, Any] = {
        "scenario": context.scenario,
        "suite": context.suite_id,
        "repetition": context.repetition,
        "status": PASSED if run.lifecycle.success else FAILED,
        "metrics_file": metrics_file,
        "metrics_sha256": run.integrity.sha256,
    }
    for field in flat_fields():
        value = run.value(field.path)
        if field.numeric:
            values[field.path] = float("nan") if value is None else float(value)
        else:
            values[field.path] = "" if value is None else str(value)
    return values


def run_of(values: Mapping[str, Any]) -> RunMetrics:
    """The flat fields of a row as a run again; what only the JSON has is missing. Raises ValueError."""
    run = RunMetrics()
    for field in flat_fields():
        value = values[field.path]
        if value in ("", None) or value != value:
            continue
        category = getattr(run, field.category)
        kinds: dict[str, Callable[[Any], Any]] = {"integer": int, "flag": bool, "number": float, "text": str}
        setattr(category, field.name, kinds[field.kind](value))
    return run


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table with every column, sorted by its key; columns of an empty table exist too."""
    table = pd.DataFrame(list(rows), columns=columns())
    table["repetition"] = table["repetition"].astype("int64")
    for field in flat_fields():
        table[field.path] = table[field.path].astype("float64" if field.numeric else "object")
    return table.sort_values(list(KEY), kind="stable", ignore_index=True)


def short_codes(table: pd.DataFrame) -> pd.Series:
    """What a person calls the suite of each row: its short code, or its id where the run did not get that far."""
    codes = table["crypto_identity.short_code"].fillna("")
    return codes.where(codes != "", table["suite"])


def has_parquet() -> bool:
    """Whether Parquet can be written and read here: pandas needs pyarrow for that, which Ubuntu has not."""
    try:
        get_engine("auto")
    except ImportError:
        return False
    return True


def parquet(table: pd.DataFrame) -> bytes:
    """Any table as Parquet, where that can be written."""
    return bytes(table.to_parquet(index=False, compression="zstd"))


def write(table: pd.DataFrame, folder: Path) -> None:
    """Writes tidy.csv, and tidy.parquet where that is possible, below `folder`, each by write and rename."""
    atomic_write(folder / CSV, table.to_csv(index=False, lineterminator="\n"))
    if has_parquet():
        atomic_write(folder / PARQUET, parquet(table))


def file_in(folder: Path) -> Path | None:
    """The file in a campaign's folder that `read` reads; None where there is no table yet."""
    names = TABLES if has_parquet() else TABLES[1:]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def read(path: Path) -> pd.DataFrame:
    """The table of a campaign: a folder, a .csv (or .csv.gz) or a .parquet file.

    Raises FileNotFoundError and ValueError.
    """
    same: Mapping[str, Any] = {}
    if path.is_dir():
        same = _same_in_every_run(path)
        path = file_in(path) or path / CSV
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        content = packed.read(path)
        texts = {field.path: str for field in flat_fields() if not field.numeric} | dict.fromkeys(HEAD, str)
        texts.pop("repetition")
        table = pd.read_csv(
            io.BytesIO(content),
            dtype=texts,
            keep_default_na=False,
            na_values={f.path: [""] for f in flat_fields() if f.numeric},
        )
    missing = [name for name in KEY if name not in table.columns]
    if missing:
        raise ValueError(f"{path} is no tidy table: column {missing[0]!r} is missing.")
    if same:
        lacking = {name: value for name, value in same.items() if name not in table.columns}  # an archive has all
        left_out = pd.DataFrame(lacking, index=table.index)
        table = _of_today(pd.concat([table, left_out], axis=1))[columns()]
    else:
        table = _of_today(table)
    numeric = [field.path for field in flat_fields() if field.numeric and field.path in table.columns]
    return table.astype(dict.fromkeys(numeric, "float64"))


def _of_today(table: pd.DataFrame) -> pd.DataFrame:
    """With the columns, empty, that the tables of schema versions before do not have."""
    wanted = [field for field in flat_fields() if field.path in lacked(BEFORE[0]) and field.path not in table.columns]
    if not wanted:
        return table
    there = {*table.columns, *(field.path for field in wanted)}
    table = table.reindex(columns=[name for name in columns() if name in there])
    return table.assign(**{field.path: "" for field in wanted if not field.numeric})


def _same_in_every_run(folder: Path) -> Mapping[str, Any]:
    """The columns that the table of an exported campaign leaves out, with their one value."""
    path = folder / "campaign.json"
    found = json.loads(path.read_text(encoding="utf-8")).get(COMPACT, {}) if path.is_file() else {}
    return dict(found)
