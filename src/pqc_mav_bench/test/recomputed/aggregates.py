# SPDX-License-Identifier: Apache-2.0
"""The documents' figures that are aggregates of a whole printed table: means, medians and extremes over its suites."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from pqc_mav_bench.analysis.published.source import table
from pqc_mav_bench.analysis.statistics import Summary, summarise

#: Column suffix of a mode in the wide table of [rpi4-analysis].
_MODES = {
    "Baseline": "baseline",
    "Lightweight": "lightweight",
    "Heavyweight": "transformer",
    "Transformer": "transformer",
}
_POLICY = {"Transformer": "Heavyweight"}
_STATISTICS: dict[str, Callable[[Summary], float]] = {
    "count": lambda s: s.n,
    "min": lambda s: s.minimum,
    "max": lambda s: s.maximum,
    "avg": lambda s: s.mean,
    "mean": lambda s: s.mean,
    "median": lambda s: s.median,
}
#: The document's word, and where its values are printed: (file, column or its stem). Half a unit of the printed digits.
_PRINTED_LEVEL = {
    "throughput": ("throughput_baseline_Mbps", 0.005),
    "power": ("power_baseline_W", 0.005),
    "handshake": ("handshake_baseline_ms", 0.05),
}
_LEVEL_DIGITS = {"handshake_baseline_ms": 0.05, "loss_baseline_pct": 0.0005, "power_baseline_W": 0.005}
_OVER_30 = {
    "power": ("rpi4_power_energy", "power_avg_W", 0.0005),
    "of Max CPU": ("rpi4_cpu_memory", "cpu_max_pct", 0.05),
    "Max CPU": ("rpi4_cpu_memory", "cpu_max_pct", 0.05),
    "RSS": ("rpi4_cpu_memory", "rss_MiB", 0.05),
}

_FAMILIES = {"McEliece": "Classic-McEliece"}


def _long(name: str, policy: str) -> pd.DataFrame:
    rows = table(name)
    return rows[rows["ddos_policy"] == _POLICY.get(policy, policy)]


def _families(rows: pd.DataFrame) -> pd.Series:
    """KEM family of each row's suite."""
    known = table("rpi4_suites_all_modes").set_index("suite")["kem_family"]
    return rows["suite"].map(known)


def _at_printed_level(statistic: str, quantity: str, inputs: str) -> tuple[float, float]:
    level = int(inputs.rsplit("=", 1)[1])
    rows = table("rpi4_suites_all_modes")
    rows = rows[rows["nist_level_printed"] == level]
    if quantity == "of suites":
        return float(len(rows)), 0.0
    column, half = _PRINTED_LEVEL[quantity]
    return _STATISTICS[statistic](summarise(rows[column])), half


def _at_level(statistic: str, column: str, level: int) -> tuple[float, float]:
    rows = table("rpi4_suites_all_modes")
    rows = rows[rows["nist_level_by_parameter_set"] == level]
    if column == "suites":
        return float(len(rows)), 0.0
    return _STATISTICS[statistic](summarise(rows[column])), _LEVEL_DIGITS[column]


def _over_30(statistic: str, quantity: str, inputs: str, policy: str) -> tuple[float, float]:
    if quantity in ("throughput", "loss"):
        if inputs.startswith("[rpi4-results] Table 7"):
            return _STATISTICS[statistic](summarise(_long("rpi4_packets_by_policy", policy)["loss_pct"])), 0.0005
        if inputs.startswith("[rpi4-results] Table 1"):
            return _STATISTICS[statistic](
                summarise(table("rpi4_suites_lightweight_network")["throughput_Mbps"])
            ), 0.0005
        unit, half = ("Mbps", 0.005) if quantity == "throughput" else ("pct", 0.0005)
        values = table("rpi4_suites_all_modes")[f"{quantity}_{_MODES[policy]}_{unit}"]
        return _STATISTICS[statistic](summarise(values)), half
    name, column, half = _OVER_30[quantity]
    return _STATISTICS[statistic](summarise(_long(name, policy)[column])), half


def _over_family(statistic: str, column: str, family: str, policy: str) -> tuple[float, float]:
    rows = _long("rpi4_power_energy", policy)
    members = rows[_families(rows) == _FAMILIES.get(family, family)]
    return _STATISTICS[statistic](summarise(members[column])), 0.0005


def _added(statistic: str, quantity: str, mode: str) -> tuple[float, float]:
    """Extremes over 30 suites of the change from Baseline; a reduction counts downward."""
    if quantity == "added power":
        wide = table("rpi4_power_energy").pivot(index="suite", columns="ddos_policy", values="power_avg_W")
        change, half = wide[_POLICY.get(mode, mode)] - wide["Baseline"], 0.001
    else:
        rows = table("rpi4_suites_all_modes")
        change, half = rows[f"throughput_{_MODES[mode]}_Mbps"] - rows["throughput_baseline_Mbps"], 0.01
        change = -change if quantity == "throughput reduction" else change
    return _STATISTICS[statistic](summarise(change)), half


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str, str], tuple[float, float]]], ...] = (
    (
        re.compile(r"(count|min|max|avg) (.+) at the printed level"),
        lambda m, inputs, note: _at_printed_level(m[1], m[2], inputs),
    ),
    (
        re.compile(r"(count|min|max) of (\w+) at level (\d) by parameter set"),
        lambda m, inputs, note: _at_level(m[1], m[2], int(m[3])),
    ),
    (
        re.compile(r"(mean|median|max) (.+) over 30 suites"),
        lambda m, inputs, note: _over_30(m[1], m[2], inputs, note.split(";")[0].strip()),
    ),
    (
        re.compile(r"(min|max) of (\w+) over the family, (\w+)"),
        lambda m, inputs, note: _over_family(m[1], m[2], inputs.split(", ")[1], m[3]),
    ),
    (
        re.compile(r"(mean) power over the family"),
        lambda m, inputs, note: _over_family(m[1], "power_avg_W", *note.rsplit(" ", 1)),
    ),
    (
        re.compile(r"(min|max) (added power|throughput gain|throughput reduction), (\w+)"),
        lambda m, inputs, note: _added(m[1], m[2], m[3].capitalize()),
    ),
)


def evaluate(formula: str, inputs: str, note: str) -> tuple[float, float]:
    """(value, half a unit of the printed digits it is made of). Raises LookupError for a formula that is not an
    aggregate."""
    for pattern, function in _PATTERNS:
        match = pattern.fullmatch(formula)
        if match:
            return function(match, inputs, note)
    raise LookupError(f"no analysis function is assigned to the published formula {formula!r}")
