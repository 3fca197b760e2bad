# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of the PQC-MAV paper [pqcmav-paper], made from the campaign, and as published."""

import math
from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis import regression, rekey, tier
from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.intervals import ends
from pqc_mav_bench.analysis.table import rank
from pqc_mav_bench.handshake_table import NUMBER
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import MEASURED, Block, Explanation, Notice, Section, Table, see
from pqc_mav_bench.report.charts import points, spread
from pqc_mav_bench.report.estimates import SAMPLES, has_samples, per_group, per_member
from pqc_mav_bench.report.numbers import duration, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections import diagrams
from pqc_mav_bench.report.sections.common import first_upper, kem_order, sig_order, with_values, without
from pqc_mav_bench.report.sections.figures import called, chart, families_in, family_points, table
from pqc_mav_bench.report.sections.published_tables import published
from pqc_mav_bench.report.sections.suite_tables import present


def _distribution(c: ReportInput, key: str, column: str, order: list[str], figure: str, what: str) -> Block:
    rows = c.passed.dropna(subset=[column])
    every = _every_time(c, rows, column)
    groups = []
    for name in order:
        part, drawn = rows[rows[key] == name], every[every[key] == name]
        if len(drawn):
            colour = (palette.family if key == "kem" else palette.sig_family)(str(part[f"{key}_family"].iloc[0]))
            label = name.replace("Classic-McEliece", "McEliece")
            groups.append(spread.Group(label, drawn["ms"].tolist(), drawn["name"].tolist(), colour))
    if not groups:
        return without(c, f"{what} times", "no handshake reported its primitives")
    # Of the main scenario: over several, the interval would be that of their mixture.
    medians = per_member(c, with_values(c, column), key, column)
    each = (
        f"Every {what} of the campaign's handshakes"
        if has_samples(c, column)
        else f"The {what} of each run, one figure a run"
    )
    where = f" in {called(c.main_scenario)}" if len(c.scenarios) > 1 else ""
    says = [sentences.fastest_slowest(medians, f"median {what}{where}")]
    read = (
        "Box: middle half; line: median; whiskers: 1.5 box heights; rings: single "
        f"{'handshakes' if has_samples(c, column) else 'runs'} beyond. The axis is logarithmic."
    )
    anchor = f"{column.replace('_', '-')}-distribution"
    drawing = spread.boxes([spread.Panel(groups, f"{first_upper(what)} (ms, log scale)", "ms", True)], 430, tilt=32)
    own = {"read": read, "what": what, "figure": figure, "each": each}
    return chart(c, anchor, drawing, says, of="distribution", across=True, **own)


def _every_time(c: ReportInput, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The single times of a column (`ms`), each with its algorithms and a `name`; one figure a run where a campaign
    keeps no single times."""
    if not has_samples(c, column):
        return rows.assign(ms=rows[column], name=rows["suite"])
    keys = ["scenario", "suite", "repetition"]
    single = c.single.dropna(subset=[SAMPLES[column]]).merge(rows[[*keys, "kem", "sig"]], on=keys)
    number_of = single[NUMBER].astype(int).astype(str)
    return single.assign(ms=single[SAMPLES[column]], name=single["suite"] + ", handshake " + number_of)


def _clusters(c: ReportInput) -> Block:
    """All suites in order of family and time: the paper's three clusters."""
    rows = rank(c.known, "handshake_ms")
    sizes = [int((rows["kem_family"] == family).sum()) for family in families_in(rows)]

    def place(i: int, part: pd.DataFrame) -> tuple[list[float], list[float]]:
        first = sum(sizes[:i]) + 2 * i
        return list(range(first, first + len(part))), part["handshake_ms"].tolist()

    says = [_stay_below(c.known[c.known["kem_family"] == "ML-KEM"], 20.0)]
    row = "Suites, sorted within each KEM family"
    drawing = points.dots(family_points(rows, place), "Handshake (ms, log scale)", row)
    return chart(c, "clusters", drawing, says)


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
        diagrams.diagram("paper-architecture"),
        diagrams.diagram("paper-handshake"),
        diagrams.diagram("paper-wire"),
        _distribution(c, "kem", "kem_keygen_ms", kem_order(rows), "[pqcmav-paper] Fig. 4", "key generation"),
        _distribution(c, "sig", "sig_sign_ms", sig_order(rows), "[pqcmav-paper] Fig. 5", "signing"),
        _clusters(c),
        Notice(
            "Power during single KEM operations ([pqcmav-paper] Fig. 7) needs a sensor that samples a thousand times a "
            f"second while one operation runs. {first_upper(c.name)} has "
            f"{'none' if not c.power_is_measured else 'mean power per run only'}, and "
            "the paper prints the figure without its numbers, so nothing can be drawn here. "
            "It states that ML-KEM operations are invisible in the power trace and that McEliece key generation "
            "sustains elevated power."
        ),
    ]
    return Section("pqcmav_paper_figures", title, blocks)


