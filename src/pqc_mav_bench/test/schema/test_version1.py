# SPDX-License-Identifier: Apache-2.0
"""Campaigns recorded under schema version 1 load under today's names, and their hashes hold."""

from __future__ import annotations

import json

from support import Bench, added_columns, as_recorded, before_additions, good_run, read_today

from pqc_mav_bench import tidy
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.schema import version1, version2
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import all_fields, parse_run
from pqc_mav_bench.verify import verify_campaign

_OLD = {new: old for old, new in version1.RENAMED.items()}


def recorded(document: dict) -> dict:
    """The document as version 1 would have written and signed it."""
    document = before_additions(document)
    out = json.loads(json.dumps(document))
    for name, values in document.items():
        if isinstance(values, dict):
            out[name] = {_OLD.get(f"{name}.{key}", f"{name}.{key}").partition(".")[2]: v for key, v in values.items()}
    out["metric_status"] = {_OLD.get(path, path): status for path, status in document["metric_status"].items()}
    for finding in out["findings"]:
        finding["fields"] = [_OLD.get(path, path) for path in finding["fields"]]
    out["schema_version"] = version1.VERSION
    out["integrity"]["sha256"] = run_sha256(out)
    return out


def test_every_new_name_is_or_was_a_field_and_no_old_one_is():
    now = {field.path for field in all_fields()} | {"system_drone.core_mean_percent", "system_gcs.core_mean_percent"}
    now |= version2.REMOVED  # what version 1 renamed and version 3 removed
    both_sides = {new for new in version1.RENAMED.values() if new in now}
    assert {new.replace(".gcs_", ".") for new in version1.RENAMED.values()} == {
        new.replace(".gcs_", ".") for new in both_sides
    }
    assert not set(version1.RENAMED) & now


def test_a_run_of_version_1_is_the_same_run():
    today = good_run()
    run = read_today(today)
    again = parse_run(recorded(today.model_dump(mode="json")))
    assert again.schema_version == SCHEMA_VERSION
    again.integrity = run.integrity
    assert again == run


def test_a_campaign_of_version_1_verifies_and_reads_under_the_new_names(tmp_path):
    bench = Bench(tmp_path)
    bench.run()
    before = tidy.read(bench.store.folder)
    hashes = as_recorded(bench.store, recorded)
    table = before.assign(metrics_sha256=hashes).drop(columns=added_columns()).rename(columns=_OLD)
    table.to_csv(bench.store.folder / "tidy.csv", index=False)
    if tidy.has_parquet():
        table.to_parquet(bench.store.folder / "tidy.parquet", index=False)
    assert list(tidy.read(bench.store.folder).columns) == list(before.columns)
    assert verify_campaign(bench.store.folder).problems == ()
