# SPDX-License-Identifier: Apache-2.0
"""Verifies a campaign on disk: hashes, schema, arithmetic, completeness. Needs nothing but its files.

Each run is judged on its own (`verify_run`), the campaign as a whole by `verify_campaign`. Of an exported campaign the
rows of the table are judged on their own and against the manifest, and where the files of its runs are kept, against
those, which are judged like any. Every problem is a
named finding with the file and the fields it concerns; no finding means that every number can be relied upon to be what
was measured and to agree with the others.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pqc_mav_bench import handshake_table, kept_runs, repeated_runs, tidy
from pqc_mav_bench.canonical import file_sha256, run_sha256
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.manifest import summary
from pqc_mav_bench.relations import OF_VALUES, RELATIONS
from pqc_mav_bench.schedule import Item, Schedule, State
from pqc_mav_bench.schema.run import RunMetrics, SchemaError, all_fields, parse_run
from pqc_mav_bench.store import MANIFEST, STATE, CampaignStore, read_json
from pqc_mav_common import packed

#: An exported table has 9 significant digits.
TABLE_RTOL = 1e-8


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    name: str
    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message} [{self.name}]"


@dataclass(frozen=True)
class Verdict:
    """What a verification looked at and found."""

    folder: Path
    runs: int
    hashes: int
    fields: int
    relations: int
    problems: tuple[Problem, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def verify_run(document: Any, file: str) -> tuple[RunMetrics | None, list[Problem]]:
    """One metrics document. None when it does not fit the schema."""
    try:
        run = parse_run(document)
    except SchemaError as error:
        return None, [Problem("schema", file, str(error))]
    problems = []
    if run.integrity.sha256 != run_sha256(document):
        problems.append(Problem("hash", file, "the content does not have the SHA-256 the file claims; it was changed"))
    problems += [Problem(relation.__name__, file, message) for relation in RELATIONS for message in relation(run)]
    problems += [
        Problem(finding.name, file, finding.message)
        for finding in run.findings
        if finding.severity == "error" and run.lifecycle.success
    ]
    return run, problems


def verify_campaign(folder: Path) -> Verdict:
    """Everything in a campaign's folder. Raises StoreError when it is none."""
    store = CampaignStore.open(folder)
    manifest = store.manifest()
    if tidy.COMPACT in manifest:
        return _verify_compact(store, manifest)
    runs, hashes, found = _runs(store, manifest, _plain(store))
    problems = [*_manifest(store), *found, *_repeated(store)]
    problems += _state(store, runs)
    if "files" in manifest:
        problems += _table(store, runs)
        problems += _handshakes(store, handshake_table.frame(runs.values()))
    fields = sum(1 for _ in all_fields()) * len(runs)
    return Verdict(folder, len(runs), hashes + 1, fields, len(RELATIONS) * len(runs), tuple(problems))


def _plain(store: CampaignStore) -> list[str]:
    """The files of runs as they were recorded, as in a folder that was recorded or in an archive."""
    return [str(path.relative_to(store.folder)) for path in store.run_files()]


def _runs(
    store: CampaignStore, manifest: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, RunMetrics], int, list[Problem]]:
    """The files of the runs, plain or compressed: those that can be read, how many hashes were compared, problems."""
    problems: list[Problem] = []
    runs: dict[str, RunMetrics] = {}
    hashes = 0
    listed: Mapping[str, str] = manifest.get("files", {})
    present = set(names)
    for name in sorted(present):
        try:
            data = kept_runs.content(store.folder, name)
            document = json.loads(data)
        except (OSError, ValueError) as error:
            problems.append(Problem("unreadable", name, f"it cannot be read: {error}"))
            continue
        run, found = verify_run(document, name)
        problems += found
        hashes += 1
        if run is not None:
            runs[name] = run
        if name in listed:
            hashes += 1
            if listed[name] != file_sha256(data):
                problems.append(Problem("manifest_hash", name, "the file is not the one the manifest lists"))
    problems += [
        Problem("missing_file", name, "the manifest lists this file, but it is gone")
        for name in listed
        if name not in present
    ]
    return runs, hashes, problems


def _repeated(store: CampaignStore) -> Iterator[Problem]:
    """The measurements that were made again are as they were written, and fit the schema."""
    try:
        for name, content in repeated_runs.files(store).items():
            parse_run(json.loads(content), name)
    except (OSError, ValueError, SchemaError) as error:
        yield Problem("repeated", MANIFEST, f"a measurement that was made again cannot be relied upon: {error}")


def _manifest(store: CampaignStore) -> Iterator[Problem]:
    if not store.manifest_intact():
        yield Problem("hash", MANIFEST, "the content does not have the SHA-256 the file claims; it was changed")


