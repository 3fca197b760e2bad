# SPDX-License-Identifier: Apache-2.0
"""Evaluates every row of the published-figures check with this package's own analysis functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pqc_mav_bench.analysis.published.source import text_rows
from recomputed import aggregates, arithmetic
from recomputed.rounding import COUNTED, agrees, value_range

_PAIR = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)")

#: The table with every figure that follows from others.
FORMULAS = "formulas_published_vs_recomputed"


@dataclass(frozen=True)
class Check:
    """One published figure and what its formula gives. `value` is None where the document names a formula without
    numbers."""

    document: str
    section: str
    formula: str
    inputs: str
    published: str
    relation: str
    unit: str
    listed_value: str
    listed_verdict: str
    note: str
    value: float | None
    verdict: str


def parse_inputs(text: str) -> dict[str, str]:
    """`name=value` pairs as text, so that their printed precision is kept; other inputs give an empty mapping."""
    return dict(_PAIR.findall(text)) if "=" in text and "column" not in text else {}


def _judge(row: Mapping[str, str]) -> tuple[float | None, str]:
    """(recomputed value, 'yes' | 'no' | 'n/a') of one row."""
    formula, inputs = row["formula"], parse_inputs(row["inputs"])
    if inputs or formula in arithmetic.FORMULAS:
        function = arithmetic.FORMULAS[formula]
        value = function({name: float(text) for name, text in inputs.items()})
        if row["unit"] in COUNTED or formula in arithmetic.PRINTED_ARITHMETIC:
            low = high = value
        else:
            low, high = value_range(function, inputs)
    elif formula in arithmetic.NAMED_ONLY:
        return None, "n/a"
    else:
        value, half = aggregates.evaluate(formula, row["inputs"], row["note"])
        low, high = value - half, value + half
    if not row["published_output"]:
        return value, "n/a"
    return value, "yes" if agrees(row["published_output"], low, high, row["relation"], row["unit"]) else "no"


@cache
def checks() -> tuple[Check, ...]:
    """Every row of the shipped check list, evaluated. Raises LookupError for a row no function covers."""
    result = []
    for row in text_rows(FORMULAS):
        value, verdict = _judge(row)
        result.append(
            Check(
                row["document"],
                row["section"],
                row["formula"],
                row["inputs"],
                row["published_output"],
                row["relation"],
                row["unit"],
                row["recomputed_output"],
                row["agrees"],
                row["note"],
                value,
                verdict,
            )
        )
    return tuple(result)