def _registry(c: ReportInput) -> Table:
    rows = []
    for kind, column, family, names in (
        ("KEM", "kem", "kem_family", kem_order(c.suites)),
        ("Signature", "sig", "sig_family", sig_order(c.suites)),
        ("AEAD", "aead", "aead", sorted(set(c.suites["aead"]))),
    ):
        for name in names:
            part = c.suites[c.suites[column] == name]
            levels = ", ".join(str(v) for v in sorted(set(part["nist_level"])))
            rows.append([name, kind, str(part[family].iloc[0]), levels, part["suite"].nunique()])
    frame = pd.DataFrame(rows, columns=["Algorithm", "Type", "Family", "Levels", "Suites"])
    return table(c, "registry", frame)


_STEADY = {
    "cpu_mean_percent": "CPU average (%)",
    "cpu_peak_percent": "CPU peak (%)",
    "temperature_mean_c": "SoC temperature (°C)",
    "power_mean_w": "Power average (W)",
    "power_peak_w": "Power peak (W)",
    "received_packets": "Packets received",
    "rtt_p50_ms": "RTT median (ms)",
    "loss_percent": "Packet loss (%)",
}


def _steady(c: ReportInput) -> Block:
    columns = present(c.baseline, *_STEADY)
    if not columns:
        return without(c, "steady-state figures", "no collector reported any")
    families = families_in(c.baseline)
    means = [c.baseline.loc[c.baseline["kem_family"] == f, columns].mean() for f in families]
    body = [[_STEADY[k], *(float(mean[k]) for mean in means)] for k in columns]
    cpu = per_group(c, c.baseline, "kem_family", "cpu_mean_percent", families)
    note = "" if c.power_is_measured or "power_mean_w" not in columns else " Power is modelled, not measured."
    says = [sentences.extremes(cpu, "median of the average CPU", "%", "lowest", "highest")]
    frame = pd.DataFrame(body, columns=["Metric", *families])
    return table(c, "steady", frame, says, note=note)


def _regression(c: ReportInput) -> Block:
    rows = c.known.dropna(subset=["public_key_bytes", "signature_bytes"])
    try:
        fit = regression.fit(rows["handshake_ms"], rows["public_key_bytes"], rows["signature_bytes"])
    except ValueError as error:
        said = "The published equation is log10 T = -1.42 + 0.87 log10 pk + 0.31 log10 sig."
        return without(c, "regression of handshake on sizes", str(error), said)
    sizes = list(zip(rows["public_key_bytes"], rows["signature_bytes"], strict=True))
    groups = family_points(
        rows.assign(predicted=[fit.predict(*each) for each in sizes]),
        lambda _, part: (part["predicted"].tolist(), part["handshake_ms"].tolist()),
        lambda r: f"{r.suite}: measured {duration(r.handshake_ms)}, fitted {duration(r.predicted)}",
    )
    published_ms = [regression.PUBLISHED.predict(*each) for each in sizes]
    off = [abs(math.log10(said / own)) for said, own in zip(published_ms, rows["handshake_ms"], strict=True)]
    median_off = 10 ** float(pd.Series(off).median())
    signs = ["+" if slope >= 0 else "-" for slope in fit.slopes]
    says = [
        f"log10 T = {fit.intercept:.2f} {signs[0]} {abs(fit.slopes[0]):.2f} log10 "
        f"pk {signs[1]} {abs(fit.slopes[1]):.2f} log10 sig, "
        f"R² = {fit.r_squared:.2f} over {fit.n} suites (T in ms, sizes in bytes).",
        f"The published equation (R² = 0.96) misses the handshakes of this table by a factor of "
        f"{number(median_off, 2)} in the median"
        + ("; it misses the paper's own tables by factors of 7 to 110." if median_off > 2 else "."),
    ]
    drawing = points.regression(groups, "Fitted handshake (ms)", "Measured handshake (ms)")
    return chart(c, "regression", drawing, says)


def _phi(c: ReportInput) -> Table:
    rows = [
        [r.suite, r.handshake_ms, *(rekey.phi_percent(float(r.handshake_ms), x) for x in rekey.PUBLISHED_INTERVALS_S)]
        for r in rank(c.known, "handshake_ms").itertuples()
    ]
    frame = pd.DataFrame(rows, columns=["Suite", "Handshake (ms)", "Φ(60 s) (%)", "Φ(300 s) (%)", "Φ(3600 s) (%)"])
    return table(c, "phi-all", frame, folded=True)


