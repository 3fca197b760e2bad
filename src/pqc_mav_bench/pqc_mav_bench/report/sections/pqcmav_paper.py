# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of the PQC-MAV paper [pqcmav-paper], made from the campaign, and as published."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis import regression, rekey, tier
from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.intervals import ends
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES, has, rank
from pqc_mav_bench.handshake_table import NUMBER
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import MEASURED, Block, Chart, Explanation, Notice, Section, Table, see
from pqc_mav_bench.report.charts import points, spread
from pqc_mav_bench.report.estimates import SAMPLES, has_samples, per_group, per_member
from pqc_mav_bench.report.numbers import duration, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections import diagrams
from pqc_mav_bench.report.sections.common import first_upper, kem_order, sig_order, with_values, without
from pqc_mav_bench.report.sections.handshakes import known
from pqc_mav_bench.report.sections.published_tables import published_table


def _distribution(c: ReportInput, key: str, column: str, order: list[str], figure: str, what: str) -> Block:
    rows = c.runs[c.runs["passed"]].dropna(subset=[column])
    every = _every_time(c, rows, column)
    groups = []
    for name in order:
        part, drawn = rows[rows[key] == name], every[every[key] == name]
        if len(drawn):
            family = str(part["kem_family" if key == "kem" else "sig_family"].iloc[0])
            colour = palette.family(family) if key == "kem" else palette.sig_family(family)
            groups.append(
                spread.Group(
                    name.replace("Classic-McEliece", "McEliece"), drawn["ms"].tolist(), drawn["name"].tolist(), colour
                )
            )
    if not groups:
        return without(c, f"{what} times", "no handshake reported its primitives")
    # Of the main scenario: over several, the interval would be that of their mixture.
    medians = per_member(c, with_values(c, column), key, column)
    shows = (
        f"Every {what} of the campaign's handshakes, all scenarios together, per algorithm."
        if has_samples(c, column)
        else f"The {what} of each run, one figure a run, all scenarios together, per algorithm."
    )
    where = SCENARIO_NAMES.get(c.main_scenario, c.main_scenario)
    explanation = Explanation(
        shows,
        "Box: middle half; line: median; whiskers: 1.5 box heights; rings: single "
        f"{'handshakes' if has_samples(c, column) else 'runs'} beyond. The axis is logarithmic.",
        [sentences.fastest_slowest(medians, f"median {what} in {where}" if len(c.scenarios) > 1 else f"median {what}")],
    )
    return Chart(
        f"{column.replace('_', '-')}-distribution",
        f"Distribution of {what} ({figure})",
        f"Box plots of {what} per algorithm.",
        spread.boxes([spread.Panel(groups, f"{first_upper(what)} (ms, log scale)", "ms", True)], 430, tilt=32),
        c.origin(True),
        c.sources,
        None,
        explanation,
    )


