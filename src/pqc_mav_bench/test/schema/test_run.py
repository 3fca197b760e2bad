# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import RunMetrics, SchemaError, all_fields, categories, parse_run

# Fields per category as the published report counts them; I and J share theirs (17). L to R are not itemised there.
PUBLISHED = {"A": 20, "B": 8, "C": 5, "D": 7, "E": 15, "F": 7, "G": 22, "H": 11, "IJ": 17, "K": 9}


def test_there_are_18_categories_with_the_letters_a_to_r_in_order():
    assert [category.letter for category in categories().values()] == list("ABCDEFGHIJKLMNOPQR")


def test_each_category_has_at_least_the_published_fields():
    counts: dict[str, int] = {}
    for field in all_fields():
        letter = categories()[field.category].letter
        counts[letter] = counts.get(letter, 0) + 1
    counts["IJ"] = counts["I"] + counts["J"]
    for letter, published in PUBLISHED.items():
        assert counts[letter] >= published, letter


def test_every_field_has_a_meaning_and_numbers_have_a_unit():
    for field in all_fields():
        assert field.meaning, field.path
        if field.kind in ("number", "integer") and field.path != "run_context.seed":
            assert field.unit, field.path


@pytest.mark.parametrize("suffix, unit", [("_ms", "ms"), ("_ns", "ns"), ("_s", "s"), ("_percent", "%"), ("_mib", "MiB"),
                                          ("_bytes", "B"), ("_mbps", "Mbit/s"), ("_j", "J"), ("_w", "W")])  # fmt: skip
def test_a_unit_in_the_name_is_the_unit_declared(suffix, unit):
    named = [field for field in all_fields() if field.name.endswith(suffix) and not field.name.endswith("_per_s")]
    assert named
    assert {field.unit for field in named} == {unit}


def test_a_field_of_the_ground_inside_a_category_of_the_drone_is_named_gcs():
    for field in all_fields():
        if field.name.startswith("gcs_"):
            assert field.side.value == "gcs", field.path


def test_a_run_survives_json():
    run = RunMetrics()
    run.handshake.handshake_ms = 12.5
    run.mavproxy_drone.sent_by_type = {"HEARTBEAT": 3}
    assert parse_run(run.model_dump(mode="json")) == run
    assert run.value("handshake.handshake_ms") == 12.5


@pytest.mark.parametrize(
    "change, words",
    [
        ({"schema_version": "9.9"}, "this file is of schema version '9.9'"),
        ({"handshake": {"handshake_ms": "fast"}}, "handshake.handshake_ms"),
        ({"handshake": {"no_such_field": 1}}, "handshake.no_such_field"),
        ({"handshake": {"handshake_ms": float("inf")}}, "handshake.handshake_ms"),
        ({"metric_status": {"handshake.handshake_ms": {"status": "maybe", "reason": "x"}}}, "metric_status"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change, words):
    with pytest.raises(SchemaError, match=r"^somewhere: ") as refusal:
        parse_run(RunMetrics().model_dump(mode="json") | change, "somewhere")
    assert words in str(refusal.value)


def test_something_else_than_an_object_is_refused():
    with pytest.raises(SchemaError, match="no JSON object"):
        parse_run([1, 2])


def test_the_version_is_written():
    assert RunMetrics().model_dump(mode="json")["schema_version"] == SCHEMA_VERSION


def test_the_published_counts_are_those_of_the_reference_where_it_is_at_hand():
    reference = Path(__file__).resolve().parents[5] / "shared/reference/rpi5_metrics_schema_categories.csv"
    if not reference.is_file():
        pytest.skip("the reference tables are not beside this repository")
    with reference.open() as lines:
        printed = {row["category"]: int(row["fields"]) for row in csv.DictReader(lines) if row["fields"]}
    assert printed == {letter: count for letter, count in PUBLISHED.items() if letter != "IJ"}
