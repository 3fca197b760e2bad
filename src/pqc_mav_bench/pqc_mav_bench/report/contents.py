# SPDX-License-Identifier: Apache-2.0
"""Which sections a report has, in order."""

import re
from collections.abc import Callable
from dataclasses import replace

from pqc_mav_bench.report.blocks import EMULATED, MEASURED, Block, Section, Table
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections import (
    aeads,
    comparison,
    detectors,
    endurance_paper,
    flight_budget,
    guide,
    handshakes,
    kem,
    power_load_delay,
    pqcmav_paper,
    rekeying,
    rpi4_results,
    scenarios,
    signatures,
    suite_tables,
    throughput_and_loss,
)

#: Every section that draws on the campaign alone, in the order of the published system's list of features (166 to 193
#: with the index of explanations); a section has the name of its function.
SECTIONS: tuple[Callable[[ReportInput], Section], ...] = (
    kem.kem_keygen,
    kem.kem_operations,
    signatures.signatures,
    aeads.aeads,
    handshakes.handshake_ranking,
    handshakes.handshake_statistics,
    handshakes.handshake_spread,
    handshakes.pareto_frontier,
    rekeying.rekey_overhead,
    scenarios.scenario_handshakes,
    detectors.detectors,
    scenarios.scenario_load,
    scenarios.scenario_heatmaps,
    detectors.detector_overhead,
    scenarios.scenario_summary,
    flight_budget.flight_budget,
    guide.reading_guide,
    pqcmav_paper.pqcmav_paper_figures,
    pqcmav_paper.pqcmav_paper_tables,
    throughput_and_loss.throughput,
    throughput_and_loss.loss,
    power_load_delay.suite_power,
    power_load_delay.suite_heatmaps,
    power_load_delay.round_trips,
    suite_tables.suite_tables,
    endurance_paper.endurance_paper,
    rpi4_results.rpi4_results,
)

#: Sections about a constant-rate load: they read the campaign that ran one, where there is one.
_LOAD_SECTIONS = frozenset({"throughput", "loss", "suite_power", "suite_heatmaps", "round_trips", "suite_tables"})


def sections(c: ReportInput, load: ReportInput | None = None) -> list[Section]:
    """Every section of a report, built from the campaign's rows and, for the load sections, from those of `load`."""
    reads = [load if load is not None and build.__name__ in _LOAD_SECTIONS else c for build in SECTIONS]
    built = [_marked(build(each), each) for build, each in zip(SECTIONS, reads, strict=True)]
    place = SECTIONS.index(guide.reading_guide)
    # The index of explanations is about those of all others.
    return [*built[:place], guide.explanations(built), *built[place:], comparison.comparison(c, load)]


_POWER = re.compile(r"\b[Pp]ower\b|\b[Ee]nergy\b|\((W|J|nJ)\)|^W (min|max|avg)$")


def _marked(section: Section, c: ReportInput) -> Section:
    """The section with "modelled" in every heading of power or energy, if no sensor measured it in its campaign."""
    if c.power_is_measured:
        return section
    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Table) and block.origin in (MEASURED, EMULATED):
            names = {name: f"{name}, modelled" for name in block.frame.columns if _POWER.search(str(name))}
            frame = block.frame.rename(columns=names)
            first = frame.columns[0]
            # Tables whose rows are metrics name the quantity in their first column.
            frame[first] = [f"{v}, modelled" if isinstance(v, str) and _POWER.search(v) else v for v in frame[first]]
            block = replace(block, frame=frame)
        blocks.append(block)
    return replace(section, blocks=blocks)
