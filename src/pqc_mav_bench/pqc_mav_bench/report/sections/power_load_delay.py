# SPDX-License-Identifier: Apache-2.0
"""Power, load, round trips and goodput per suite, as [rpi4-analysis] charts them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.detector_effect import added
from pqc_mav_bench.analysis.estimate import Estimate, of_pairs, of_suites
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES, has, wide
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Chart, Explanation, Notice, Section
from pqc_mav_bench.report.charts import heat, points
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.numbers import count, duration, number, quantity
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import alike, by_family, scenario_note, with_values
from pqc_mav_bench.report.sections.per_suite import dots_per_suite, either, ordered_suites


def suite_power(c: ReportInput) -> Section:
    """Handshake scatter, power per suite, power by scenario."""
    title = "Handshakes by family; power per suite and between scenarios"
    groups = []
    for i, family in enumerate(f for f in FAMILIES if f in set(c.baseline["kem_family"])):
        rows = (
            c.baseline[c.baseline["kem_family"] == family].dropna(subset=["handshake_ms"]).sort_values("handshake_ms")
        )
        x = [i + (j - len(rows) / 2) * 0.7 / max(1, len(rows)) for j in range(len(rows))]
        tips = [f"{r.suite}: {duration(r.handshake_ms)}" for r in rows.itertuples()]
        groups.append(
            points.Points(
                family, x, rows["handshake_ms"].tolist(), tips, palette.family(family), palette.FAMILY_MARKER[family]
            )
        )
    ranges = sentences.ranges(by_family(c.baseline))
    explanation = Explanation(
        "Every suite's handshake, grouped by KEM family and sorted within it.",
        "The vertical axis is logarithmic.",
        ranges,
        [_sphincs_last(c.baseline)],
    )
    chart = Chart(
        "family-scatter",
        "Handshakes by KEM family",
        "Scatter plot of handshake times.",
        points.families(groups, "Handshake (ms, log scale)"),
        c.origin(),
        c.sources,
        None,
        explanation,
    )
    use, missing = either(c, "power_mean_w")
    return Section("suite_power", title, [chart, *missing, *_power(use), *scenario_note(c)])


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
    rows = ordered_suites(c.baseline.dropna(subset=["power_mean_w"]))
    axis = "Mean power (W)" if c.power_is_measured or c.is_published else "Mean power, modelled (W)"
    note = "" if c.power_is_measured else " These figures come from a model of the load, not from a sensor."
    blocks: list[Block] = []
    if len(rows):
        values = rows["power_mean_w"]
        percent = 100 * (values.max() - values.min()) / values.min()
        explanation = Explanation(
            f"Mean power of the drone's computer per suite in "
            f"{SCENARIO_NAMES.get(c.main_scenario, c.main_scenario)}.{note}",
            "The axis does not start at zero, because the differences would otherwise be invisible.",
            [
                f"All suites lie between {quantity(values.min(), 'W')} and {quantity(values.max(), 'W')}, a "
                f"spread of {number(percent, 2)} %."
            ],
        )
        group = points.Points("power", values.tolist(), [], [], palette.light("blue"))
        blocks.append(
            Chart(
                "power-suite",
                "Power per suite",
                "Dots of mean power per suite.",
                points.per_suite(rows["suite"].tolist(), [group], axis, "W"),
                c.power_origin,
                c.sources,
                None,
                explanation,
            )
        )
    grid = wide(c.suites, "power_mean_w")
    if "tst" in grid and "baseline" in grid:
        labels, groups = dots_per_suite(c, "power_mean_w", ["baseline", "tst"])
        explanation = Explanation(
            f"The same with and without the transformer.{note}",
            "The distance between the two dots is what the detector adds.",
            [_added_power(c, grid)],
        )
        blocks.append(
            Chart(
                "power-tst",
                "Power, Baseline against transformer",
                "Dots of mean power per suite in two scenarios.",
                points.per_suite(labels, groups, axis, "W"),
                c.power_origin,
                c.sources,
                None,
                explanation,
            )
        )
    return blocks


def _added_power(c: ReportInput, grid: pd.DataFrame) -> str:
    """What the transformer adds: of printed figures their range, of a campaign's own the median with its interval."""
    if c.is_published:
        found = (grid["tst"] - grid["baseline"]).dropna()
        return (
            f"It adds {quantity(found.min(), 'W')} to {quantity(found.max(), 'W')}, {quantity(found.mean(), 'W')} on "
            "average."
            if len(found)
            else ""
        )
    more = added(c.suites, column="power_mean_w").get("tst")
    if more is None:
        return ""
    return f"It adds {quantity(more.value, 'W')} (95 % interval {number(more.low)} to {quantity(more.high, 'W')})."