def _verify_compact(store: CampaignStore, manifest: Mapping[str, Any]) -> Verdict:
    """A campaign that was exported: table and manifest, and the files of its runs where they are kept."""
    problems = [*_manifest(store)]
    whole: dict[str, RunMetrics] = {}
    hashes = 1
    kept = bool(manifest.get(kept_runs.KEPT))
    if kept:
        whole, compared, found = _runs(store, manifest, kept_runs.names(store.folder) or _plain(store))
        problems += [*found, *_repeated(store)]
        hashes += compared
    file = (tidy.file_in(store.folder) or store.folder / tidy.CSV).name
    runs: dict[str, RunMetrics] = {}
    try:
        table = tidy.read(store.folder)
        runs = {str(values["metrics_file"]): tidy.run_of(values) for values in table.to_dict("records")}
    except (ValueError, KeyError, OSError) as error:
        problems.append(Problem("table", file, f"the table cannot be read: {error}"))
    else:
        if set(runs) != set(manifest.get("files", ())):
            problems.append(Problem("table", file, "its rows are not of the files the manifest lists"))
        known, now = _figures(manifest.get("summary", {})), _figures(summary(table))
        problems += _medians(store, table)
        problems += [
            Problem("summary", MANIFEST, f"{name} is {known.get(name)} but the table gives {value}")
            for name, value in now.items()
            if not _alike(known.get(name), value)
        ]
        if kept:
            problems += _rows_of_runs(table, whole, file)
            problems += _handshakes(store, handshake_table.frame(whole.values()))
    problems += [
        Problem(relation.__name__, f"{file}, {name}", message)
        for name, run in runs.items()
        for relation in OF_VALUES
        for message in relation(run)
    ]
    fields = len(tidy.flat_fields()) * len(runs) + sum(1 for _ in all_fields()) * len(whole)
    relations = len(OF_VALUES) * len(runs) + len(RELATIONS) * len(whole)
    return Verdict(store.folder, len(runs), hashes, fields, relations, tuple(problems))


def _rows_of_runs(table: pd.DataFrame, whole: Mapping[str, RunMetrics], file: str) -> Iterator[Problem]:
    """The rows of an exported table are what the kept runs give, to the digits that the table has."""
    wanted = tidy.frame(tidy.row(run, name) for name, run in whole.items())
    try:
        pd.testing.assert_frame_equal(table, wanted, check_dtype=False, rtol=TABLE_RTOL, atol=0.0)
    except AssertionError as error:
        yield Problem("table", file, f"the table is not what the runs give: {' '.join(str(error).split())[:200]}")


def _figures(summary_: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """The figures of a summary by dotted name."""
    out: dict[str, float | None] = {}
    for name, value in summary_.items():
        out |= _figures(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return out


def _alike(known: float | None, value: float | None) -> bool:
    """Equal to the digits a summary has."""
    return known == value if known is None or value is None else math.isclose(known, value, rel_tol=1e-5, abs_tol=2e-4)


def _state(store: CampaignStore, runs: Mapping[str, RunMetrics]) -> Iterator[Problem]:
    """Every run counted as done has its file, and the file says the same."""
    try:
        schedule = Schedule.from_dict(read_json(store.folder / STATE))
    except StoreError as error:
        yield Problem("state", STATE, str(error))
        return
    for item in schedule.items:
        state = schedule.state(item)
        name = str(store.metrics_path(item).relative_to(store.folder))
        run = runs.get(name)
        if run is None:
            if state is State.COMPLETED:
                yield Problem("missing_run", name, "the run counts as completed, but has no readable metrics")
            continue
        yield from _identity(item, run, name)
        if state is State.COMPLETED and not run.lifecycle.success:
            yield Problem("state", name, "the run counts as completed, but its metrics say that it failed")


def _identity(item: Item, run: RunMetrics, name: str) -> Iterator[Problem]:
    context = run.run_context
    if (context.scenario, context.suite_id, context.repetition) != (item.scenario, item.suite, item.repetition):
        yield Problem("wrong_place", name, "the metrics are of another run than the path says")


def _table(store: CampaignStore, runs: Mapping[str, RunMetrics]) -> Iterator[Problem]:
    """Both tables are what the runs give."""
    wanted = tidy.frame(tidy.row(run, name) for name, run in runs.items())
    for file in (tidy.CSV, tidy.PARQUET):
        path = store.folder / file
        if file == tidy.PARQUET and not (path.is_file() and tidy.has_parquet()):
            continue  # of a board without pyarrow, or read on one
        if not path.is_file():
            yield Problem("table", file, "the campaign's table is missing")
            continue
        try:
            present = tidy.read(path)
            pd.testing.assert_frame_equal(present, wanted, check_dtype=False, rtol=1e-9)
        except (ValueError, OSError) as error:
            yield Problem("table", file, f"the table cannot be read: {error}")
        except AssertionError as error:
            yield Problem("table", file, f"the table is not what the runs give: {' '.join(str(error).split())[:200]}")


def _handshakes(store: CampaignStore, wanted: pd.DataFrame) -> Iterator[Problem]:
    """The table of single handshakes is what the runs give."""
    try:
        present = handshake_table.read(store.folder)
    except (ValueError, OSError) as error:
        yield Problem("handshakes", handshake_table.CSV, f"the table cannot be read: {error}")
        return
    same = list(present.columns) == list(wanted.columns) and len(present) == len(wanted)
    if not same or handshake_table.text(present) != handshake_table.text(wanted):
        yield Problem("handshakes", handshake_table.CSV, "the table is not what the runs give")


def _medians(store: CampaignStore, table: pd.DataFrame) -> Iterator[Problem]:
    """The campaign's table has the medians of the single handshakes, and as many of them."""
    file = f"{handshake_table.CSV}{packed.ENDING}"
    try:
        single = handshake_table.read(store.folder)
    except (ValueError, OSError) as error:
        yield Problem("handshakes", file, f"the table cannot be read: {error}")
        return
    times = single.groupby(list(handshake_table.KEY))["handshake_ms"] if len(single) else {}
    of_run = dict(iter(times))
    wrong = "its handshakes do not give the median of the table"
    for row in table.to_dict("records"):
        count, key = row["handshake.handshakes"], tuple(row[name] for name in handshake_table.KEY)
        if count != count:
            continue  # recorded before a run had several, or failed
        values = of_run.get(key, pd.Series(dtype=float)).dropna()
        if len(values) != count or not math.isclose(values.median(), row["handshake.handshake_ms"], rel_tol=1e-4):
            yield Problem("handshakes", file, f"{row['metrics_file']}: {wrong}")
