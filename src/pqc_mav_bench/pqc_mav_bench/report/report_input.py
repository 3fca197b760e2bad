# SPDX-License-Identifier: Apache-2.0
"""What a report is made from: the rows of a campaign, the machines, what the documents published, and the files'
hashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from pqc_mav_bench import handshake_table, repeated_runs, tidy
from pqc_mav_bench.analysis import intervals, table
from pqc_mav_bench.analysis.adapt import from_tidy
from pqc_mav_bench.analysis.published import source as published
from pqc_mav_bench.analysis.published.campaigns import pi4_2025
from pqc_mav_bench.analysis.reliability import TARGET_MBPS
from pqc_mav_bench.canonical import file_sha256
from pqc_mav_bench.errors import BenchError, OptionsError, StoreError
from pqc_mav_bench.link_presets import PRESETS, LinkPreset
from pqc_mav_bench.options import command, options_from
from pqc_mav_bench.report.blocks import EMULATED, MEASURED, MODELLED, PUBLISHED, Source
from pqc_mav_bench.report.isolated import PrimitiveResults, read_primitives
from pqc_mav_bench.schedule import Item
from pqc_mav_bench.schema.run import SchemaError, parse_run
from pqc_mav_bench.source import kept_by, words
from pqc_mav_bench.store import MANIFEST, CampaignStore, read_json


class ReportError(BenchError):
    """A report that cannot be made: one sentence saying what is wrong, where, and what to do."""


@dataclass(frozen=True)
class ReportInput:
    """Everything the sections read.

    `runs` has one row per scenario, suite and repetition (see analysis.table), but a suite is called by its short code,
    as everywhere a person reads; `suite_id` has the long name that files use. `raw` is the tidy table itself, empty for
    the published campaign. `name` is how sentences call the campaign, `machine` what it was told to call its machine
    (host names are never shown). `single` has a row for each handshake.
    """

    name: str
    runs: pd.DataFrame
    raw: pd.DataFrame
    sources: tuple[Source, ...]
    primitives: PrimitiveResults | None = None
    machine: str = ""
    single: pd.DataFrame = field(default_factory=lambda: handshake_table.frame([]))
    #: Campaigns of some suites over other links, kept beside this one, and more of those, of the suites of today.
    links: tuple[tuple[LinkPreset, ReportInput], ...] = ()
    more_links: tuple[tuple[LinkPreset, ReportInput], ...] = ()
    #: Why others of them are left out.
    links_left_out: tuple[str, ...] = ()
    #: Measurements that were made again.
    repeated: tuple[repeated_runs.Repeated, ...] = ()
    #: Runs that failed without a file, and why.
    lost: tuple[tuple[Item, str], ...] = ()
    #: How many runs are still to be measured; None: some.
    pending: int | None = 0

    @cached_property
    def passed(self) -> pd.DataFrame:
        """The rows of `runs` that passed."""
        return self.runs[self.runs["passed"]]

    @cached_property
    def suites(self) -> pd.DataFrame:
        """One row per scenario and suite: medians over the repetitions that passed, with the intervals of the
        handshakes. What was published has none."""
        rows = table.per_suite(self.runs)
        return rows if self.is_published else intervals.attach(rows, self.single)

    @cached_property
    def ranked(self) -> bool:
        """Whether every suite of the main scenario has enough handshakes to be ranked."""
        known = self.baseline.dropna(subset=["handshake_ms"])
        return bool(len(known)) and bool(intervals.is_ranked(known).all())

    @cached_property
    def baseline(self) -> pd.DataFrame:
        """The suites of the baseline scenario, or of the first one where there is no baseline."""
        return table.scenario(self.suites, self.main_scenario)

    @cached_property
    def known(self) -> pd.DataFrame:
        """The main scenario's suites that have a handshake time."""
        return self.baseline.dropna(subset=["handshake_ms"])

    @cached_property
    def same_host(self) -> bool:
        """Whether both ends ran on one machine."""
        return "same_host" in self.runs and bool((self.runs["same_host"].fillna(0).astype(float) == 1).any())

    @cached_property
    def scenarios(self) -> list[str]:
        """The scenarios in which a run passed, in the usual order."""
        return table.ordered(self.passed["scenario"].unique(), table.SCENARIOS)

    @property
    def main_scenario(self) -> str:
        """The scenario that single-scenario figures show."""
        return self.scenarios[0]

    @property
    def is_published(self) -> bool:
        """Whether the rows are the documents' figures rather than a measurement of this suite of packages."""
        return bool(self.raw.empty)

    @cached_property
    def target_mbps(self) -> float | None:
        """The constant rate that was offered [Mb/s]; None if no run had one."""
        if self.is_published:
            return TARGET_MBPS
        if "workload" not in self.runs or not (self.runs["workload"] == "bulk").any():
            return None
        asked = self.raw.get("workload.target_mbps", pd.Series(dtype=float)).dropna()
        return float(asked.median()) if len(asked) else TARGET_MBPS

    @cached_property
    def emulated(self) -> list[str]:
        """The scenarios whose detector is emulated by a documented load."""
        flagged = self.runs[self.runs["scenario_load"] == "emulated"] if "scenario_load" in self.runs else self.runs[:0]
        return table.ordered(flagged["scenario"].unique(), table.SCENARIOS)

    def origin(self, across_scenarios: bool = False) -> str:
        """The badge of a figure drawn from `runs`."""
        if self.is_published:
            return PUBLISHED
        return EMULATED if across_scenarios and self.emulated else MEASURED

    @cached_property
    def power_is_measured(self) -> bool:
        """Whether every power figure comes from a sensor, as the printed ones do."""
        if "power_measured" not in self.runs:
            return False
        known = self.runs[self.runs["power_mean_w"].notna()]
        return bool(len(known)) and bool((known["power_measured"].astype(float) == 1.0).all())

    @property
    def power_origin(self) -> str:
        """The badge of a figure about power or energy."""
        return self.origin() if self.power_is_measured else MODELLED

    @cached_property
    def repetitions(self) -> int:
        """Largest number of passed repetitions of one suite in one scenario."""
        return int(self.suites["repetitions"].max()) if len(self.suites) else 0


