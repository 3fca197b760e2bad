"""Which sections a report has, in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pqc_mav_bench.report.blocks import EMULATED, MEASURED, Block, Section, Table
from pqc_mav_bench.report.items import (
    comparison,
    endurance,
    guide,
    handshakes,
    loadpower,
    loadtables,
    loadtest,
    paper,
    primitives,
    rekeying,
    scenarios,
)
from pqc_mav_bench.report.report_input import ReportInput

#: Every item of the feature list's chapter N that draws on the campaign alone, by number.
ITEMS: dict[int, Callable[[ReportInput], Section]] = {
    166: primitives.item_166,
    167: primitives.item_167,
    168: primitives.item_168,
    169: primitives.item_169,
    170: handshakes.item_170,
    171: handshakes.item_171,
    172: handshakes.item_172,
    173: handshakes.item_173,
    174: rekeying.item_174,
    175: scenarios.item_175,
    176: scenarios.item_176,
    177: scenarios.item_177,
    178: scenarios.item_178,
    179: scenarios.item_179,
    180: scenarios.item_180,
    181: rekeying.item_181,
    183: guide.item_183,
    184: paper.item_184,
    185: paper.item_185,
    186: loadtest.item_186,
    187: loadtest.item_187,
    188: loadpower.item_188,
    189: loadpower.item_189,
    190: loadpower.item_190,
    191: loadtables.item_191,
    192: endurance.item_192,
    193: endurance.item_193,
}


#: Items about a constant-rate load; they read the campaign that ran one, where there is one beside the main campaign.
_LOAD_ITEMS = frozenset(range(186, 192))


def sections(c: ReportInput, load: ReportInput | None = None) -> list[Section]:
    """Every section of a report, built from the campaign's rows and, for the load items, from those of `load`."""
    built = [build(load if load is not None and number in _LOAD_ITEMS else c) for number, build in ITEMS.items()]
    # Item 182 is about the explanations of all others.
    built.append(guide.item_182(built))
    ordered = [*sorted(built, key=lambda section: section.number), comparison.section(c, load)]
    return ordered if c.power_is_measured or c.is_published else [_marked(section) for section in ordered]


_POWER = re.compile(r"\b[Pp]ower\b|\b[Ee]nergy\b|\((W|J|nJ)\)|^W (min|max|avg)$")


def _marked(section: Section) -> Section:
    """The section with "modelled" in every heading of power or energy that no sensor measured."""
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