def _every_time(c: ReportInput, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The single times of a column (`ms`), each with its algorithms and a `name`; one figure a run where a campaign
    keeps no single times."""
    if not has_samples(c, column):
        return rows.assign(ms=rows[column], name=rows["suite"])
    keys = ["scenario", "suite", "repetition"]
    single = c.single.dropna(subset=[SAMPLES[column]]).merge(rows[[*keys, "kem", "sig"]], on=keys)
    number_of = single[NUMBER].astype(int).astype(str)
    return single.assign(ms=single[SAMPLES[column]], name=single["suite"] + ", handshake " + number_of)


def _clusters(c: ReportInput) -> Chart:
    """All suites in order of family and time: the paper's three clusters."""
    groups, place = [], 0
    for family in (f for f in FAMILIES if f in set(known(c)["kem_family"])):
        rows = rank(known(c)[known(c)["kem_family"] == family], "handshake_ms")
        tips = [f"{r.suite}: {duration(r.handshake_ms)}" for r in rows.itertuples()]
        groups.append(
            points.Points(
                family,
                list(range(place, place + len(rows))),
                rows["handshake_ms"].tolist(),
                tips,
                palette.family(family),
                palette.FAMILY_MARKER[family],
            )
        )
        place += len(rows) + 2
    ml = known(c)[known(c)["kem_family"] == "ML-KEM"]
    claim = _stay_below(ml, 20.0)
    explanation = Explanation(
        "All suites in one row, sorted within their KEM family.",
        "The vertical axis is logarithmic; within a family suites differ by KEM, signature and cipher.",
        [claim],
    )
    return Chart(
        "clusters",
        "Handshakes of all suites by family, [pqcmav-paper] Fig. 6",
        "Scatter plot of handshake times in family clusters.",
        points.clusters(groups, "Suites, sorted within each KEM family", "Handshake (ms, log scale)"),
        c.origin(),
        c.sources,
        None,
        explanation,
    )


def _stay_below(rows: pd.DataFrame, limit_ms: float) -> str:
    """The paper's limit for ML-KEM suites against the intervals of these; "" where one has none."""
    times = ends(rows)
    if not times or any(math.isnan(low) for low, _ in times):
        return ""
    over = rows[[low >= limit_ms for low, _ in times]]
    unsure = sum(low < limit_ms <= high for low, high in times)
    said = f"The paper says that ML-KEM suites stay below {limit_ms:.0f} ms; here "
    open_ones = f"; of {unsure} the interval holds the limit" if unsure else ""
    if over.empty:
        return f"{said}{'all do' if not unsure else f'none is surely above{open_ones}'}."
    sphincs = ", all of which sign with SPHINCS+" if (over["sig_family"] == "SPHINCS+").all() else ""
    return f"{said}{len(over)} of {len(rows)} do not{sphincs}{open_ones}."


def pqcmav_paper_figures(c: ReportInput) -> Section:
    """The paper's seven figures."""
    title = "Figures of the PQC-MAV paper: architecture, handshake, wire format, distributions, power"
    rows = with_values(c, "kem_keygen_ms")
    blocks: list[Block] = [
        diagrams.architecture("paper-architecture"),
        diagrams.handshake("paper-handshake"),
        diagrams.wire_format("paper-wire"),
        _distribution(c, "kem", "kem_keygen_ms", kem_order(rows), "[pqcmav-paper] Fig. 4", "key generation"),
        _distribution(c, "sig", "sig_sign_ms", sig_order(rows), "[pqcmav-paper] Fig. 5", "signing"),
        _clusters(c),
        Notice(
            "Power during single KEM operations ([pqcmav-paper] Fig. 7) needs a sensor that samples a thousand times a "
            "second while one operation runs. "
            f"{first_upper(c.name)} has {'none' if not c.power_is_measured else 'mean power per run only'}, and "
            f"the paper prints the figure without its numbers, so nothing can be drawn here. "
            "It states that ML-KEM operations are invisible in the power trace and that McEliece key generation "
            "sustains elevated power."
        ),
    ]
    return Section("pqcmav_paper_figures", title, blocks)


def _registry(c: ReportInput) -> Table:
    rows = []
    for kind, column, family in (
        ("KEM", "kem", "kem_family"),
        ("Signature", "sig", "sig_family"),
        ("AEAD", "aead", "aead"),
    ):
        for name in (
            kem_order(c.suites)
            if kind == "KEM"
            else sig_order(c.suites)
            if kind == "Signature"
            else sorted(set(c.suites["aead"]))
        ):
            part = c.suites[c.suites[column] == name]
            levels = ", ".join(str(v) for v in sorted(set(part["nist_level"])))
            rows.append([name, kind, str(part[family].iloc[0]), levels, part["suite"].nunique()])
    frame = pd.DataFrame(rows, columns=["Algorithm", "Type", "Family", "Levels", "Suites"])
    return Table("registry", "Algorithms measured, [pqcmav-paper] Table I", frame, c.origin(), c.sources)


def _steady(c: ReportInput) -> Block:
    wanted = {
        "cpu_mean_percent": "CPU average (%)",
        "cpu_peak_percent": "CPU peak (%)",
        "temperature_mean_c": "SoC temperature (°C)",
        "power_mean_w": "Power average (W)",
        "power_peak_w": "Power peak (W)",
        "received_packets": "Packets received",
        "rtt_p50_ms": "RTT median (ms)",
        "loss_percent": "Packet loss (%)",
    }
    present = {k: v for k, v in wanted.items() if has(c.baseline, k)}
    if not present:
        return without(c, "steady-state figures", "no collector reported any")
    families = [f for f in FAMILIES if f in set(c.baseline["kem_family"])]
    body = [
        [label, *(float(c.baseline.loc[c.baseline["kem_family"] == f, k].mean()) for f in families)]
        for k, label in present.items()
    ]
    cpu = per_group(c, c.baseline, "kem_family", "cpu_mean_percent", families)
    note = "" if c.power_is_measured or "power_mean_w" not in present else " Power is modelled, not measured."
    explanation = Explanation(
        f"Mean over the suites of each family while traffic flows.{note}",
        "After the handshake all suites do the same work: seal and open packets.",
        [sentences.extremes(cpu, "median of the average CPU", "%", "lowest", "highest")],
    )
    return Table(
        "steady",
        "Steady state by KEM family, [pqcmav-paper] Table X",
        pd.DataFrame(body, columns=["Metric", *families]),
        c.origin(),
        c.sources,
        explanation,
    )


def _regression(c: ReportInput) -> list[Block]:
    rows = known(c).dropna(subset=["public_key_bytes", "signature_bytes"])
    try:
        fit = regression.fit(rows["handshake_ms"], rows["public_key_bytes"], rows["signature_bytes"])
    except ValueError as error:
        return [
            without(
                c,
                "regression of handshake on sizes",
                str(error),
                "The published equation is log10 T = -1.42 + 0.87 log10 pk + 0.31 log10 sig.",
            )
        ]
    predicted = [fit.predict(r.public_key_bytes, r.signature_bytes) for r in rows.itertuples()]
    data = rows.assign(predicted=predicted)
    groups = []
    for family in (f for f in FAMILIES if f in set(rows["kem_family"])):
        part = data[data["kem_family"] == family]
        tips = [
            f"{r.suite}: measured {duration(r.handshake_ms)}, fitted {duration(r.predicted)}" for r in part.itertuples()
        ]
        groups.append(
            points.Points(
                family,
                part["predicted"].tolist(),
                part["handshake_ms"].tolist(),
                tips,
                palette.family(family),
                palette.FAMILY_MARKER[family],
            )
        )
    off = [
        abs(math.log10(regression.PUBLISHED.predict(r.public_key_bytes, r.signature_bytes) / r.handshake_ms))
        for r in rows.itertuples()
    ]
    median_off = 10 ** float(pd.Series(off).median())
    explanation = Explanation(
        "A least-squares fit of the handshake on public-key and signature size in logarithms ([pqcmav-paper] Eq. 5), "
        "drawn as fitted against measured.",
        "On the dashed line the fit is exact; distance from it is what the sizes do not explain.",
        [
            f"log10 T = {fit.intercept:.2f} {'+' if fit.slopes[0] >= 0 else '-'} {abs(fit.slopes[0]):.2f} log10 "
            f"pk {'+' if fit.slopes[1] >= 0 else '-'} {abs(fit.slopes[1]):.2f} log10 sig, "
            f"R² = {fit.r_squared:.2f} over {fit.n} suites (T in ms, sizes in bytes).",
            f"The published equation (R² = 0.96) misses the handshakes of this table by a factor of "
            f"{number(median_off, 2)} in the median"
            + ("; it misses the paper's own tables by factors of 7 to 110." if median_off > 2 else "."),
        ],
        ["Sizes stand in for the algorithm family; they do not cause the computation time."],
    )
    return [
        Chart(
            "regression",
            "Handshake against message sizes, [pqcmav-paper] Eq. 5",
            "Scatter plot of fitted and measured handshakes.",
            points.regression(groups, "Fitted handshake (ms)", "Measured handshake (ms)"),
            c.origin(),
            c.sources,
            None,
            explanation,
        )
    ]


def pqcmav_paper_tables(c: ReportInput) -> Section:
    """The paper's ten tables and the regression."""
    title = "Tables of the PQC-MAV paper and the log-log regression"
    phi = [
        [r.suite, r.handshake_ms, *(rekey.phi_percent(float(r.handshake_ms), x) for x in rekey.PUBLISHED_INTERVALS_S)]
        for r in rank(known(c), "handshake_ms").itertuples()
    ]
    pearson, spearman = tier.correlations(known(c))
    tiers = tier.with_tier(known(c))[["suite", "tier", "handshake_ms"]].sort_values(["tier", "handshake_ms"])
    blocks: list[Block] = [
        _registry(c),
        published_table("registry-published", "Registry, published, [pqcmav-paper] Table I", "rpi5_registry_paper"),
        published_table("cascade", "Policy cascade, published, [pqcmav-paper] Table II", "rpi5_policy_cascade"),
        see("environment", "The testbed of this campaign ([pqcmav-paper] Table III)", "Environment"),
        published_table(
            "testbed-published", "Testbed, published, [pqcmav-paper] Table III", "rpi5_hardware_testbed_paper"
        ),
        *_isolated(c),
        see(
            "section-handshake-statistics",
            "This campaign's handshakes by level ([pqcmav-paper] Table VII)",
            "Handshake statistics by NIST level and KEM family",
        ),
        published_table(
            "levels-published",
            "Handshake by level, published, [pqcmav-paper] Table VII",
            "rpi5_handshake_by_level_paper",
        ),
        see(
            "section-pareto-frontier",
            "This campaign's fastest suites of each level ([pqcmav-paper] Table VIII)",
            "Pareto frontier",
        ),
        published_table(
            "fastest-published", "Pareto-optimal suites, published, [pqcmav-paper] Table VIII", "rpi5_pareto_paper"
        ),
        Table(
            "phi-all",
            "Rekey overhead of every suite, [pqcmav-paper] Table IX",
            pd.DataFrame(phi, columns=["Suite", "Handshake (ms)", "Φ(60 s) (%)", "Φ(300 s) (%)", "Φ(3600 s) (%)"]),
            c.origin(),
            c.sources,
            folded=True,
        ),
        published_table("phi-paper", "Rekey overhead, published, [pqcmav-paper] Table IX", "rpi5_rekey_overhead_paper"),
        _steady(c),
        published_table(
            "steady-published", "Steady state, published, [pqcmav-paper] Table X", "rpi5_steady_state_paper"
        ),
        *_regression(c),
    ]
    if len(tiers) > 1:
        explanation = Explanation(
            "The published tier function against the measured handshake.",
            "Several suites share a tier, because the signature is not part of the function.",
            [
                sentences.correlation(pearson, "tier and handshake", 0.94),
                sentences.correlation(spearman, "the ranks of tier and handshake"),
            ],
        )
        blocks.append(
            Table(
                "tiers",
                "Tier and handshake, [pqcmav-paper] Eq. 4",
                tiers.set_axis(["Suite", "Tier", "Handshake (ms)"], axis=1),
                c.origin(),
                c.sources,
                explanation,
                folded=True,
            )
        )
    return Section("pqcmav_paper_tables", title, blocks)


#: What a handshake times of a kind's leading operation: key of its rows, column, and its unit in ms.
_LEADING = {
    "kem": ("kem", "kem_keygen_ms", 1.0),
    "sig": ("sig", "sig_sign_ms", 1.0),
    "aead": ("aead", "seal_mean_us", 1e-3),
}


def _in_tunnel(c: ReportInput, kind: str, alone: Mapping[str, Estimate]) -> str:
    """For how many algorithms the leading operation surely takes longer in the tunnel than alone; "" where it is not
    the operation that handshakes time, or without intervals of both."""
    key, column, unit_ms = _LEADING[kind]
    operations = {"kem": "keygen", "sig": "sign", "aead": "encrypt"}
    if c.primitives is None or c.primitives.leading(kind) != operations[kind] or c.is_published:
        return ""
    found = per_member(c, with_values(c, column), key, column)
    both = [(alone[name], found[name]) for name in alone if name in found]
    both = [(one, other) for one, other in both if one.has_interval and other.has_interval]
    if not both:
        return ""
    longer = sum(one.high < other.low * unit_ms for one, other in both)
    shorter = sum(other.high * unit_ms < one.low for one, other in both)
    less = f", of {shorter} shorter" if shorter else ""
    return (
        f"In the tunnel the median {c.primitives.leading(kind)} of {longer} of these {len(both)} that have an interval "
        f"in both takes longer{less}, by the 95 % intervals."
    )


def _isolated(c: ReportInput) -> list[Block]:
    """Tables IV to VI: primitives alone."""
    blocks: list[Block] = []
    if c.primitives is None:
        blocks.append(
            without(
                c,
                "isolated primitive timings",
                "the primitive benchmark was not run with it",
                "The sections on KEMs, signatures and AEADs have the primitives as the handshakes timed them.",
            )
        )
    else:
        names = {
            "kem": "KEM operations alone, [pqcmav-paper] Table IV",
            "sig": "Signature operations alone, [pqcmav-paper] Table V",
        }
        names["aead"] = "AEAD operations alone, by payload, [pqcmav-paper] Table VI"
        for kind, title in names.items():
            frame = c.primitives.table(kind)
            if len(frame):
                first = c.primitives.leading_estimates(kind)
                explanation = Explanation(
                    "Median time of each operation, timed alone on this machine, with its 95 % confidence interval.",
                    f"Method: {c.primitives.method}.",
                    [
                        sentences.fastest_slowest(first, f"median {c.primitives.leading(kind)}"),
                        _in_tunnel(c, kind, first),
                    ],
                    ["Repeated in a loop, so warm: what the algorithm costs."],
                )
                blocks.append(Table(f"isolated-{kind}", title, frame, MEASURED, c.primitives.sources, explanation))
    return [
        *blocks,
        published_table("kem-paper", "KEM operations, published, [pqcmav-paper] Table IV", "rpi5_kem_primitives_paper"),
        published_table(
            "sig-paper", "Signature operations, published, [pqcmav-paper] Table V", "rpi5_sig_primitives_paper"
        ),
        published_table(
            "aead-paper", "AEAD operations, published, [pqcmav-paper] Table VI", "rpi5_aead_primitives_paper"
        ),
    ]
