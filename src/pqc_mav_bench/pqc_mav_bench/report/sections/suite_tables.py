# SPDX-License-Identifier: Apache-2.0
"""The nine tables of [rpi4-analysis], made from the campaign, and as published."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pqc_mav_bench.analysis import complexity, energy, recommend, reliability
from pqc_mav_bench.analysis.change import delta_percent
from pqc_mav_bench.analysis.detector_effect import effects
from pqc_mav_bench.analysis.intervals import RANKED_FROM
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import LEVELS, SCENARIO_NAMES, has, rank, scenario, wide
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Explanation, Section, Table
from pqc_mav_bench.report.estimates import per_suite
from pqc_mav_bench.report.numbers import MISSING, count, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import with_values, without
from pqc_mav_bench.report.sections.handshakes import known
from pqc_mav_bench.report.sections.published_tables import published_table

_TITLES = {
    "handshake_ms": "Handshake (ms)",
    "throughput_mbps": "Throughput (Mb/s)",
    "loss_percent": "Loss (%)",
    "power_mean_w": "Power (W)",
    "cpu_peak_percent": "Peak CPU (%)",
    "cpu_mean_percent": "Average CPU (%)",
    "tunnel_rss_mib": "RSS (MiB)",
    "energy_j": "Energy (J)",
    "rtt_mean_ms": "RTT mean (ms)",
    "rtt_p50_ms": "RTT p50 (ms)",
    "rtt_p95_ms": "RTT p95 (ms)",
    "rtt_max_ms": "RTT max (ms)",
    "kem_keygen_ms": "Keygen (ms)",
    "kem_encaps_ms": "Encaps (ms)",
    "kem_decaps_ms": "Decaps (ms)",
    "sig_sign_ms": "Sign (ms)",
    "sig_verify_ms": "Verify (ms)",
    "primitives_ms": "Primitives (ms)",
    "rekey_ms": "Rekey window (ms)",
    "rekeys_ok": "Rekeys OK",
    "rekeys_failed": "Rekeys failed",
    "sent_packets": "Packets sent",
    "received_packets": "Packets received",
    "goodput_mbps": "Goodput (Mb/s)",
    "goodput_percent": "Goodput ratio (%)",
    "suite": "Suite",
    "scenario": "Scenario",
    "nist_level": "Level",
    "kem_family": "KEM family",
    "temperature_mean_c": "Temperature (°C)",
    "public_key_bytes": "Public key (B)",
    "ciphertext_bytes": "Ciphertext (B)",
    "signature_bytes": "Signature (B)",
    "handshake_bytes": "Handshake data (B)",
}


def titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of the analysis under the headings of the report; scenarios by their names."""
    shown = (
        frame.assign(scenario=frame["scenario"].map(lambda s: SCENARIO_NAMES.get(s, s)))
        if "scenario" in frame
        else frame
    )
    return shown.rename(columns=_TITLES)


def suite_table(c: ReportInput, key: str, title: str, columns: Sequence[str], name: str | None = None) -> Block:
    """One row per suite of one scenario with the columns that have values; a sentence when none has."""
    rows = scenario(c.suites, name) if name else with_values(c, columns[0])
    present = [column for column in columns if has(rows, column)]
    if not present:
        return without(c, f"values for '{title}'", "no collector reported them")
    return Table(key, title, titled(rows[["suite", *present]]), c.origin(name in c.emulated), c.sources, folded=True)


def _posture(c: ReportInput) -> Block:
    rows = []
    base = summarise(scenario(c.suites, c.main_scenario)["throughput_mbps"]).mean
    for name in c.scenarios:
        part = scenario(c.suites, name)
        mean = summarise(part["throughput_mbps"]).mean
        rows.append(
            [
                SCENARIO_NAMES.get(name, name),
                mean,
                part["loss_percent"].median(),
                part["power_mean_w"].max(),
                part["cpu_peak_percent"].mean(),
                delta_percent(mean, base),
            ]
        )
    frame = pd.DataFrame(
        rows,
        columns=[
            "Scenario",
            "Mean throughput (Mb/s)",
            "Median loss (%)",
            "Peak power (W)",
            "Mean of peak CPU (%)",
            "Throughput against first (%)",
        ],
    )
    lines = [
        sentences.printed_change(float(frame.iloc[i, 1]), base, f"Mean throughput under {frame.iloc[i, 0]}", "Mb/s")
        for i in range(1, len(frame))
    ]
    if not c.is_published:
        found = effects(c.suites, column="throughput_mbps")
        lines = [sentences.compared(x, "Throughput", SCENARIO_NAMES.get(x.scenario, x.scenario)) for x in found]
    explanation = Explanation(
        "The scenarios in one line each.",
        "Peak power and CPU are over the suites' means and peaks, as in the document.",
        lines,
    )
    return Table("posture", "Posture summary, [rpi4-analysis] Table 1", frame, c.origin(True), c.sources, explanation)


