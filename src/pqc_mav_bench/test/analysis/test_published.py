# SPDX-License-Identifier: Apache-2.0
"""Every published figure that follows from others is reproduced by a function of the analysis."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from recomputed import arithmetic, document
from recomputed.aggregates import evaluate
from recomputed.formulas import checks, parse_inputs
from recomputed.rounding import agrees, half_unit, value_range

from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.analysis.published.source import DOCUMENTS, sha256, table, text_rows

DATA = Path(source.__file__).parent / "data"


def name(check):
    return re.sub(r"[^\w.=+:-]+", "_", f"{check.document}-{check.section}-{check.formula}-{check.inputs}")[:90]


@pytest.mark.parametrize("check", checks(), ids=name)
def test_recomputes_the_listed_value_and_verdict(check):
    if check.listed_value:
        digits = max(6, len(check.listed_value.replace(".", "").lstrip("-0")))
        assert check.value == pytest.approx(float(check.listed_value), rel=10.0 ** (1 - digits))
    assert check.verdict == check.listed_verdict


def test_covers_the_whole_list():
    verdicts = [check.verdict for check in checks()]
    assert len(verdicts) == len(text_rows("formulas_published_vs_recomputed")) == 314
    assert (verdicts.count("yes"), verdicts.count("no"), verdicts.count("n/a")) == (215, 80, 19)


def test_every_assigned_formula_is_used():
    listed = {check.formula for check in checks()}
    assert set(arithmetic.FORMULAS) | arithmetic.NAMED_ONLY <= listed


def test_refuses_a_formula_nobody_assigned():
    with pytest.raises(LookupError, match="no analysis function"):
        evaluate("sum of everything", "[rpi4-analysis] Table 8", "")


def test_every_no_is_explained_on_the_page():
    page = document.render()
    rows = [check for check in checks() if check.verdict == "no"]
    assert all(document.explanation(check) for check in rows)
    section = page.split("## Figures that do not follow")[1].split("## Contradictions")[0]
    assert section.count("\n|") == len(rows) + 2


def test_every_document_is_in_the_references_with_its_title(repository):
    references = (repository / "docs" / "references.md").read_text(encoding="utf-8")
    for cited in DOCUMENTS:
        assert f'<a id="{cited.key}"></a>`[{cited.key}]`' in references
        assert cited.title in references


def test_the_data_sheet_counts_what_follows():
    counted = Counter(check.verdict for check in checks())
    words = f"{counted.total()} figures follow from others or from a printed formula: {counted['yes']} agree"
    sheet = " ".join((DATA / "README.md").read_text(encoding="utf-8").split())
    assert f"{words} within their rounding, {counted['no']} do not, and {counted['n/a']} are not numbers" in sheet


def test_the_page_is_printed():
    command = [sys.executable, str(Path(document.__file__).parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == document.render()


@pytest.mark.parametrize(("printed", "half"), [("7.20", 0.005), ("1900", 50), ("505", 0.5), ("0.0", 0.05), ("4", 0.5)])
def test_half_unit(printed, half):
    assert half_unit(printed) == pytest.approx(half)


def test_rounding_of_inputs_widens_the_value():
    low, high = value_range(lambda i: i["a"] - i["b"], parse_inputs("a=15.6; b=14.4"))
    assert (low, high) == pytest.approx((1.1, 1.3))
    assert agrees("1.3", low, high)
    assert not agrees("1.5", low, high)


@pytest.mark.parametrize(
    ("published", "value", "relation", "unit", "expected"),
    [
        ("10", 12.0, "=", "suites", False),
        ("10", 12.0, "=", "%", True),
        ("0.03", 0.02, "<", "%", True),
        ("0.01", 0.02, "<", "%", False),
        ("100", 98.5, ">", "x", False),
    ],
)
def test_agreement_rules(published, value, relation, unit, expected):
    assert agrees(published, value, value, relation, unit) is expected


def test_tables_are_named_or_refused():
    assert len(table("rpi4_suites_all_modes")) == 30
    assert re.fullmatch(r"[0-9a-f]{64}", sha256("rpi4_suites_all_modes"))
    with pytest.raises(LookupError, match="no_such"):
        table("no_such")