def _tiers(c: ReportInput) -> list[Block]:
    pearson, spearman = tier.correlations(c.known)
    tiers = tier.with_tier(c.known)[["suite", "tier", "handshake_ms"]].sort_values(["tier", "handshake_ms"])
    if len(tiers) < 2:
        return []
    says = [
        sentences.correlation(pearson, "tier and handshake", 0.94),
        sentences.correlation(spearman, "the ranks of tier and handshake"),
    ]
    frame = tiers.set_axis(["Suite", "Tier", "Handshake (ms)"], axis=1)
    return [table(c, "tiers", frame, says, folded=True)]


def pqcmav_paper_tables(c: ReportInput) -> Section:
    """The paper's ten tables and the regression."""
    statistics = "Handshake statistics by NIST level and KEM family"
    blocks: list[Block] = [
        _registry(c),
        published("registry-published"),
        published("cascade"),
        see("environment", "The testbed of this campaign ([pqcmav-paper] Table III)", "Environment"),
        published("testbed-published"),
        *_isolated(c),
        see(
            "section-handshake-statistics",
            "This campaign's handshakes by level ([pqcmav-paper] Table VII)",
            statistics,
        ),
        published("levels-published"),
        see(
            "section-pareto-frontier",
            "This campaign's fastest suites of each level ([pqcmav-paper] Table VIII)",
            "Pareto frontier",
        ),
        published("fastest-published"),
        _phi(c),
        published("phi-paper"),
        _steady(c),
        published("steady-published"),
        _regression(c),
        *_tiers(c),
    ]
    return Section("pqcmav_paper_tables", "Tables of the PQC-MAV paper and the log-log regression", blocks)


#: A kind's table, and its leading operation in handshakes: name, column, and its unit in ms.
_ALONE = {
    "kem": ("KEM operations alone, [pqcmav-paper] Table IV", "keygen", "kem_keygen_ms", 1.0),
    "sig": ("Signature operations alone, [pqcmav-paper] Table V", "sign", "sig_sign_ms", 1.0),
    "aead": ("AEAD operations alone, by payload, [pqcmav-paper] Table VI", "encrypt", "seal_mean_us", 1e-3),
}


def _in_tunnel(c: ReportInput, kind: str, alone: Mapping[str, Estimate]) -> str:
    """For how many algorithms the leading operation surely takes longer in the tunnel than alone; "" where it is not
    the operation that handshakes time, or without intervals of both."""
    _, operation, column, unit_ms = _ALONE[kind]
    if c.primitives is None or c.primitives.leading(kind) != operation or c.is_published:
        return ""
    found = per_member(c, with_values(c, column), kind, column)
    both = [(alone[name], found[name]) for name in alone if name in found]
    both = [(one, other) for one, other in both if one.has_interval and other.has_interval]
    if not both:
        return ""
    longer = sum(one.high < other.low * unit_ms for one, other in both)
    shorter = sum(other.high * unit_ms < one.low for one, other in both)
    less = f", of {shorter} shorter" if shorter else ""
    return (
        f"In the tunnel the median {operation} of {longer} of these {len(both)} that have an interval "
        f"in both takes longer{less}, by the 95 % intervals."
    )


def _isolated(c: ReportInput) -> list[Block]:
    """Tables IV to VI: primitives alone."""
    blocks: list[Block] = []
    if c.primitives is None:
        reason = "the primitive benchmark was not run with it"
        instead = "The sections on KEMs, signatures and AEADs have the primitives as the handshakes timed them."
        blocks.append(without(c, "isolated primitive timings", reason, instead))
    else:
        for kind, (title, *_) in _ALONE.items():
            frame, first = c.primitives.table(kind), c.primitives.leading_estimates(kind)
            fastest = sentences.fastest_slowest(first, f"median {c.primitives.leading(kind)}")
            explanation = Explanation(
                "Median time of each operation, timed alone on this machine, with its 95 % confidence interval.",
                f"Method: {c.primitives.method}.",
                [fastest, _in_tunnel(c, kind, first)],
                ["Repeated in a loop, so warm: what the algorithm costs."],
            )
            if len(frame):
                blocks.append(Table(f"isolated-{kind}", title, frame, MEASURED, c.primitives.sources, explanation))
    return [*blocks, published("kem-paper"), published("sig-paper"), published("aead-paper")]
