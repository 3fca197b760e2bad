# SPDX-License-Identifier: Apache-2.0
"""Campaigns recorded under schema version 3 load: what they have no value for says why, and their hashes hold."""

from __future__ import annotations

from support import Bench, added_columns, as_recorded, before_version4, good_run, read_today

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.schema import version3
from pqc_mav_bench.schema.run import SCHEMA_VERSION, all_fields
from pqc_mav_bench.verify import verify_campaign


def recorded(document: dict) -> dict:
    """The document as version 3 would have written and signed it."""
    out = {**before_version4(document), "schema_version": version3.VERSION}
    out["integrity"]["sha256"] = run_sha256(out)
    return out


def test_what_was_added_is_a_field():
    assert {field.path for field in all_fields()} >= version3.ADDED


def test_a_run_of_version_3_has_a_status_for_what_it_lacks():
    run, again = good_run(), read_today(good_run())
    assert again.schema_version == SCHEMA_VERSION
    assert (again.handshake.handshakes, again.handshake.handshake_ms) == (None, run.handshake.handshake_ms)
    assert again.metric_status["handshake.samples_ms"].status == "not_applicable"


def test_a_campaign_of_version_3_verifies_and_reads_with_todays_columns(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    before = tidy.read(bench.store.folder)
    hashes = as_recorded(bench.store, recorded)
    table = before.assign(metrics_sha256=hashes).drop(columns=added_columns())
    table.to_csv(bench.store.folder / tidy.CSV, index=False)
    if tidy.has_parquet():
        table.to_parquet(bench.store.folder / tidy.PARQUET, index=False)
    table = tidy.read(bench.store.folder)
    assert list(table.columns) == list(before.columns)
    assert (table[added_columns()].isna() | (table[added_columns()] == "")).all().all()
    assert handshake_table.read(bench.store.folder).empty
    assert verify_campaign(bench.store.folder).problems == ()
