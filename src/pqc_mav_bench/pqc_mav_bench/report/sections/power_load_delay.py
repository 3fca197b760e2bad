# SPDX-License-Identifier: Apache-2.0
"""Power, load, round trips and goodput per suite, as [rpi4-analysis] charts them."""

from typing import Any

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.detector_effect import added
from pqc_mav_bench.analysis.estimate import Estimate, of_pairs, of_suites
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import wide
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Chart, Notice, Section
from pqc_mav_bench.report.charts import heat, points
from pqc_mav_bench.report.estimates import per_scenario, per_suite
from pqc_mav_bench.report.numbers import count, duration, listed, number, quantity
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import alike, families_of, scenario_note, summaries, with_values
from pqc_mav_bench.report.sections.figures import called, chart, family_points
from pqc_mav_bench.report.sections.per_suite import dots_per_suite, either, ordered_suites
from pqc_mav_bench.report.sections.suite_tables import present


def suite_power(c: ReportInput) -> Section:
    """Handshake scatter, power per suite, power by scenario."""

    def place(i: int, part: pd.DataFrame) -> tuple[list[float], list[float]]:
        x = [i + (j - len(part) / 2) * 0.7 / len(part) for j in range(len(part))]
        return x, part["handshake_ms"].tolist()

    rows = pd.concat(part.sort_values("handshake_ms") for part in families_of(c.known).values())
    drawing = points.dots(family_points(rows, place), "Handshake (ms, log scale)")
    drawn = chart(
        c, "family-scatter", drawing, sentences.ranges(summaries(families_of(c.baseline))), [_sphincs_last(c.baseline)]
    )
    use, missing = either(c, "power_mean_w")
    title = "Handshakes by family; power per suite and between scenarios"
    return Section("suite_power", title, [drawn, *missing, *_power(use), *scenario_note(c)])


def _sphincs_last(table: pd.DataFrame) -> str:
    """Whether the slowest suite of every family surely signs with SPHINCS+, among families that have both kinds; else
    ""."""
    verdicts = []
    for _, rows in table.dropna(subset=["handshake_ms"]).groupby("kem_family"):
        sphincs = rows["sig_family"] == "SPHINCS+"
        if sphincs.any() and not sphincs.all():
            slowest = (of_suites(rows[kind], "max") for kind in (~sphincs, sphincs))
            verdicts.append(next(slowest).below(next(slowest)))
    holds = bool(verdicts) and all(verdicts)
    return "In every family that also has others, the slowest suite signs with SPHINCS+." if holds else ""


def _power(c: ReportInput) -> list[Block]:
    modelled = "" if c.power_is_measured else ", modelled"
    axis = f"Mean power{modelled} (W)"
    note = " These figures come from a model of the load, not from a sensor." if modelled else ""

    def dots(key: str, title: str, where: str, suites: list[str], groups: list[points.Points], *texts: str) -> Chart:
        shows, read, says = texts
        drawing = points.per_suite(suites, groups, axis, "W")
        own: dict[str, Any] = {"title": title, "read": read, "where": where, "shows": shows + note}
        return chart(c, key, drawing, [says], of="power", origin=c.power_origin, **own)

    blocks: list[Block] = []
    rows = ordered_suites(c.baseline.dropna(subset=["power_mean_w"]))
    if len(rows):
        low, high = rows["power_mean_w"].quantile([0.25, 0.75])
        group = points.Points("power", rows["power_mean_w"].tolist(), [], [], palette.light("blue"))
        shows = f"Mean power of the drone's computer per suite in {called(c.main_scenario)}."
        read = "The axis does not start at zero, because the differences would otherwise be invisible."
        says = f"Half of the suites lie between {quantity(low, 'W')} and {quantity(high, 'W')}{modelled}.{_agent(c)}"
        blocks.append(dots("power-suite", "Power per suite", "", rows["suite"].tolist(), [group], shows, read, says))
    grid = wide(c.suites, "power_mean_w")
    if "tst" in grid and "baseline" in grid:
        labels, groups = dots_per_suite(c, "power_mean_w", ["baseline", "tst"])
        shows = "The same with and without the transformer."
        read = "The distance between the two dots is what the detector adds."
        title, where = "Power, Baseline against transformer", " in two scenarios"
        blocks.append(dots("power-tst", title, where, labels, groups, shows, read, _added_power(c, grid)))
    return blocks


#: A share of one core from which the benchmark's own agent is no longer small beside a suite [%].
_AGENT_PERCENT = 10.0


def _agent(c: ReportInput) -> str:
    """The suites beside which the benchmark's own agents loaded the drone's machine."""
    ends = ("system_drone", "system_gcs") if c.same_host else ("system_drone",)
    columns = [f"{end}.bench_cpu_percent" for end in ends]
    if not set(columns) <= set(c.raw.columns):
        return ""
    names = c.runs.drop_duplicates("suite_id").set_index("suite_id")["suite"]
    shares = c.raw[c.raw["scenario"] == c.main_scenario].set_index("suite")[columns].max(axis=1)
    said = [
        f"{names.get(suite, suite)} ({number(float(share), 2)} % of a core)"
        for suite, share in shares[shares > _AGENT_PERCENT].sort_values(ascending=False).items()
    ]
    if not said:
        return ""
    return (
        f" The benchmark's own agent took part of the processor beside {listed(said)}: that power is not the suite's."
    )


def _added_power(c: ReportInput, grid: pd.DataFrame) -> str:
    """What the transformer adds: of printed figures their range, of a campaign's own the median with its interval."""
    if c.is_published:
        found = (grid["tst"] - grid["baseline"]).dropna()
        low, high, mean = (quantity(value, "W") for value in (found.min(), found.max(), found.mean()))
        return f"It adds {low} to {high}, {mean} on average." if len(found) else ""
    more = added(c.passed, column="power_mean_w").get("tst")
    if more is None:
        return ""
    return f"It adds {quantity(more.value, 'W')} (95 % interval {number(more.low)} to {quantity(more.high, 'W')})."


