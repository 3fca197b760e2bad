# SPDX-License-Identifier: Apache-2.0
"""The nine tables of [rpi4-analysis], made from the campaign, and as published."""

from collections.abc import Sequence

import pandas as pd

from pqc_mav_bench.analysis import complexity, energy, recommend, reliability
from pqc_mav_bench.analysis.change import delta_percent
from pqc_mav_bench.analysis.detector_effect import effects
from pqc_mav_bench.analysis.intervals import NEEDED
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import QUANTITIES, has, rank, scenario, wide
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import MODELLED, Block, Section
from pqc_mav_bench.report.estimates import per_suite
from pqc_mav_bench.report.numbers import MISSING, count, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import levels_of, with_values, without
from pqc_mav_bench.report.sections.figures import called, groups_table, table
from pqc_mav_bench.report.sections.published_tables import published

_TITLES = {name: each.heading for name, each in QUANTITIES.items() if each.heading} | {
    "suite": "Suite",
    "scenario": "Scenario",
    "nist_level": "Level",
    "kem_family": "KEM family",
}


def titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of the analysis under the headings of the report; scenarios by their names."""
    shown = frame.assign(scenario=frame["scenario"].map(called)) if "scenario" in frame else frame
    return shown.rename(columns=_TITLES)


def present(rows: pd.DataFrame, *columns: str) -> list[str]:
    """Those of some columns that have values."""
    return [column for column in columns if has(rows, column)]


def suite_table(c: ReportInput, key: str, title: str, columns: Sequence[str], name: str | None = None) -> Block:
    """One row per suite of one scenario with the columns that have values; a sentence when none has."""
    rows = scenario(c.suites, name) if name else with_values(c, columns[0])
    if not (shown := present(rows, *columns)):
        return without(c, f"values for '{title}'", "no collector reported them")
    return table(c, key, titled(rows[["suite", *shown]]), title=title, across=name in c.emulated, folded=True)


def _posture(c: ReportInput) -> Block:
    parts = {called(name): scenario(c.suites, name) for name in c.scenarios}
    means = {name: summarise(rows["throughput_mbps"]).mean for name, rows in parts.items()}
    base = next(iter(means.values()))
    frame = pd.DataFrame(
        {
            "Scenario": list(parts),
            "Mean throughput (Mb/s)": list(means.values()),
            "Median loss (%)": [rows["loss_percent"].median() for rows in parts.values()],
            "Peak power (W)": [rows["power_mean_w"].max() for rows in parts.values()],
            "Mean of peak CPU (%)": [rows["cpu_peak_percent"].mean() for rows in parts.values()],
            "Throughput against first (%)": [delta_percent(mean, base) for mean in means.values()],
        }
    )
    others = list(means.items())[1:]
    lines = [sentences.printed_change(mean, base, f"Mean throughput under {name}", "Mb/s") for name, mean in others]
    if not c.is_published:
        found = effects(c.passed, column="throughput_mbps")
        lines = [sentences.compared(x, "Throughput", called(x.scenario)) for x in found]
    return table(c, "posture", frame, lines, across=True)


def _levels(c: ReportInput) -> Block:
    columns = {"throughput_mbps": "Mb/s {}", "power_mean_w": "W {}", "handshake_ms": "ms {}"}
    ends = {"min": "minimum", "max": "maximum", "avg": "mean"}
    frame = groups_table("Level", levels_of(c.baseline), columns, ends)
    return table(c, "level-aggregate", frame)


#: Said where a table shows the ends of a column that was measured once a run.
NO_RANKING = (
    "A run gives one figure of it, and the same suite's next run another: nothing here says that the first suite needs "
    "less than the last."
)


def _ends(c: ReportInput, ranked: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first and last rows; without ranks unless they are the documents' own: one figure a run has no interval."""
    rows = pd.concat([ranked.head(n), ranked.tail(n)]).drop_duplicates("suite")
    return rows if c.is_published else rows.assign(rank=MISSING)


