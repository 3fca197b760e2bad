# SPDX-License-Identifier: Apache-2.0
"""tools/model_variants.py: lines follow their conditions, and each model states an outcome for every query."""

from __future__ import annotations

import re

import pytest
from model_variants import MODEL, PROVEN, VARIANTS, TemplateError, Variant, file_name, model, models


def variant(*flags: str) -> Variant:
    return Variant("some", "Some variant.", frozenset(flags))


def test_there_is_one_model_per_variant() -> None:
    assert list(models()) == [file_name(each) for each in VARIANTS]
    assert {name.rpartition(".")[2] for name in models()} == {"vp", "pv"}


def test_every_template_is_used() -> None:
    assert {each.template for each in VARIANTS} == {path.name for path in MODEL.glob("*.in")}


@pytest.mark.parametrize(
    ("flags", "kept"),
    [((), "always,not_a"), (("a",), "always,a"), (("b",), "always,not_a"), (("a", "b"), "always,a,a_and_b")],
)
def test_a_line_is_kept_when_all_its_conditions_hold(flags: tuple[str, ...], kept: str) -> None:
    template = "always\na //? a\nnot_a //? !a\na_and_b  //? a b\n"
    lines = [line for line in model(template, variant(*flags)).splitlines() if not line.startswith("//")]
    assert ",".join(lines) == kept


def test_a_flag_nobody_asks_for_is_refused() -> None:
    with pytest.raises(TemplateError, match="misspelt"):
        model("always\n", variant("misspelt"))


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.name)
def test_expectation_names_every_query(each: Variant) -> None:
    text = model((MODEL / each.template).read_text(), each)
    if each.template == PROVEN:
        assert len(each.expect) == len(re.findall(r"^query ", text, re.MULTILINE))
        return
    queries = re.findall(r"^\t([a-z]+)\? ", text.partition("queries[")[2], re.MULTILINE)
    assert re.findall(r"([a-z])[01]", each.expect) == [query[0] for query in queries]
