# SPDX-License-Identifier: Apache-2.0
"""What a detector beside the tunnel does to handshakes, said in the same words on the first page and in each section,
so that they cannot contradict each other."""

from collections.abc import Mapping, Sequence

from pqc_mav_bench.analysis import scenarios
from pqc_mav_bench.analysis.detector_effect import added, effects, family_effects
from pqc_mav_bench.analysis.estimate import Estimate, of_suites
from pqc_mav_bench.analysis.table import SCENARIO_NAMES
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import families_of


def overall_effects(c: ReportInput) -> list[str]:
    """One sentence per scenario with a detector, over all suites."""
    return [sentences.effect(each, SCENARIO_NAMES.get(each.scenario, each.scenario)) for each in effects(c.passed)]


def detector_sentences(c: ReportInput) -> list[str]:
    """Over all suites, then by KEM family; of published figures, what was printed."""
    if c.is_published:
        rows = scenarios.detector_overhead(c.suites)
        return sentences.printed_overhead(rows, "median handshake", SCENARIO_NAMES)
    return [*overall_effects(c), *sentences.family_effects(family_effects(c.passed), SCENARIO_NAMES)]


def added_to_families(c: ReportInput) -> Mapping[str, Sequence[tuple[Estimate, Estimate]]]:
    """By scenario: each KEM family's handshake without a detector, and what the scenario adds to it [ms]; nothing
    where a family has no interval of either."""
    if c.is_published:
        return {}
    families = {name: rows for name, rows in families_of(c.suites).items() if len(rows)}
    more = {name: added(rows) for name, rows in families_of(c.passed).items() if name in families}
    base = {name: of_suites(rows[rows["scenario"] == "baseline"]) for name, rows in families.items()}
    return {
        scenario: [(base[name], more[name].get(scenario, Estimate(float("nan")))) for name in families]
        for scenario in c.scenarios
        if scenario != "baseline"
    }