def _energy(c: ReportInput) -> Block:
    ranked = energy.per_bit_ranking(with_values(c, "power_mean_w"))
    if not len(ranked):
        return without(c, "energy per bit", "it needs power and throughput of the same run")
    frame = ranked[["rank", "suite", "energy_per_bit_nj", "power_mean_w", "throughput_mbps", "energy_j"]]
    printed = sentences.extremes(per_suite(c, frame, "energy_per_bit_nj"), "energy per bit", "nJ")
    headings = ["Rank", "Suite", "Energy per bit (nJ)", "Power (W)", "Throughput (Mb/s)", "Energy (J)"]
    origin = c.origin() if c.power_is_measured else MODELLED
    return table(
        c,
        "energy-bit",
        _ends(c, frame, 5).set_axis(headings, axis=1),
        [printed if c.is_published else NO_RANKING],
        origin=origin,
    )


def _resources(c: ReportInput) -> Block:
    key = "power_mean_w" if has(c.baseline, "power_mean_w") else "cpu_peak_percent"
    if not has(c.baseline, key):
        return without(c, "resource use", "no collector reported CPU or power")
    ends = _ends(c, rank(c.baseline, key, ascending=False), 10).rename(columns={"rank": "Rank"})
    columns = present(ends, "cpu_mean_percent", "cpu_peak_percent", "tunnel_rss_mib", "power_mean_w", "energy_j")
    by = _TITLES[key].split(" (")[0].lower()
    return table(c, "resources", titled(ends[["Rank", "suite", *columns]]), folded=True, by=by)


def _lost_intervals(c: ReportInput, *keys: str) -> dict[object, tuple[float, float]]:
    """The interval of the share of packets lost [%] of each group of runs that sent any."""
    sums = c.passed.groupby(list(keys) if len(keys) > 1 else keys[0])[_PACKETS].sum()
    return {
        key: reliability.wilson_percent(int(r.sent_packets - r.received_packets), int(r.sent_packets))
        for key, r in sums.iterrows()
        if r.sent_packets > 0
    }


_PACKETS = ["sent_packets", "received_packets"]


def _loss(c: ReportInput) -> Block:
    grid = wide(c.suites, "loss_percent")
    if grid.empty or not grid.notna().any().any():
        return without(c, "loss figures", "no workload counted its packets")
    scored = reliability.loss_ranking(grid)
    found = _lost_intervals(c, "suite")
    if not c.is_published:
        scored = _with_intervals(c, scored, grid)
    for i, end in enumerate(("low", "high")):
        scored[f"Wilson 95 % {end} (%)"] = [found.get(s, (float("nan"),) * 2)[i] for s in scored.index]
    titles = {"suite": "Suite", "resilience": "Resilience score", "adaptive": "Adaptive"}
    frame = scored.reset_index().rename(columns={n: f"Loss {called(n)} (%)" for n in grid.columns} | titles)
    ties = (
        " Scores whose intervals overlap are a tie, and a suite is adaptive, or not, only where the intervals of both "
        "losses are apart."
    )
    none = "No suite lost a packet in any scenario."
    says = [none if float(grid.to_numpy().max()) == 0 else sentences.loss(c.passed)]
    read = (
        "The score compares suites of this table only. Without any loss every suite scores 100. Adaptive: less "
        f"loss with XGBoost than without.{'' if c.is_published else ties}"
    )
    long = len(frame) > 20
    return table(c, "loss-table", frame, says, read=read, across=True, folded=long)


