#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second analysis of a campaign, written from docs/analysis-plan.md alone: no code of the first one is used.

    python bench/second_look/look.py bench/results/campaign-scenarios

Needs Python alone, and of the campaign its manifest and two tables, plain or compressed. Says how each question
of the plan is answered; `bench/test/test_second_look.py` compares that with the analysis behind the report.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from second_look.rules import ALPHA, FEWEST, Interval, Paired, holm, of_runs, wilcoxon, wilson

BASE, PLAIN_CIPHER = "baseline", "AES-256-GCM"
Pair = tuple[str, str]  # KEM and signature


@dataclass(frozen=True)
class Run:
    """One run: its conditions, and the median of its handshakes in ms."""

    scenario: str
    pair: Pair
    cipher: str
    family: str
    level: int
    middle: float


@dataclass
class Answers:
    """What the plan asks for."""

    handshakes: dict[Pair, Interval] = field(default_factory=dict)
    shortest: dict[int, set[Pair]] = field(default_factory=dict)  # of a level, not told apart from the shortest one
    lower_level: dict[tuple[int, int], bool] = field(default_factory=dict)  # is the lower one's interval surely below?
    detectors: dict[str, tuple[Paired, float]] = field(default_factory=dict)  # with the corrected p
    families: dict[str, tuple[Paired, float]] = field(default_factory=dict)
    ciphers: dict[str, tuple[Paired, float]] = field(default_factory=dict)
    lost: dict[str, tuple[int, int, Interval]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    """A table of the campaign."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            data = path.read_bytes()
            text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
            return list(csv.DictReader(io.StringIO(text)))
    raise SystemExit(f"error: {folder} has no {name}: it is no campaign, or not a finished one.")


def whole(folder: Path) -> list[dict[str, str]]:
    """The table of the runs, with the columns that an exported campaign keeps once for all of them."""
    same = json.loads((folder / "campaign.json").read_text(encoding="utf-8")).get("same_in_every_run", {})
    every = {name: "" if value is None else str(value) for name, value in same.items()}
    return [every | row for row in rows(folder, "tidy.csv")]


def runs_of(table: Sequence[Mapping[str, str]], single: Sequence[Mapping[str, str]]) -> tuple[list[Run], list[str]]:
    """The runs that passed, and the names of the others."""
    times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in single:
        if row["handshake_ms"]:
            times[row["scenario"], row["suite"], row["repetition"]].append(float(row["handshake_ms"]))
    found, left_out = [], []
    for row in table:
        key = row["scenario"], row["suite"], row["repetition"]
        if row["status"] != "passed" or not times[key]:
            left_out.append("/".join(key))
            continue
        identity = {name: row[f"crypto_identity.{name}"] for name in ("kem_algorithm", "sig_algorithm", "kem_family")}
        found.append(
            Run(
                row["scenario"],
                (identity["kem_algorithm"], identity["sig_algorithm"]),
                row["crypto_identity.aead_algorithm"],
                identity["kem_family"],
                int(float(row["crypto_identity.kem_nist_level"])),
                median(times[key]),
            )
        )
    return found, left_out


def answer(folder: Path) -> Answers:
    """The four questions of the plan."""
    table = whole(folder)
    runs, left_out = runs_of(table, rows(folder, "handshakes.csv"))
    out = Answers(left_out=left_out)
    plain = [run for run in runs if run.scenario == BASE]
    out.handshakes = {pair: of_runs(values) for pair, values in _grouped(plain).items()}
    levels = {run.pair: run.level for run in plain}
    best: dict[int, Interval] = {}
    for level in sorted(set(levels.values())):
        here = {pair: each for pair, each in out.handshakes.items() if levels[pair] == level}
        best[level] = min(here.values(), key=lambda each: each.figure)
        out.shortest[level] = {pair for pair, each in here.items() if not each.apart(best[level])}
    for low, high in ((low, high) for low in best for high in best if low < high):
        out.lower_level[low, high] = best[low].high < best[high].low
    others = sorted({run.scenario for run in runs} - {BASE})
    out.detectors = _compared({name: _of(runs, name) for name in others}, _of(runs, BASE))
    kinds = sorted({run.family for run in runs})
    of_family = {f"{kind} {name}": (_of(runs, name, kind), _of(runs, BASE, kind)) for kind in kinds for name in others}
    out.families = _corrected({name: _paired(*both) for name, both in of_family.items()})
    ciphers = sorted({run.cipher for run in plain} - {PLAIN_CIPHER})
    of_cipher = {each: _grouped([run for run in plain if run.cipher == each]) for each in (*ciphers, PLAIN_CIPHER)}
    out.ciphers = _compared({cipher: of_cipher[cipher] for cipher in ciphers}, of_cipher[PLAIN_CIPHER])
    passed = [row for row in table if row["status"] == "passed"]
    for name in (BASE, *others):
        lost, sent = (
            sum(int(float(row[f"workload.{what}_packets"] or 0)) for row in passed if row["scenario"] == name)
            for what in ("lost", "sent")
        )
        if sent:
            out.lost[name] = lost, sent, wilson(lost, sent)
    return out


def _of(runs: Sequence[Run], scenario: str, family: str = "") -> dict[Pair, list[float]]:
    return _grouped([run for run in runs if run.scenario == scenario and family in ("", run.family)])


def _grouped(runs: Sequence[Run]) -> dict[Pair, list[float]]:
    found: dict[Pair, list[float]] = defaultdict(list)
    for run in runs:
        found[run.pair].append(run.middle)
    return found


def _paired(with_it: Mapping[Pair, Sequence[float]], without: Mapping[Pair, Sequence[float]]) -> Paired | None:
    """Per pair the ratio of the geometric means of its runs; None for too few pairs."""
    both = sorted(set(with_it) & set(without))
    if len(both) < FEWEST:
        return None
    return wilcoxon([fmean(map(math.log, with_it[pair])) - fmean(map(math.log, without[pair])) for pair in both])


def _compared(
    found: Mapping[str, Mapping[Pair, Sequence[float]]], base: Mapping[Pair, Sequence[float]]
) -> dict[str, tuple[Paired, float]]:
    return _corrected({name: _paired(each, base) for name, each in found.items()})


def _corrected(found: Mapping[str, Paired | None]) -> dict[str, tuple[Paired, float]]:
    tested = {name: each for name, each in found.items() if each is not None}
    chances = holm({name: each.p for name, each in tested.items()})
    return {name: (each, chances[name]) for name, each in tested.items()}


def said(answers: Answers) -> Iterator[str]:
    """The answers as lines."""
    yield f"Left out: {', '.join(answers.left_out) or 'no run'}."
    yield "Handshake without a detector, median over the pair's runs with its 95 % interval [ms]:"
    for pair, each in sorted(answers.handshakes.items(), key=lambda item: item[1].figure):
        yield f"  {pair[0]} + {pair[1]}: {each.figure:.3g} ({each.low:.3g} to {each.high:.3g})"
    for level, pairs in answers.shortest.items():
        yield f"Level {level}: {len(pairs)} cannot be told apart from the shortest."
    for (low, high), surely in answers.lower_level.items():
        yield f"Level {low} {'is' if surely else 'is not'} surely shorter than level {high}."
    for title, found in (
        ("A detector", answers.detectors),
        ("By family of KEMs", answers.families),
        (f"A cipher, to {PLAIN_CIPHER}", answers.ciphers),
    ):
        yield f"{title}: ratio, 95 % interval, corrected p:"
        for name, (each, p) in found.items():
            word = "differs" if p < ALPHA else "not told apart"
            ratio = f"{each.ratio.figure:.3f} ({each.ratio.low:.3f} to {each.ratio.high:.3f})"
            yield f"  {name}: {ratio}, p {p:.4f}, N {each.pairs}: {word}"
    for name, (lost, sent, share) in answers.lost.items():
        yield f"Lost, {name}: {lost:,} of {sent:,}, {share.low:.2e} to {share.high:.2e}."


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: look.py CAMPAIGN")
    print("\n".join(said(answer(Path(sys.argv[1])))))