def _levels(c: ReportInput) -> Block:
    rows = []
    for level in LEVELS:
        part = c.baseline[c.baseline["nist_level"] == level]
        if len(part):
            cells: list[object] = [f"Level {level}", len(part)]
            for column in ("throughput_mbps", "power_mean_w", "handshake_ms"):
                s = summarise(part[column])
                cells += [s.minimum, s.maximum, s.mean]
            rows.append(cells)
    names = [f"{what} {how}" for what in ("Mb/s", "W", "ms") for how in ("min", "max", "avg")]
    frame = pd.DataFrame(rows, columns=["Level", "Suites", *names]).dropna(axis=1, how="all")
    explanation = Explanation(
        "Minimum, maximum and mean of throughput, power and handshake per level, by parameter set.",
        "The document's own table uses wrong level labels for some suites, so its rows are not comparable level "
        "by level.",
        [],
    )
    return Table(
        "level-aggregate", "Level aggregate, [rpi4-analysis] Table 2", frame, c.origin(), c.sources, explanation
    )


#: Said where a table shows the ends of a column that was measured once a run.
NO_RANKING = (
    "A run gives one figure of it, and the same suite's next run another: nothing here says that the first suite needs "
    "less than the last."
)


def _unranked(c: ReportInput, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without ranks, unless they are the documents' own: one figure a run has no interval."""
    return rows if c.is_published else rows.assign(rank=MISSING)


def _energy(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    ranked = energy.per_bit_ranking(rows)
    if not len(ranked):
        return without(c, "energy per bit", "it needs power and throughput of the same run")
    frame = ranked[["rank", "suite", "energy_per_bit_nj", "power_mean_w", "throughput_mbps", "energy_j"]]
    ends = _unranked(c, pd.concat([frame.head(5), frame.tail(5)]).drop_duplicates("suite"))
    origin = "modelled, not measured by a sensor" if not c.power_is_measured else c.origin()
    explanation = Explanation(
        "Energy of the drone's computer per bit carried: the five best and the five worst suites.",
        "It is whole-machine power over throughput; when every suite carries the same traffic it only restates "
        "the power.",
        [
            sentences.extremes(per_suite(c, frame, "energy_per_bit_nj"), "energy per bit", "nJ")
            if c.is_published
            else NO_RANKING
        ],
    )
    headings = ["Rank", "Suite", "Energy per bit (nJ)", "Power (W)", "Throughput (Mb/s)", "Energy (J)"]
    return Table(
        "energy-bit",
        "Energy per bit, top 5 and bottom 5, [rpi4-analysis] Table 4",
        ends.set_axis(headings, axis=1),
        origin,
        c.sources,
        explanation,
    )


def _resources(c: ReportInput) -> Block:
    key = "power_mean_w" if has(c.baseline, "power_mean_w") else "cpu_peak_percent"
    if not has(c.baseline, key):
        return without(c, "resource use", "no collector reported CPU or power")
    ranked = rank(c.baseline, key, ascending=False)
    ends = _unranked(c, pd.concat([ranked.head(10), ranked.tail(10)]).drop_duplicates("suite"))
    columns = [
        k
        for k in ("cpu_mean_percent", "cpu_peak_percent", "tunnel_rss_mib", "power_mean_w", "energy_j")
        if has(ends, k)
    ]
    return Table(
        "resources",
        f"Resource use, top and bottom ten by {_TITLES[key].split(' (')[0].lower()}, [rpi4-analysis] Table 5",
        titled(ends[["rank", "suite", *columns]].rename(columns={"rank": "Rank"})),
        c.origin(),
        c.sources,
        folded=True,
    )


def _loss(c: ReportInput) -> Block:
    grid = wide(c.suites, "loss_percent")
    if grid.empty or not grid.notna().any().any():
        return without(c, "loss figures", "no workload counted its packets")
    scored = reliability.loss_ranking(grid)
    totals = c.runs[c.runs["passed"]].groupby("suite")[["sent_packets", "received_packets"]].sum()
    intervals = {
        s: reliability.wilson_percent(int(r.sent_packets - r.received_packets), int(r.sent_packets))
        for s, r in totals.iterrows()
        if r.sent_packets > 0
    }
    if not c.is_published:
        scored = _with_intervals(c, scored, grid)
    scored["Wilson 95 % low (%)"] = [intervals.get(s, (float("nan"),) * 2)[0] for s in scored.index]
    scored["Wilson 95 % high (%)"] = [intervals.get(s, (float("nan"),) * 2)[1] for s in scored.index]
    titles = {"suite": "Suite", "resilience": "Resilience score", "adaptive": "Adaptive"}
    losses = {n: f"Loss {SCENARIO_NAMES.get(n, n)} (%)" for n in grid.columns}
    frame = scored.reset_index().rename(columns=losses | titles)
    worst = float(grid.to_numpy().max())
    explanation = Explanation(
        "Loss per scenario, the resilience score 100 (1 - mean loss / largest mean loss), and the interval of "
        "the loss over all its packets.",
        "The score compares suites of this table only. Without any loss every suite scores 100. Adaptive: less "
        "loss with XGBoost than without."
        + (
            ""
            if c.is_published
            else " Scores whose intervals overlap are a tie, and a suite is adaptive, or not, only where the intervals "
            "of both losses are apart."
        ),
        ["No suite lost a packet in any scenario." if worst == 0 else sentences.loss(c.runs[c.runs["passed"]])],
    )
    return Table(
        "loss-table",
        "Loss and resilience, [rpi4-analysis] Table 6",
        frame,
        c.origin(True),
        c.sources,
        explanation,
        folded=len(frame) > 20,
    )


def _with_intervals(c: ReportInput, scored: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """The scores with their 95 % intervals, which are those of the losses on the scale of this table, and the adaptive
    flag only where two losses are told apart."""
    passed = c.runs[c.runs["passed"]].groupby(["scenario", "suite"])[["sent_packets", "received_packets"]].sum()
    found = {
        key: reliability.wilson_percent(int(r.sent_packets - r.received_packets), int(r.sent_packets))
        for key, r in passed.iterrows()
        if r.sent_packets > 0
    }
    worst = float(losses.mean(axis=1, skipna=False).max())

    def score(suite: str) -> str:
        ends = [found.get((name, suite)) for name in losses.columns]
        if not worst > 0 or any(each is None for each in ends):
            return MISSING
        low, high = (sum(each[i] for each in ends if each is not None) / len(ends) for i in (0, 1))
        least, most = (max(0.0, 100 * (1 - each / worst)) for each in (high, low))
        return f"{number(least)} to {number(most)}"

    def adaptive(suite: str) -> str:
        without, beside = (found.get((name, suite)) for name in ("baseline", "xgboost"))
        if without is None or beside is None or (without[0] <= beside[1] and beside[0] <= without[1]):
            return "not told apart"
        return "yes" if beside[1] < without[0] else "no"

    frame = scored.copy()
    frame.insert(list(frame.columns).index("resilience") + 1, "Score, 95 % interval", [score(s) for s in frame.index])
    if "adaptive" in frame:
        frame["adaptive"] = [adaptive(s) for s in frame.index]
    return frame


def _rekeys(c: ReportInput) -> Block:
    if not has(c.suites, "rekeys_ok"):
        return without(c, "rekey statistics", "no suite change was counted")
    good = c.runs.groupby("suite")[["rekeys_ok", "rekeys_failed"]].sum()
    windows = wide(c.suites, "rekey_ms")
    frame = windows.rename(columns={n: f"Window {SCENARIO_NAMES.get(n, n)} (ms)" for n in windows.columns})
    frame = frame.join(good).reset_index()
    frame["Success (%)"] = 100 * frame["rekeys_ok"] / (frame["rekeys_ok"] + frame["rekeys_failed"])
    failed, done = int(good["rekeys_failed"].sum()), int(good["rekeys_ok"].sum())
    explanation = Explanation(
        "Duration of the suite changes under traffic and how many succeeded.",
        "The window runs from the request to the switch; the old keys carry packets meanwhile.",
        [
            f"{count(done, 'rekey')} succeeded, {failed:,} failed."
            if failed
            else f"All {count(done, 'rekey')} succeeded."
        ],
        ["Published windows are 2 to 7 seconds, because that system restarts its proxies."],
    )
    return Table(
        "rekeys",
        "Rekey statistics, [rpi4-analysis] Table 7",
        titled(frame),
        c.origin(True),
        c.sources,
        explanation,
        folded=True,
    )


def _matrix(c: ReportInput) -> Table:
    rows = recommend.decision_matrix(c.baseline)
    columns = [
        k for k in ("handshake_ms", "throughput_mbps", "loss_percent", "rtt_p95_ms", "power_mean_w") if has(rows, k)
    ]
    frame = titled(rows[["suite", "kem_family", "nist_level", *columns]]).assign(
        **{"Verdict": rows["verdict"].replace("", MISSING), "Shortest rekey interval (s)": rows["rekey_interval_s"]}
    )
    counts = rows["verdict"].value_counts()
    told = ", ".join(f"{name}: {count(int(n), 'suite')}" for name, n in counts.items() if name)
    explanation = Explanation(
        "Every suite with its figures and a verdict.",
        f"time-critical control: handshake up to {recommend.TIME_CRITICAL_MS:.0f} ms; control: below "
        f"{recommend.REALTIME_MS:.0f} ms; telemetry: below {recommend.TELEMETRY_MS:.0f} ms; flight with care: within "
        f"the blackout limit of {recommend.BLACKOUT_LIMIT_MS / 1000:.0f} s; ground only: beyond; avoid: loss above "
        f"{recommend.LOSS_LIMIT_PERCENT:.0f} %. The interval is the shortest at which rekeying costs at most "
        f"{recommend.PHI_LIMIT_PERCENT} %, and at least {recommend.SHORTEST_INTERVAL_S:.0f} s."
        + (
            ""
            if c.is_published
            else " If the 95 % intervals of handshake or loss allow two verdicts, both are named; the rekey "
            f"interval is that of the upper end. Without {RANKED_FROM} handshakes a suite has neither."
        ),
        [f"{told}." if told else "No suite has the handshakes that a verdict takes."],
    )
    return Table(
        "decision", "Decision matrix of every suite, [rpi4-analysis] Table 8", frame, c.origin(), c.sources, explanation
    )


def _classes(c: ReportInput) -> Block:
    rows = complexity.classes(known(c))
    columns = [
        k for k in ("public_key_bytes", "ciphertext_bytes", "signature_bytes", "handshake_bytes") if has(rows, k)
    ]
    frame = titled(rows[["suite", "kem_family", "nist_level", *columns]]).assign(
        **({"Storage": rows["storage_class"]} if columns else {}),
        **{"Handshake (ms)": rows["handshake_ms"], "Complexity": rows["complexity_class"].replace("", MISSING)},
    )
    explanation = Explanation(
        "Bytes of each suite's handshake, and its complexity class.",
        f"Low: below {complexity.LOW_BELOW_MS:.0f} ms; High: from {complexity.HIGH_FROM_MS:.0f} ms. The documents "
        f"print classes without limits; these reproduce all their rows."
        + ("" if c.is_published else " If a 95 % interval allows two classes, both are named."),
        [f"{name}: {count(int(n), 'suite')}." for name, n in rows["complexity_class"].value_counts().items() if name],
    )
    return Table(
        "classes",
        "Storage and complexity class, [rpi4-analysis] Table 9",
        frame,
        c.origin(),
        c.sources,
        explanation,
        folded=True,
    )


def suite_tables(c: ReportInput) -> Section:
    """Nine tables."""
    title = (
        "Tables of the October 2025 analysis: posture, levels, primitives, energy, resources, loss, rekeys, "
        "decisions, classes"
    )
    operations = (
        "kem_keygen_ms",
        "kem_encaps_ms",
        "kem_decaps_ms",
        "sig_sign_ms",
        "sig_verify_ms",
        "primitives_ms",
        "handshake_ms",
    )
    pairs: list[tuple[Block, str, str]] = [
        (_posture(c), "Posture, published, [rpi4-analysis] Table 1", "rpi4_ddos_posture_summary"),
        (_levels(c), "Level aggregate, published, [rpi4-analysis] Table 2", "rpi4_nist_level_aggregate"),
        (
            suite_table(c, "primitives-suite", "Primitive breakdown, [rpi4-analysis] Table 3", operations),
            "Primitive breakdown, published, [rpi4-analysis] Table 3",
            "rpi4_primitive_breakdown_baseline",
        ),
        (_energy(c), "Energy per bit, published, [rpi4-analysis] Table 4", "rpi4_energy_per_bit_ranking"),
        (_resources(c), "Resource use, published, [rpi4-analysis] Table 5", "rpi4_resource_utilization_baseline"),
        (_loss(c), "Loss and resilience, published, [rpi4-analysis] Table 6", "rpi4_loss_resilience"),
        (_rekeys(c), "Rekey statistics, published, [rpi4-analysis] Table 7", "rpi4_rekey_statistics"),
        (_matrix(c), "Per-suite metrics, published, [rpi4-analysis] Table 8", "rpi4_suites_all_modes"),
        (_classes(c), "Complexity classes, published, [rpi4-analysis] Table 9", "rpi4_complexity_class"),
    ]
    blocks: list[Block] = []
    for i, (own, heading, name) in enumerate(pairs, 1):
        blocks += [own, published_table(f"load-{i}-published", heading, name)]
    return Section("suite_tables", title, blocks)