def suite_heatmaps(c: ReportInput) -> Section:
    """Heatmaps of crypto time, CPU, RSS."""
    title = "Heatmaps: cryptographic operations, CPU and memory"
    use, blocks = either(c, "kem_keygen_ms", "kem_decaps_ms", "sig_sign_ms")
    rows = ordered_suites(with_values(use, "kem_keygen_ms"))
    operations = {
        "kem_keygen_ms": "Keygen",
        "kem_encaps_ms": "Encaps",
        "kem_decaps_ms": "Decaps",
        "sig_sign_ms": "Sign",
        "sig_verify_ms": "Verify",
    }
    present = [k for k in operations if has(rows, k)]
    panel = heat.Panel(
        "",
        rows["suite"].tolist(),
        [operations[k] for k in present],
        rows[present].to_numpy(dtype=float).tolist(),
        "ms",
        True,
    )
    totals = {operations[k]: Estimate.exact(float(rows[k].median())) for k in present}
    if not use.is_published:
        totals = {operations[k]: of_pairs(rows, k) for k in present}
    explanation = Explanation(
        "Time of each operation inside the handshake, per suite.",
        "Yellow is slow, blue fast; colours follow the logarithm. A dash is an operation that took no measurable "
        "time or was not timed.",
        [sentences.fastest_slowest(totals, "median time of all operations")],
    )
    blocks.append(
        Chart(
            "crypto-heat",
            "Cryptographic operations per suite (ms)",
            "Heatmap of operation times.",
            heat.heatmaps([panel], 15),
            use.origin(),
            use.sources,
            None,
            explanation,
        )
    )
    for key, column, name, unit in (
        ("cpu-heat", "cpu_peak_percent", "Peak CPU (%)", "%"),
        ("rss-heat", "tunnel_rss_mib", "Resident memory (MiB)", "MiB"),
    ):
        source, missing = either(c, column)
        blocks += missing
        grid = wide(source.suites, column).reindex(ordered_suites(source.suites.drop_duplicates("suite"))["suite"])
        names = [SCENARIO_NAMES.get(n, n) for n in grid.columns]
        every = grid.stack()
        if alike(every, 0.05):
            blocks.append(
                Notice(
                    f"No heatmap of {_plain(name)}: over {count(len(grid), 'suite')} and "
                    f"{count(len(names), 'scenario')} it lies between {quantity(every.min(), unit)} and "
                    f"{quantity(every.max(), unit)}."
                )
            )
            continue
        one = heat.Panel("", grid.index.tolist(), names, grid.to_numpy(dtype=float).tolist(), unit)
        own = (
            ""
            if source.is_published or column != "tunnel_rss_mib"
            else " It is the proxy's own memory; the documents give that of proxy and detector together."
        )
        explanation = Explanation(
            f"{name} per suite and scenario.{own}",
            "Yellow is high, blue low.",
            [
                sentences.extremes(per_scenario(source, column), f"median {_plain(name)}", unit, "lowest", "highest")
                or f"Mean over all suites: {quantity(float(np.nanmean(grid.to_numpy(dtype=float))), unit)}."
            ],
        )
        blocks.append(
            Chart(
                key,
                name,
                f"Heatmap of {name} per suite and scenario.",
                heat.heatmaps([one], 15),
                source.origin(True),
                source.sources,
                None,
                explanation,
            )
        )
    return Section("suite_heatmaps", title, [*blocks, *scenario_note(c)])


def _plain(title: str) -> str:
    """A heading inside a sentence: without its unit and, unless it is an abbreviation, in lower case."""
    return title.split(" (")[0].replace("Resident", "resident").replace("Peak", "peak")


def round_trips(c: ReportInput) -> Section:
    """RTT distribution and goodput ratio."""
    title = "Round trips (p50, p95, max) and goodput ratio"
    use, blocks = either(c, "rtt_p50_ms", "rtt_p95_ms", "rtt_max_ms")
    rows = with_values(use, "rtt_p50_ms").dropna(subset=["rtt_p50_ms"])
    groups = []
    for column, label, colour, marker in (
        ("rtt_p50_ms", "p50", "blue", "o"),
        ("rtt_p95_ms", "p95", "orange", "s"),
        ("rtt_max_ms", "max", "vermillion", "^"),
    ):
        tips = [f"{r.suite}, {label}: {duration(getattr(r, column))}" for r in rows.itertuples()]
        groups.append(points.Points(label, rows[column].tolist(), [], tips, palette.light(colour), marker))
    where = SCENARIO_NAMES.get(str(rows["scenario"].iloc[0]), "") if len(rows) else ""
    stats = {g.label: summarise(g.x) for g in groups}
    explanation = Explanation(
        f"Cumulative distribution over the suites of the median, 95th percentile and longest round trip, scenario "
        f"{where}.",
        "At height 50 % half of the suites lie to the left. The axis is logarithmic.",
        sentences.ranges({name: s for name, s in stats.items() if s.n}),
        ["Curves that rise steeply mean that the suite makes no difference to the delay of packets."],
    )
    blocks.append(
        Chart(
            "rtt-cdf",
            "Round trips over the suites",
            "Cumulative distributions of round-trip times.",
            points.steps(groups, "Round trip (ms, log scale)", log=True),
            use.origin(),
            use.sources,
            None,
            explanation,
        )
    )
    good, missing = either(c, "goodput_percent")
    labels, dots = dots_per_suite(good, "goodput_percent", good.scenarios)
    grid = wide(good.suites, "goodput_percent")
    low = grid.min(axis=1)
    explanation = Explanation(
        "Payload delivered as a percentage of the payload offered, per suite and scenario.",
        "The dashed line is 100 %: everything that was offered arrived.",
        [
            f"{int((low >= 99.9).sum())} of {len(low)} suites deliver at least 99.9 % in every scenario.",
            sentences.extremes(
                {s: Estimate.exact(float(v)) if good.is_published else Estimate(float(v)) for s, v in low.items()},
                "worst goodput ratio",
                "%",
                "lowest",
                "highest",
            ),
        ],
    )
    blocks += missing
    if alike(grid.stack()):
        blocks.append(
            Notice(
                f"No chart of the goodput ratio: over {count(len(low), 'suite')} it lies between "
                f"{number(grid.min().min(), 4)} % and {number(grid.max().max(), 4)} % of what was offered."
            )
        )
        return Section("round_trips", title, [*blocks, *scenario_note(c)])
    blocks += [
        Chart(
            "goodput",
            "Goodput ratio",
            "Dots of goodput ratio per suite and scenario.",
            points.per_suite(labels, dots, "Goodput ratio (%)", "%", (100.0, "100 %")),
            good.origin(True),
            good.sources,
            None,
            explanation,
        ),
    ]
    return Section("round_trips", title, [*blocks, *scenario_note(c)])