def published_source(*names: str) -> tuple[Source, ...]:
    """The provenance of published tables."""
    return tuple(Source(f"published/{name}.csv", published.sha256(name)) for name in names)


def by_short_code(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows with suites called by their short codes where they have one; the ids are kept as `suite_id`."""
    codes = runs["short_code"].where(runs["short_code"].astype(bool), runs["suite"])
    return runs.assign(suite_id=runs["suite"], suite=codes)


def published_2025() -> ReportInput:
    """The October 2025 campaign as a campaign, for development and where a report has nothing else."""
    names = ("rpi4_suites_all_modes", "rpi4_power_energy", "rpi4_cpu_memory", "rpi4_packets_by_policy")
    return ReportInput(
        "the published campaign of October 2025", by_short_code(pi4_2025()), pd.DataFrame(), published_source(*names)
    )


def _tables(run_dir: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tidy table and that of single handshakes, or what the metrics files of an unfinished campaign give."""
    if tidy.file_in(run_dir) is not None:
        return tidy.read(run_dir), handshake_table.read(run_dir)
    store = CampaignStore.open(run_dir)
    names = [str(path.relative_to(run_dir)) for path in store.run_files()]
    runs = [parse_run(read_json(run_dir / name), name) for name in names]
    return tidy.frame(map(tidy.row, runs, names)), handshake_table.frame(runs)


def _by_short_code(single: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Single handshakes with the suites' names that `runs` have, and of runs that passed."""
    names = dict(zip(runs["suite_id"], runs["suite"], strict=True))
    passed = runs.loc[runs["passed"], ["scenario", "suite_id", "repetition"]].rename(columns={"suite_id": "suite"})
    kept = single.merge(passed, on=["scenario", "suite", "repetition"]) if len(single) else single
    return kept.assign(suite=kept["suite"].map(names))


def _manifest(run_dir: Path) -> Mapping[str, Any]:
    """A campaign's manifest; empty where it has none. Raises StoreError."""
    return CampaignStore.open(run_dir).manifest() if (run_dir / MANIFEST).is_file() else {}


def _lost(manifest: Mapping[str, Any], raw: pd.DataFrame) -> tuple[tuple[Item, str], ...]:
    """The failures in a manifest that have no row in the table. Raises ValueError if their list is damaged."""
    measured = set(raw[list(tidy.KEY)].itertuples(index=False, name=None))
    try:
        failures = [(each["run"].split("/"), str(each["reason"])) for each in manifest.get("failures", [])]
        runs = [(Item(scenario, suite, int(number)), reason) for (scenario, suite, number), reason in failures]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the list of failures is damaged: {error}") from None
    return tuple(each for each in runs if astuple(each[0]) not in measured)


def campaign_line(run_dir: Path, runs: pd.DataFrame) -> str:
    """How a campaign was measured, for every figure made of it: N, machine, command, commit; "" without a manifest."""
    manifest = _manifest(run_dir)
    try:
        options = options_from(manifest["options"])
    except (KeyError, OptionsError):
        return ""
    passed = int(runs["passed"].sum())
    each = f"{options.handshakes} handshakes" if options.handshakes > 1 else "one handshake"
    machine = options.machine_name or "machine not named"
    return (
        f"Measured ({manifest.get('campaign_id', run_dir.name)}): N = {passed} runs with {each} each; {machine}; "
        f"{command(options)}; {_commit(manifest, run_dir)}"
    )


def _commit(manifest: Mapping[str, Any], run_dir: Path) -> str:
    source = manifest.get("source") or {}
    if source.get("commit"):
        return words(source)
    kept = kept_by(run_dir / MANIFEST)
    return f"commit not recorded; kept since {kept[:12]}" if kept else "commit not recorded"


#: Where 'pqcmav bench links' writes, beside other campaigns; the first is shown first.
LINKS = ("campaign-links", "campaign-standards")


def _links(run_dir: Path) -> tuple[list[tuple[tuple[LinkPreset, ReportInput], ...]], tuple[str, ...]]:
    """The campaigns over named links that are kept beside a campaign, or beside the folder that it is in; and why
    others of them are left out."""
    parent = run_dir.resolve().parent
    found, left_out = [], []
    for name in LINKS:
        folder = next((place for place in (parent / name, parent.parent / name) if place.is_dir()), None)
        if folder is not None:
            kept = []
            for preset in (each for each in PRESETS.values() if (folder / each.name).is_dir()):
                called, place = f"{name}/{preset.name}", folder / preset.name
                try:
                    kept.append((preset, load(place, called, links=False)))
                except ReportError as error:
                    left_out.append(str(error).replace(str(place), called))
            found.append(tuple(kept))
    return found, tuple(left_out)


def load(run_dir: Path, name: str = "this campaign", *, links: bool = True) -> ReportInput:
    """The campaign in a folder, finished or not, with those over `links` that are kept beside it.

    Raises ReportError when there is nothing usable in it.
    """
    try:
        raw, single = _tables(run_dir)
        runs = by_short_code(from_tidy(raw))
        primitives, manifest = read_primitives(run_dir), _manifest(run_dir)
        told = manifest.get("options", {})
        machine = str(told.get("machine_name", "")) if isinstance(told, dict) else ""
        repeated, lost = tuple(repeated_runs.listed(manifest)), _lost(manifest, raw)
        counts = manifest.get("counts")
        left = counts.get("pending") if isinstance(counts, dict) else None
        pending = 0 if manifest.get("complete", True) else left
    except (StoreError, SchemaError) as error:
        raise ReportError(str(error)) from None
    except ValueError as error:
        raise ReportError(f"{run_dir}: {str(error).rstrip('.')}.") from None
    if not len(runs) or not runs["passed"].any():
        raise ReportError(
            f"{run_dir} holds no run that passed, so there is nothing to report; see its metrics.json files."
        )
    files = (tidy.file_in(run_dir), handshake_table.file_in(run_dir), run_dir / MANIFEST)
    found = [path for path in files if path is not None and path.is_file()]
    label = "" if name == "this campaign" else f"{run_dir.name if links else name}/"
    about = campaign_line(run_dir, runs)
    sources = [Source(f"{label}{path.name}", file_sha256(path.read_bytes()), about) for path in found]
    beside, left_out = _links(run_dir) if links else ([], ())
    first, more = (*beside, (), ())[:2]
    single = _by_short_code(single, runs)
    return ReportInput(
        name, runs, raw, tuple(sources), primitives, machine, single, first, more, left_out, repeated, lost, pending
    )
