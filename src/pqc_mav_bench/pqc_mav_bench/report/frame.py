# SPDX-License-Identifier: Apache-2.0
"""The texts around the sections: summary, methods, environment, limitations, provenance, all from the campaign's own
rows."""

import math
from collections.abc import Sequence

import pandas as pd

from pqc_mav_bench.analysis.estimate import of_suites
from pqc_mav_bench.analysis.intervals import NEEDED, OWN, SIGNIFICANCE
from pqc_mav_bench.analysis.table import SCENARIOS, has, ordered, rank
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Chart, Section, Source, Table
from pqc_mav_bench.report.departures import departures_sentence
from pqc_mav_bench.report.estimates import over_pairs
from pqc_mav_bench.report.numbers import MISSING, count, listed, number
from pqc_mav_bench.report.repeated import irregular_sentence
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import family_finding, with_interval
from pqc_mav_bench.report.sections.figures import called

#: Facts about the machines: what readers call them, and the field of the run context.
_FACTS = (
    ("Processor", "cpu_model"),
    ("Logical processors", "cpu_count"),
    ("Memory (MiB)", "ram_mib"),
    ("Architecture", "machine"),
    ("Operating system", "os"),
    ("Kernel", "kernel"),
    ("Python", "python_version"),
    ("Tunnel engine", "engine_version"),
    ("liboqs", "liboqs_version"),
    ("OpenSSL", "openssl_version"),
)


#: Load of the whole machine above which single times are not the tunnel's alone [%].
_BUSY_PERCENT = 60.0


def _distinct(c: ReportInput, column: str) -> str:
    if column not in c.raw.columns:
        return ""
    values = [v for v in c.raw[column].dropna().unique() if str(v)]
    return ", ".join(f"{int(v):,}" if isinstance(v, float) and v.is_integer() else str(v) for v in values)


def environment(c: ReportInput) -> list[tuple[str, str]]:
    """(name, value) of what the runs say about the machines; never their host names."""
    if c.is_published:
        return [
            (
                "Machine",
                "Raspberry Pi 4 Model B, 4 GB, liboqs 0.10 ([rpi4-analysis] to [rpi4-results]); not measured here",
            )
        ]
    facts = [("Machine", c.machine)] if c.machine else []
    facts.append(("Both ends", "one machine" if c.same_host else "two machines"))
    for name, field in _FACTS:
        drone, ground = _distinct(c, f"run_context.{field}"), _distinct(c, f"run_context.gcs_{field}")
        if drone or ground:
            same = drone == ground or not ground
            facts.append((name, drone if same else f"drone {drone or MISSING}; ground {ground or MISSING}"))
    for name, column in (
        ("Link between the ends", "run_context.link"),
        ("The drone's engine", "system_drone.tunnel_arrangement"),
        ("Frequency governor", "system_drone.governor"),
        ("Power figures from", "power_energy.power_source"),
        ("Workload", "workload.workload"),
        ("Scenario load", "workload.scenario_load"),
    ):
        facts.append((name, _distinct(c, column) or MISSING))
    return facts


def summary(c: ReportInput) -> list[str]:
    """The report in a few sentences; the first says what was measured."""
    passed = int(c.runs["passed"].sum())
    names = dict(zip(c.runs["suite_id"], c.runs["suite"], strict=True))
    lost = [names.get(item.suite, item.suite) for item, _ in c.lost]
    scenarios = ordered([*c.runs["scenario"], *(item.scenario for item, _ in c.lost)], SCENARIOS)
    first = (
        f"{count(len({*c.runs['suite'], *lost}), 'cipher suite')} in {count(len(scenarios), 'scenario')} "
        f"({listed([called(name) for name in scenarios])}): {count(len(c.runs) + len(lost), 'run')}, {passed:,} passed."
    )
    if c.is_published:
        first = "Published figures in the form of a campaign, not a measurement. " + first
    known = rank(c.baseline, "handshake_ms")
    lines = [first]
    if len(known):
        least, middle, most = (with_interval(of_suites(known, how)) for how in ("min", "median", "max"))
        lines.append(f"Handshakes take {least} to {most}, median {middle}.")
        lines.append(family_finding(known))
    lines.append(sentences.loss(c.passed))
    if has(c.baseline, "rekey_ms"):
        change = with_interval(over_pairs(c, c.baseline, "rekey_ms"))
        lines.append(f"A live suite change takes {change} in the median, from request to new keys.")
    if has(c.baseline, "rtt_p50_ms"):
        trip = with_interval(over_pairs(c, c.baseline, "rtt_p50_ms"))
        lines.append(f"The median round trip through the tunnel is {trip}.")
    failed = list(dict.fromkeys([*c.runs.loc[~c.runs["passed"], "suite"], *lost]))
    lines.append(f"Failed in at least one run: {listed(failed)}." if failed else "No run failed.")
    return [line for line in lines if line]


