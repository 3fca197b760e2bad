# SPDX-License-Identifier: Apache-2.0
"""The compact form of a campaign for others to keep: tables, manifest, a page to read, and the runs' files compressed.

Each row of the table names the file it comes from and that file's hash. `verify` recomputes the tables from the files
of the runs; where they are left out, it judges the tables and the manifest on their own.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pqc_mav_bench import handshake_table, kept_runs, repeated_runs, tidy
from pqc_mav_bench.analysis.intervals import run_median
from pqc_mav_bench.analysis.table import SCENARIOS, ordered
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.json_text import DIGITS
from pqc_mav_bench.manifest import compacted
from pqc_mav_bench.options import command, options_from
from pqc_mav_bench.store import MANIFEST, CampaignStore, storage_error
from pqc_mav_common import packed

PAGE = "summary.md"
#: A table of more bytes is compressed.
LARGE_TABLE = 50_000

_HANDSHAKE = "handshake.handshake_ms"
_COLUMNS = {
    _HANDSHAKE: "handshake ms",
    "latency_jitter.rtt_p50_ms": "RTT p50 ms",
    "workload.goodput_mbps": "goodput Mbit/s",
    "workload.sent_packets": "sent",
    "workload.lost_packets": "lost",
    "system_drone.tunnel_cpu_percent": "tunnel CPU %",
}
#: As short codes name them.
CIPHERS = ("AG", "CP", "AS", "AA")
_SUMS = ("workload.sent_packets", "workload.lost_packets")


def _cell(value: float) -> str:
    return "" if value != value else f"{value:.3g}" if abs(value) < 1e3 else f"{value:.0f}"


def _environment(manifest: Mapping[str, Any]) -> str:
    machine = manifest["environment"]
    ground = "the same machine" if machine["same_host"] else str(machine["gcs_host"])
    return (
        f"{machine['host']} ({machine['cpu_model']}, {machine['cpu_count']} processors, {machine['ram_mib']} MiB, "
        f"{machine['os']}, Python {machine['python_version']}, liboqs {machine['liboqs_version']}, "
        f"OpenSSL {machine['openssl_version']}); ground: {ground}"
    )


def page(manifest: Mapping[str, Any], table: pd.DataFrame) -> str:
    """The campaign as a Markdown page: what was run, on what, what it cost, and one line per suite."""
    options, counts, cost = manifest["options"], manifest["counts"], manifest["summary"]
    load = options_from(options).workload.words()
    lines = [
        f"# Campaign {manifest['campaign_id']}",
        "",
        f"{counts['passed']} of {counts['total']} runs passed, {counts['failed']} failed, {counts['pending']} pending. "
        f"Begun {manifest['started_at']}, {_resumed(manifest['resumed'])}.",
        "",
        f"* Machine: {_environment(manifest)}.",
        f"* Runs: {options['duration_s']:g} s of data each, {load}; scenarios {', '.join(options['scenarios'])}; "
        f"order {'randomised, seed ' + str(options['seed']) if options['randomise'] else 'as in the registry'}.",
        f"* Command: `{command(options_from(options))}`; {_source(manifest)}.",
        f"* Wall time over data time: {_cell(cost['wall_per_data'])} ({cost['wall_s']:g} s for {cost['data_s']:g} s).",
        f"* Processor time, shares of one core, mean over the runs (drone / ground): tunnel {_pair(cost, 'tunnel')}, "
        f"benchmark {_pair(cost, 'bench')}, traffic generator {_pair(cost, 'workload')}.",
        f"* Packets: {cost['lost_packets']} of {cost['sent_packets']} lost. Runs with warnings: "
        f"{cost['runs_with_warnings']}, with errors: {cost['runs_with_errors']}.",
        *_left_out(manifest),
        *_measured_again(manifest),
        "",
    ]
    codes = [str(code) for code in tidy.short_codes(table)]
    pairs = [pair_of(code) for code in codes]
    together = len(set(pairs)) < len(set(codes))
    names = pairs if together else codes
    named = table.assign(suite=names).groupby("suite")
    silent = () if cost["lost_packets"] else _SUMS  # all in the sentence above
    shown = {
        column: title for column, title in _COLUMNS.items() if column not in silent and table[column].notna().any()
    }
    medians, sums = named[list(shown)].median(), named[[column for column in _SUMS if column in shown]].sum()
    runs = named.size()
    counts = dict.fromkeys((runs.min(), runs.max()))
    told = "one run" if list(counts) == [1] else f"{' to '.join(map(str, counts))} runs"
    lines += [
        f"Medians over the {told} of {'a KEM and signature' if together else 'a suite'} in all scenarios, packets in "
        "all; of the handshake over those of the first scenario, with the 95 % interval.",
        "",
        f"| suite | {' | '.join(shown.values())} |",
        f"|{'---|' * (1 + len(shown))}",
    ]
    handshakes = _handshakes(table)
    of = dict(zip(names, pairs, strict=True))
    for suite, row in sorted(medians.assign(**sums).iterrows(), key=lambda each: handshakes[of[str(each[0])]][0]):
        cells = [
            handshakes[of[str(suite)]][1] if column == _HANDSHAKE else _cell(float(row[column])) for column in shown
        ]
        lines.append(f"| {' | '.join([str(suite), *cells])} |")
    return "\n".join([*lines, ""])


def _handshakes(table: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """The handshake, and how it is written, of each KEM and signature without a detector, or with the scenario that
    comes first: the median of all its runs, whatever their cipher, and the 95 % interval of that median where there are
    enough runs."""
    passed = table[table["status"] == tidy.PASSED].dropna(subset=[_HANDSHAKE])
    scenario = ordered(passed["scenario"].unique(), SCENARIOS)[:1]
    chosen = passed[passed["scenario"].isin(scenario)]
    of: dict[str, tuple[float, str]] = defaultdict(lambda: (math.inf, ""))
    for pair, rows in chosen.groupby([pair_of(str(code)) for code in tidy.short_codes(chosen)]):
        middle, low, high = run_median([[value] for value in rows[_HANDSHAKE]])
        between = "" if math.isnan(low) or low == high else f" ({_cell(low)}-{_cell(high)})"
        of[str(pair)] = middle, f"{_cell(middle)}{between}"
    return of


def pair_of(suite: str) -> str:
    """A short code without its cipher, `ML-512-*-MD-44`; the code itself if it has none of ours."""
    cipher = next((each for each in CIPHERS if f"-{each}-" in suite), "")
    return suite.replace(f"-{cipher}-", "-*-") if cipher else suite


def _left_out(manifest: Mapping[str, Any]) -> list[str]:
    lines = [f"  * {each['run']}: {each['reason']}" for each in manifest["failures"]]
    return ["* Left out:", *lines] if lines else []


def _measured_again(manifest: Mapping[str, Any]) -> list[str]:
    found = repeated_runs.listed(manifest)
    if not found:
        return []
    lines = [f"  * {each.item.name}: {each.reason}" for each in found]
    return ["* Measured again, the measurement before kept below `repeated`:", *lines]


def _source(manifest: Mapping[str, Any]) -> str:
    found = manifest.get("source") or {}
    if not found:
        return "the commit was not recorded"
    return f"commit {found['commit'][:12]}{' with changes' if found['changed'] else ''}"


def _resumed(times: int) -> str:
    return {0: "never resumed", 1: "resumed once"}.get(times, f"resumed {times} times")


def _pair(cost: Mapping[str, Any], who: str) -> str:
    both = cost[f"{who}_cpu_percent"]
    return " / ".join("?" if both[side] is None else f"{both[side]:.1f} %" for side in ("drone", "gcs"))


def compact_table(table: pd.DataFrame) -> tuple[str, dict[str, Any]]:
    """The table as CSV, and the columns it leaves out: those with one and the same value in every run.

    Numbers have DIGITS significant digits and whole ones are in full: more is noise of the number format.
    """
    kept = table.copy()
    same: dict[str, Any] = {}
    for field in tidy.flat_fields():
        if table[field.path].nunique(dropna=False) == 1:
            value = table[field.path].iloc[0]
            same[field.path] = None if value != value else value
            kept = kept.drop(columns=field.path)
        elif field.numeric:
            kept[field.path] = [_figure(float(value)) for value in table[field.path]]
    return str(kept.to_csv(index=False, lineterminator="\n")), same


def _figure(value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if value.is_integer() else f"{value:.{DIGITS}g}"


def export(store: CampaignStore, folder: Path, *, runs: bool = True) -> list[Path]:
    """Writes manifest, table and page to `folder`, under the names of this schema version. Returns what was written.

    `runs`: keep the runs' files too, as they were recorded and compressed, where the campaign has them all.

    An exported campaign can be exported again, which renews one of an older schema version; another one stays where it
    is. Raises StoreError.
    """
    manifest = store.manifest()
    if "summary" not in manifest or tidy.file_in(store.folder) is None:
        raise StoreError(f"{store.folder} has no table yet; resume the campaign first.")
    there = CampaignStore(folder).manifest().get("campaign_id") if (folder / MANIFEST).is_file() else None
    if there not in (None, manifest.get("campaign_id")):
        raise StoreError(f"{folder} holds another campaign, '{there}', which stays: give another folder.")
    try:
        table = tidy.read(store.folder)
    except (OSError, ValueError) as error:
        raise StoreError(f"The table of {store.folder} is damaged: {error}") from None
    try:
        single = handshake_table.read(store.folder)
    except ValueError as error:
        raise StoreError(f"The table of handshakes is damaged: {error}") from None
    try:
        kept = kept_runs.available(store.folder, manifest.get("files", {})) if runs else {}
        again = repeated_runs.files(store) if kept else {}
    except (OSError, ValueError) as error:
        raise StoreError(f"A run's file in {store.folder} is damaged: {error}") from None
    text, same = compact_table(table)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        name = _write_table(text.encode(), folder)
        handshakes = handshake_table.write(single, folder, compressed=True)
    except OSError as error:
        raise storage_error(folder, error) from None
    files = kept_runs.write({**kept, **again}, folder)
    CampaignStore(folder).save_manifest({**compacted(manifest, same), kept_runs.KEPT: bool(kept)})
    try:  # of the table as it reads there: a median between two runs may be rounded otherwise than of its source
        (folder / PAGE).write_text(page(manifest, tidy.read(folder)), encoding="utf-8")
    except OSError as error:
        raise storage_error(folder, error) from None
    written = [folder / MANIFEST, folder / name, handshakes, folder / PAGE, *files]
    return [path for path in written if path is not None]


def _write_table(content: bytes, folder: Path) -> str:
    """Writes the table in the one form that fits its size and returns the file's name."""
    small, large = tidy.CSV, tidy.CSV + packed.ENDING
    name, other = (large, small) if len(content) > LARGE_TABLE else (small, large)
    (folder / name).write_bytes(packed.pack(content, folder / name))
    (folder / other).unlink(missing_ok=True)
    return name
