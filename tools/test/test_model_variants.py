"""tools/model_variants.py: the models on disk are the template's, and each states an outcome for every query."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from model_variants import MODEL, TEMPLATE, VARIANTS, TemplateError, Variant, main, model


def variant(*flags: str) -> Variant:
    return Variant("some", "Some variant.", frozenset(flags))


def test_models_on_disk_are_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_stale_missing_and_left_over_models_are_found_and_renewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(MODEL / TEMPLATE, tmp_path)
    assert main(["--check"], tmp_path) == 1
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    with (tmp_path / "pure.vp").open("a") as file:
        file.write("// by hand\n")
    (tmp_path / "forgotten.vp").write_text("attacker[active]\n")
    assert main(["--check"], tmp_path) == 1
    assert "forgotten.vp, pure.vp" in capsys.readouterr().out
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


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
    text = model((MODEL / TEMPLATE).read_text(), each)
    queries = re.findall(r"^\t([a-z]+)\? ", text.partition("queries[")[2], re.MULTILINE)
    assert re.findall(r"([a-z])[01]", each.expect) == [query[0] for query in queries]
