# SPDX-License-Identifier: Apache-2.0
"""What several sections need: algorithm orders, medians per algorithm and scenario, names, missing-data notices."""

import math
from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.published import source as published
from pqc_mav_bench.analysis.statistics import Summary, summarise
from pqc_mav_bench.analysis.table import FAMILIES, LEVELS, SCENARIO_NAMES, has, scenario
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Notice
from pqc_mav_bench.report.charts.bars import Series
from pqc_mav_bench.report.estimates import of_groups, per_member
from pqc_mav_bench.report.numbers import MISSING, duration, number
from pqc_mav_bench.report.report_input import ReportInput

_SIG_FAMILIES = ("ML-DSA", "Falcon", "SPHINCS+", "SLH-DSA")
AEADS = ("AES-256-GCM", "ChaCha20-Poly1305", "Ascon-128a", "Ascon-AEAD128")


def algorithm_order(names: pd.Series, families: tuple[str, ...] = FAMILIES) -> list[str]:
    """Algorithm names by family and then by size of the parameter set (the number in the name)."""

    def key(name: str) -> tuple[int, int, str]:
        family = next((i for i, stem in enumerate(families) if name.startswith(stem)), len(families))
        digits = (
            "".join(ch for ch in name.removeprefix(families[family]) if ch.isdigit()) if family < len(families) else ""
        )
        return family, int(digits or 0), name

    return sorted({str(name) for name in names if name}, key=key)


def kem_order(table: pd.DataFrame) -> list[str]:
    """The KEMs of a table, lightest family first."""
    return algorithm_order(table["kem"])


def sig_order(table: pd.DataFrame) -> list[str]:
    """The signature algorithms of a table."""
    return algorithm_order(table["sig"], _SIG_FAMILIES)


def aead_order(table: pd.DataFrame) -> list[str]:
    """The AEADs of a table in the usual order."""
    present = set(table["aead"])
    return [name for name in AEADS if name in present]


def medians(table: pd.DataFrame, key: str, column: str) -> dict[str, float]:
    """Median of a column per member of `key`; members without a value are absent."""
    return {str(name): float(value) for name, value in table.groupby(key)[column].median().dropna().items()}


def scenario_series(c: ReportInput, key: str, order: list[str], column: str) -> list[Series]:
    """One bar series per scenario, the median of `column` for each member of `order`."""
    series = []
    for name in c.scenarios:
        found = medians(c.suites[c.suites["scenario"] == name], key, column)
        values = [found.get(member, math.nan) for member in order]
        label = SCENARIO_NAMES.get(name, name) + (" (emulated load)" if name in c.emulated else "")
        if any(math.isfinite(v) for v in values):
            series.append(Series(label, values, palette.scenario(name), palette.SCENARIO_HATCH.get(name, "")))
    return series


def families_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The suites of each KEM family in the usual order."""
    return {family: table[table["kem_family"] == family] for family in FAMILIES}


def signatures_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The suites of each family of signatures."""
    return {str(name): rows for name, rows in table.groupby("sig_family") if name}


def levels_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The suites of each NIST level, named 'Level 1' and so on."""
    return {f"Level {level}": table[table["nist_level"] == level] for level in LEVELS}


def summaries(groups: Mapping[str, pd.DataFrame], column: str = "handshake_ms") -> dict[str, Summary]:
    """The order statistics of each group's suites; groups without values are left out."""
    found = {name: summarise(rows[column]) for name, rows in groups.items()}
    return {name: summary for name, summary in found.items() if summary.n}


def family_finding(table: pd.DataFrame) -> str:
    """Whether the KEM family matters more than the level; see sentences.family_decides."""
    return sentences.family_decides(*(of_groups(part(table)) for part in (families_of, levels_of, signatures_of)))


def spread_of(groups: Mapping[str, pd.DataFrame]) -> str:
    """How far apart the handshakes of groups of suites are; see sentences.spread."""
    sizes = {name: summary.n for name, summary in summaries(groups).items()}
    return sentences.spread(of_groups(groups), of_groups(groups, "mean"), sizes, "handshake")


def family_legend(table: pd.DataFrame) -> dict[str, str]:
    """KEM families of a table with their colours."""
    present = set(table["kem_family"])
    return {family: palette.family(family) for family in FAMILIES if family in present}


def published_values(name: str, key: str, column: str) -> Mapping[str, float]:
    """A published column by algorithm or group."""
    table = published.table(name)
    return {kem_name(str(k)): float(v) for k, v in zip(table[key], table[column], strict=True)}