def _with_intervals(c: ReportInput, scored: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """The scores with their 95 % intervals, which are those of the losses on the scale of this table, and the adaptive
    flag only where two losses are told apart."""
    found = _lost_intervals(c, "scenario", "suite")
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
    frame = windows.rename(columns={n: f"Window {called(n)} (ms)" for n in windows.columns}).join(good).reset_index()
    frame["Success (%)"] = 100 * frame["rekeys_ok"] / (frame["rekeys_ok"] + frame["rekeys_failed"])
    failed, done = int(good["rekeys_failed"].sum()), count(int(good["rekeys_ok"].sum()), "rekey")
    says = [f"{done} succeeded, {failed:,} failed." if failed else f"All {done} succeeded."]
    return table(c, "rekeys", titled(frame), says, across=True, folded=True)


def _matrix(c: ReportInput) -> Block:
    rows = recommend.decision_matrix(c.baseline)
    columns = present(rows, "handshake_ms", "throughput_mbps", "loss_percent", "rtt_p95_ms", "power_mean_w")
    frame = titled(rows[["suite", "kem_family", "nist_level", *columns]]).assign(
        **{"Verdict": rows["verdict"].replace("", MISSING), "Shortest rekey interval (s)": rows["rekey_interval_s"]}
    )
    told = ", ".join(f"{name}: {count(int(n), 'suite')}" for name, n in rows["verdict"].value_counts().items() if name)
    two = (
        " If the 95 % intervals of handshake or loss allow two verdicts, both are named; the rekey interval is that of "
        f"the upper end. Both take {NEEDED}."
    )
    says = [f"{told}." if told else f"No suite has a verdict: that takes {NEEDED}."]
    read = (
        f"time-critical control: handshake up to {recommend.TIME_CRITICAL_MS:.0f} ms; control: below "
        f"{recommend.REALTIME_MS:.0f} ms; telemetry: below {recommend.TELEMETRY_MS:.0f} ms; flight with care: within "
        f"the blackout limit of {recommend.BLACKOUT_LIMIT_MS / 1000:.0f} s; ground only: beyond; avoid: loss above "
        f"{recommend.LOSS_LIMIT_PERCENT:.0f} %. The interval is the shortest at which rekeying costs at most "
        f"{recommend.PHI_LIMIT_PERCENT} %, and at least {recommend.SHORTEST_INTERVAL_S:.0f} s."
        f"{'' if c.is_published else two}"
    )
    return table(c, "decision", frame, says, read=read)


def _classes(c: ReportInput) -> Block:
    rows = complexity.classes(c.known)
    columns = present(rows, "public_key_bytes", "ciphertext_bytes", "signature_bytes", "handshake_bytes")
    frame = titled(rows[["suite", "kem_family", "nist_level", *columns]]).assign(
        **({"Storage": rows["storage_class"]} if columns else {}),
        **{"Handshake (ms)": rows["handshake_ms"], "Complexity": rows["complexity_class"].replace("", MISSING)},
    )
    says = [f"{name}: {count(int(n), 'suite')}." for name, n in rows["complexity_class"].value_counts().items() if name]
    read = (
        f"Low: below {complexity.LOW_BELOW_MS:.0f} ms; High: from {complexity.HIGH_FROM_MS:.0f} ms. The documents "
        f"print classes without limits; these reproduce all their rows."
        f"{'' if c.is_published else ' If a 95 % interval allows two classes, both are named.'}"
    )
    return table(c, "classes", frame, says, read=read, folded=True)


_OPERATIONS = "kem_keygen_ms kem_encaps_ms kem_decaps_ms sig_sign_ms sig_verify_ms primitives_ms handshake_ms"


def suite_tables(c: ReportInput) -> Section:
    """Nine tables."""
    title = (
        "Tables of the October 2025 analysis: posture, levels, primitives, energy, resources, loss, rekeys, "
        "decisions, classes"
    )
    primitives = "Primitive breakdown, [rpi4-analysis] Table 3"
    own = (
        _posture(c),
        _levels(c),
        suite_table(c, "primitives-suite", primitives, _OPERATIONS.split()),
        _energy(c),
        _resources(c),
        _loss(c),
        _rekeys(c),
        _matrix(c),
        _classes(c),
    )
    pairs = [(block, published(f"load-{i}-published")) for i, block in enumerate(own, 1)]
    return Section("suite_tables", title, [block for pair in pairs for block in pair])