_OPERATIONS = {
    "kem_keygen_ms": "Keygen",
    "kem_encaps_ms": "Encaps",
    "kem_decaps_ms": "Decaps",
    "sig_sign_ms": "Sign",
    "sig_verify_ms": "Verify",
}


def suite_heatmaps(c: ReportInput) -> Section:
    """Heatmaps of crypto time, CPU, RSS."""
    use, blocks = either(c, "kem_keygen_ms", "kem_decaps_ms", "sig_sign_ms")
    rows = ordered_suites(with_values(use, "kem_keygen_ms"))
    timed = {k: _OPERATIONS[k] for k in present(rows, *_OPERATIONS)}
    values = rows[list(timed)].to_numpy(dtype=float).tolist()
    panel = heat.Panel("", rows["suite"].tolist(), list(timed.values()), values, "ms", True)
    totals = {
        name: Estimate.exact(float(rows[k].median())) if use.is_published else of_pairs(rows, k)
        for k, name in timed.items()
    }
    says = [sentences.fastest_slowest(totals, "median time of all operations")]
    blocks.append(chart(use, "crypto-heat", heat.heatmaps([panel], 15), says))
    for key, column, name, unit in (
        ("cpu-heat", "cpu_peak_percent", "Peak CPU (%)", "%"),
        ("rss-heat", "tunnel_rss_mib", "Resident memory (MiB)", "MiB"),
    ):
        source, missing = either(c, column)
        blocks += [*missing, _load_heat(source, key, column, name, unit)]
    title = "Heatmaps: cryptographic operations, CPU and memory"
    return Section("suite_heatmaps", title, [*blocks, *scenario_note(c)])


def _load_heat(c: ReportInput, key: str, column: str, name: str, unit: str) -> Block:
    """A heatmap of a column over suites and scenarios; a sentence where all have the same."""
    grid = wide(c.suites, column).reindex(ordered_suites(c.suites.drop_duplicates("suite"))["suite"])
    every, what = grid.stack(), _plain(name)
    if alike(every, 0.05):
        return Notice(
            f"No heatmap of {what}: over {count(len(grid), 'suite')} and {count(len(grid.columns), 'scenario')} it "
            f"lies between {quantity(every.min(), unit)} and {quantity(every.max(), unit)}."
        )
    values = grid.to_numpy(dtype=float)
    panel = heat.Panel("", grid.index.tolist(), [called(n) for n in grid.columns], values.tolist(), unit)
    own = " It is the proxy's own memory; the documents give that of proxy and detector together."
    says = [
        sentences.extremes(per_scenario(c, column), f"median {what}", unit, "lowest", "highest")
        or f"Mean over all suites: {quantity(float(np.nanmean(values)), unit)}."
    ]
    shows = f"{name} per suite and scenario.{'' if c.is_published or column != 'tunnel_rss_mib' else own}"
    own_texts = {"of": "load-by-scenario", "title": name, "shows": shows}
    return chart(c, key, heat.heatmaps([panel], 15), says, across=True, **own_texts)


def _plain(title: str) -> str:
    """A heading inside a sentence: without its unit and, unless it is an abbreviation, in lower case."""
    return title.split(" (")[0].replace("Resident", "resident").replace("Peak", "peak")


def round_trips(c: ReportInput) -> Section:
    """RTT distribution and goodput ratio."""
    use, blocks = either(c, "rtt_p50_ms", "rtt_p95_ms", "rtt_max_ms")
    rows = with_values(use, "rtt_p50_ms").dropna(subset=["rtt_p50_ms"])
    groups = []
    for label, colour, marker in (("p50", "blue", "o"), ("p95", "orange", "s"), ("max", "vermillion", "^")):
        values = rows[f"rtt_{label}_ms"].tolist()
        tips = [f"{suite}, {label}: {duration(ms)}" for suite, ms in zip(rows["suite"], values, strict=True)]
        groups.append(points.Points(label, values, [], tips, palette.light(colour), marker))
    where = called(str(rows["scenario"].iloc[0])) if len(rows) else ""
    stats = {g.label: summarise(g.x) for g in groups}
    says = sentences.ranges({name: s for name, s in stats.items() if s.n})
    drawing = points.steps(groups, "Round trip (ms, log scale)", log=True)
    blocks.append(chart(use, "rtt-cdf", drawing, says, where=where))
    good, missing = either(c, "goodput_percent")
    blocks += [*missing, _goodput(good)]
    title = "Round trips (p50, p95, max) and goodput ratio"
    return Section("round_trips", title, [*blocks, *scenario_note(c)])


def _goodput(c: ReportInput) -> Block:
    grid = wide(c.suites, "goodput_percent")
    low = grid.min(axis=1)
    if alike(grid.stack()):
        return Notice(
            f"No chart of the goodput ratio: over {count(len(low), 'suite')} it lies between "
            f"{number(grid.min().min(), 4)} % and {number(grid.max().max(), 4)} % of what was offered."
        )
    worst = per_suite(c, low.reset_index(name="low"), "low")
    says = [
        f"{int((low >= 99.9).sum())} of {len(low)} suites deliver at least 99.9 % in every scenario.",
        sentences.extremes(worst, "worst goodput ratio", "%", "lowest", "highest"),
    ]
    labels, dots = dots_per_suite(c, "goodput_percent", c.scenarios)
    drawing = points.per_suite(labels, dots, "Goodput ratio (%)", "%", (100.0, "100 %"))
    return chart(c, "goodput", drawing, says, across=True)