def kem_name(name: str) -> str:
    """A KEM's name as the registry spells it; the documents leave out 'Classic' or write it with a space."""
    plain = name.replace("Classic McEliece", "Classic-McEliece")
    return f"Classic-{plain}" if plain.startswith("McEliece") else plain


def first_upper(text: str) -> str:
    """The text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]


def with_values(c: ReportInput, column: str) -> pd.DataFrame:
    """The suites of the first scenario that has values of `column`; the main scenario's where none has."""
    for name in c.scenarios:
        rows = scenario(c.suites, name)
        if has(rows, column):
            return rows
    return c.baseline


def algorithm_table(c: ReportInput, key: str, order: list[str], columns: dict[str, str]) -> pd.DataFrame:
    """One row per algorithm, the medians of the main scenario under the given headings."""
    rows = with_values(c, next(iter(columns)))
    out: dict[str, list[object]] = {{"kem": "KEM", "sig": "Signature"}[key]: list(order)}
    for column, heading in columns.items():
        found = medians(rows, key, column)
        out[heading] = [found.get(name, math.nan) for name in order]
        if column.endswith("_ms") and not c.is_published:
            spans = shown_intervals(per_member(c, rows, key, column))
            if spans:
                out[f"{heading.split(' (')[0]}, 95 % interval"] = [spans.get(name, MISSING) for name in order]
    if not c.is_published:
        counts = rows.groupby(key)[next(iter(columns))].count()
        out["Runs"] = [int(counts.get(name, 0)) for name in order]
    return pd.DataFrame(out)


def with_interval(figure: Estimate) -> str:
    """A time in ms with its interval, where it has one."""
    text = duration(figure.value)
    if figure.is_exact or not figure.has_interval:
        return text
    return f"{text} (95 % interval {duration(figure.low)} to {duration(figure.high)})"


def shown_intervals(found: Mapping[str, Estimate]) -> dict[str, str]:
    """'LOW to HIGH', the 95 % interval of each figure that has one."""
    return {name: f"{number(each.low)} to {number(each.high)}" for name, each in found.items() if each.has_interval}


def without(c: ReportInput, what: str, reason: str, instead: str = "") -> Notice:
    """The sentence for something the campaign has no data for."""
    text = f"{first_upper(c.name)} has no {what}: {reason}."
    return Notice(f"{text} {instead}".strip())


#: Values that differ by less than this share of the largest are drawn as none: bars and colours would be equal.
ALIKE = 0.01


def alike(values: pd.Series, share: float = ALIKE) -> bool:
    """Whether values are so near each other that a chart of them shows nothing."""
    known = values.dropna()
    return bool(len(known)) and float(known.max() - known.min()) <= share * max(abs(known.max()), abs(known.min()))


def against_alone(c: ReportInput, in_tunnel_us: Mapping[str, float], operation: str, what: str, where: str) -> str:
    """Why an operation takes longer in the running tunnel than alone in a loop, with both figures; "" without both."""
    if c.primitives is None:
        return ""
    alone = {name: c.primitives.median_us(name, operation) for name in in_tunnel_us}
    ratios = {name: value / alone[name] for name, value in in_tunnel_us.items() if alone[name] > 0 and value > 0}
    if not ratios or max(ratios.values()) <= 1:
        return ""
    name = max(ratios, key=ratios.__getitem__)
    return (
        f"Another measurement in this report times the same operations alone ({where}); they do not contradict each "
        f"other: {what} of {name} takes {duration(in_tunnel_us[name] / 1e3)} here and {duration(alone[name] / 1e3)} "
        f"there. Alone it is repeated in a loop, so code, data and clock are warm; in the tunnel each one follows "
        "milliseconds of rest or of other work, on processors that both ends and the traffic share. "
        "Here is what a drone pays, there what the algorithm costs."
    )


def scenario_note(c: ReportInput) -> list[Notice]:
    """Which scenarios are missing, and which are emulated."""
    notes = []
    absent = [name for name in ("baseline", "xgboost", "tst") if name not in c.scenarios]
    if absent:
        names = " and ".join(SCENARIO_NAMES[name] for name in absent)
        notes.append(
            Notice(
                f"{first_upper(c.name)} has no run that passed in the scenario{'s' if len(absent) > 1 else ''} "
                f"{names}, so nothing is drawn for {'them' if len(absent) > 1 else 'it'}."
            )
        )
    if c.emulated:
        names = " and ".join(SCENARIO_NAMES.get(name, name) for name in c.emulated)
        notes.append(
            Notice(f"In {names} the detector is emulated by a documented load on CPU and memory; no detector ran.")
        )
    return notes