def methods(c: ReportInput) -> list[str]:
    """How the numbers came about."""
    if c.is_published:
        return [
            "Figures of [rpi4-analysis] and [rpi4-results] (October 2025), as printed; "
            "the data sheet in 'analysis/published/data' says which do not follow."
        ]
    data = c.raw["lifecycle.traffic_s"].median() if "lifecycle.traffic_s" in c.raw else math.nan
    wall = c.runs["wall_per_data"].median() if has(c.runs, "wall_per_data") else math.nan
    lines = [
        "The controller changes the suite of a running tunnel, lets traffic flow for the data time, collects "
        "both ends' counters and saves "
        "the run before the next begins; collectors are reset in between.",
        f"Data time per run: median {number(data)} s; wall time over data time: median {number(wall)}."
        if math.isfinite(data)
        else "",
        f"Repetitions per suite and scenario: up to {c.repetitions}. Figures per suite are medians over the "
        f"repetitions that passed.",
        "The handshake of a suite is the median over all runs of its KEM and signature, whatever their cipher, of each "
        "run's median, with the 95 % interval of that median: by order statistics from six runs on, below that from "
        "the scatter of the runs' logarithms, which makes it wide. Suites that differ in the cipher alone make the "
        "same handshake; one run does not tell how far runs differ. A suite is ranked or recommended with "
        f"{NEEDED} or more, and suites whose intervals overlap are a tie. A detector is "
        "compared pair by pair, by Wilcoxon's signed ranks; p is "
        f"corrected for all comparisons of its table (Holm), and below {SIGNIFICANCE} they are told apart.",
        "Percentiles interpolate linearly between the nearest values. Loss intervals are Wilson score intervals "
        "at 95 %.",
        "A value that was not measured is a dash and is left out of all statistics; it is never counted as zero.",
        "Handshake times are the drone's, from connecting to installed keys. Primitive times come from the same "
        "handshakes, each measured at the end that ran it.",
    ]
    return [line for line in lines if line]


def measured(c: ReportInput, campaigns: Sequence[ReportInput]) -> list[str]:
    """How it was measured, in three lines; every figure repeats the last of them."""
    if c.is_published:
        return []
    return [
        "How: the suite of a running tunnel is changed under traffic; then its keys are renewed in place. A time is "
        "the median, its 95 % interval is over runs, and suites whose intervals overlap are a tie.",
        *dict.fromkeys(source.about for each in campaigns for source in each.sources if source.about),
    ]


def _noise(c: ReportInput) -> str:
    """How far single handshakes scatter, judged by suites that differ only in the cipher, which the handshake hardly
    uses."""
    groups = c.known.groupby(["kem", "sig"])[OWN if OWN in c.known.columns else "handshake_ms"]
    ratios = [float(g.max() / g.min()) for _, g in groups if len(g) > 1 and g.min() > 0]
    if not ratios:
        return ""
    return (
        "Suites that differ only in the packet cipher do the same work in the handshake, yet the slowest of them takes "
        f"{number(float(pd.Series(ratios).median()), 2)} times as long as the fastest in the median: smaller "
        f"differences are noise."
    )


def _unfinished(c: ReportInput) -> str:
    """That runs of the plan are missing, where they are."""
    if c.pending == 0:
        return ""
    missing = "some runs" if c.pending is None else count(c.pending, "run")
    return (
        f"The campaign is not complete: {missing} of its plan {'is' if c.pending == 1 else 'are'} still to be measured."
    )


def _busy(c: ReportInput) -> str:
    """That the processors had much else to do, where they had."""
    load = c.runs["cpu_mean_percent"].median()
    if not load > _BUSY_PERCENT:
        return ""
    own = c.runs["tunnel_cpu_percent"].median()
    share = f" (the drone's proxy took {number(own, 2)} % of one core)" if math.isfinite(own) else ""
    return (
        f"The processors were busy for {number(load, 2)} % of the time in the median run{share}: "
        "whatever competes with the tunnel lengthens single handshakes and can cost packets."
    )


def _one_machine(c: ReportInput) -> str:
    if not c.same_host:
        return ""
    link = _distinct(c, "run_context.link")
    if link:
        return f"Both ends ran on one machine and share its processor; a relay ({link}) stood for the radio link."
    return (
        "Both ends ran on one machine over its loopback interface: there is no radio link, no propagation delay, and "
        "both ends share the processor."
    )


def limitations(c: ReportInput) -> list[str]:
    """What the reader must not conclude."""
    lines = [
        _unfinished(c),
        _one_machine(c),
        "No power sensor was present; power and energy figures are modelled or published, as marked."
        if not c.power_is_measured
        else "",
        f"The detectors of {listed([called(n) for n in c.emulated])} are emulated by a documented "
        f"load on CPU and memory."
        if c.emulated
        else "",
        ""
        if c.ranked
        else f"A ranking or a recommendation takes {NEEDED}; this campaign has fewer. {_noise(c)}".strip(),
        "Published figures come from other machines (Raspberry Pi 4 and 5) and another implementation; ratios to "
        "them reflect both.",
        "One drone and one ground station: a single vehicle, as in the documents.",
        _busy(c),
        departures_sentence(c),
        irregular_sentence(c),
        *(f"Left out of the links: {reason}" for reason in c.links_left_out),
        "Processor temperature was not available." if not has(c.runs, "temperature_mean_c") else "",
    ]
    return [line for line in lines if line]


def _spans(places: Sequence[int]) -> str:
    """Numbers of sections with runs drawn together: '1–4, 6'."""
    spans: list[list[int]] = []
    for place in sorted(places):
        if spans and place == spans[-1][1] + 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in spans) or MISSING


def provenance(c: ReportInput, sections: Sequence[Section]) -> pd.DataFrame:
    """Every file behind the report with its SHA-256, and the sections that use it."""
    used: dict[Source, list[int]] = {}
    for place, section in enumerate(sections, 1):
        for block in section.blocks:
            for source in block.sources if isinstance(block, (Chart, Table)) else ():
                if place not in used.setdefault(source, []):
                    used[source].append(place)
    beside = (source for _, one in (*c.links, *c.more_links) for source in one.sources)
    for source in (*c.sources, *beside):  # the answer, before all sections, is of these
        used.setdefault(source, [])
    rows = [[source.name, source.sha256, _spans(places)] for source, places in used.items()]
    return pd.DataFrame(rows, columns=["File", "SHA-256", "Sections"])
