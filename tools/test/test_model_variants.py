# SPDX-License-Identifier: Apache-2.0
"""tools/model_variants.py: lines follow their conditions, and each model states an outcome for every query."""

from __future__ import annotations

import re

import pytest
from model_variants import MODEL, VARIANTS, TemplateError, Variant, file_name, model, models, page, variants

BY_NAME = {each.name: each for each in VARIANTS}


def variant(*flags: str) -> Variant:
    return Variant("some", "Some variant.", frozenset(flags), "0", "some.pv.in")


def test_there_is_one_model_per_variant() -> None:
    assert list(models()) == [file_name(each) for each in VARIANTS]
    assert {name.rpartition(".")[2] for name in models()} == {"pv", "pml"}


def test_every_template_is_used() -> None:
    texts = {path.name: path.read_text() for path in MODEL.glob("*.in")}
    included = {line.removeprefix("//+ ") for text in texts.values() for line in text.splitlines() if "//+ " in line}
    assert {each.template for each in VARIANTS} | included == set(texts)


@pytest.mark.parametrize(
    ("flags", "kept"),
    [((), "always,not_a"), (("a",), "always,a"), (("b",), "always,not_a"), (("a", "b"), "always,a,a_and_b")],
)
def test_a_line_is_kept_when_all_its_conditions_hold(flags: tuple[str, ...], kept: str) -> None:
    template = "always\na //? a\nnot_a //? !a\na_and_b  //? a b\n"
    lines = [line for line in model(template, variant(*flags)).splitlines() if not line.startswith("(*")]
    assert ",".join(lines) == kept


def test_an_included_file_has_conditions_too() -> None:
    text = model("//+ part\nlast\n", variant("a"), {"part": "one //? a\ntwo //? !a\n"})
    assert text.splitlines()[-2:] == ["one", "last"]


def test_a_flag_nobody_asks_for_is_refused() -> None:
    with pytest.raises(TemplateError, match="misspelt"):
        model("always\n", variant("misspelt"))


def test_a_situation_without_an_outcome_for_each_query_is_refused() -> None:
    with pytest.raises(TemplateError, match="some"):
        variants("== some.pv.in | one | two\nsome | | 0 | Some situation.\n")


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.name)
def test_expectation_names_every_query(each: Variant) -> None:
    text = models()[file_name(each)]
    if each.template.endswith(".pml.in"):
        assert len(each.expect) == len(re.findall(r"^ *claim\([0-9]", text, re.MULTILINE))
        return
    queries = text.partition("\nquery ")[2].partition("\n\n")[0].replace("==>\n", "==>").splitlines()[1:]
    assert len(each.expect) == len(queries)


@pytest.mark.parametrize("each", [each for each in VARIANTS if each.spoils], ids=lambda each: each.name)
def test_a_spoiled_model_does_worse_than_the_one_it_spoils(each: Variant) -> None:
    whole = BY_NAME[each.spoils]
    assert whole.queries == each.queries
    assert not whole.spoils
    pairs = list(zip(whole.expect, each.expect, strict=True))
    assert ("0", "1") in pairs
    assert ("1", "0") not in pairs


def test_what_has_to_be_reached_is_expected_to_be() -> None:
    for each in VARIANTS:
        reached = [code for code, query in zip(each.expect, each.queries, strict=True) if query.startswith("[")]
        assert set(reached) <= {"1"}, each.name


def test_page_has_a_row_per_result_and_no_word_of_what_is_only_reached() -> None:
    found = "hybrid.pv\t00000011\t0.8\npsk_stolen.pv\t01011011\t2.6\nno_suite.pv\t00110011\t0.1\n"
    rows = page(found).splitlines()
    assert "Asked: telemetry secret, command secret, drone agrees, gcs agrees, packet up, packet down." in rows[0]
    assert rows[4].endswith("| - |")
    assert rows[5].endswith("| command secret, gcs agrees, packet up |")
    assert rows[7] == "Worse, as they must be: `no_suite`."
    assert rows[-1] == "3 models, 4 s of processor time."
