# SPDX-License-Identifier: Apache-2.0
"""Campaigns recorded under schema version 2 load without the figures that went, and their hashes hold."""

from __future__ import annotations

import pandas as pd
from support import Bench, added_columns, as_recorded, before_additions, good_run, read_today

from pqc_mav_bench import tidy
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.schema import version2
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import all_fields, parse_run
from pqc_mav_bench.verify import verify_campaign

_GONE = sorted(version2.REMOVED)


def recorded(document: dict) -> dict:
    """The document as version 2 would have written and signed it."""
    out = before_additions(document)
    for path in _GONE:
        category, _, name = path.partition(".")
        out[category][name] = 0.5
    out["metric_status"][_GONE[0]] = {"status": "unavailable", "reason": "as recorded"}
    out["schema_version"] = version2.VERSION
    out["integrity"]["sha256"] = run_sha256(out)
    return out


def test_what_was_removed_is_no_field():
    assert not version2.REMOVED & {field.path for field in all_fields()}


def test_a_run_of_version_2_is_the_same_run_without_what_is_gone():
    today = good_run()
    run = read_today(today)
    document = recorded(today.model_dump(mode="json"))
    document["findings"] = [
        {"name": "n", "severity": "warning", "message": "m", "fields": ["handshake.ok", _GONE[0]]},
    ]
    again = parse_run(document)
    assert again.schema_version == SCHEMA_VERSION
    assert [finding.fields for finding in again.findings] == [["handshake.ok"]]
    again.integrity, again.findings = run.integrity, run.findings
    assert again == run


def test_a_campaign_of_version_2_verifies_and_reads_with_todays_columns(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    before = tidy.read(bench.store.folder)
    hashes = as_recorded(bench.store, recorded)
    gone = pd.DataFrame(dict.fromkeys(_GONE, 0.5), index=before.index)
    table = pd.concat([before.assign(metrics_sha256=hashes).drop(columns=added_columns()), gone], axis=1)
    table.to_csv(bench.store.folder / "tidy.csv", index=False)
    if tidy.has_parquet():
        table.to_parquet(bench.store.folder / "tidy.parquet", index=False)
    assert list(tidy.read(bench.store.folder).columns) == list(before.columns)
    assert verify_campaign(bench.store.folder).problems == ()
