# SPDX-License-Identifier: Apache-2.0
"""Campaigns recorded before something was added load: what they have no value for says why, and their hashes hold."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from support import Bench, added_columns, as_recorded, good_run, recorded_by

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.schema.additions import ADDED, ADDITIONS
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import all_fields, parse_run
from pqc_mav_bench.verify import verify_campaign, verify_run

OLDEST = ADDITIONS[0].version


def test_what_was_added_is_a_field_and_was_added_once():
    assert {field.path for field in all_fields()} >= ADDED
    assert not any(one.added & other.added for one, other in combinations(ADDITIONS, 2))


@pytest.mark.parametrize("lacks", ADDITIONS, ids=lambda each: each.version)
def test_a_run_verifies_and_has_a_status_for_what_it_lacks(lacks):
    now = good_run()
    run, problems = verify_run(recorded_by(lacks.version, now.model_dump(mode="json")), "metrics.json")
    assert problems == []
    assert run.schema_version == SCHEMA_VERSION
    assert run.handshake.handshake_ms == now.handshake.handshake_ms
    for path in lacks.added:
        assert (run.value(path), run.metric_status[path].reason) == (None, lacks.reason)
    before = {path for each in ADDITIONS if each.version < lacks.version for path in each.added}
    assert all(run.value(path) == now.value(path) for path in before)


@pytest.mark.parametrize("lacks", ADDITIONS, ids=lambda each: each.version)
def test_a_campaign_verifies_and_reads_with_todays_columns(tmp_path, lacks):
    bench = Bench(tmp_path)
    bench.run()
    before = tidy.read(bench.store.folder)
    hashes = as_recorded(bench.store, lambda document: recorded_by(lacks.version, document))
    added = {path for each in ADDITIONS if each.version >= lacks.version for path in each.added}
    new = [name for name in added_columns() if name in added]
    table = before.assign(metrics_sha256=hashes).drop(columns=new)
    table.to_csv(bench.store.folder / tidy.CSV, index=False)
    if tidy.has_parquet():
        table.to_parquet(bench.store.folder / tidy.PARQUET, index=False)
    if lacks.version == OLDEST:
        assert handshake_table.read(bench.store.folder).empty
    else:
        runs = [parse_run(json.loads(path.read_text())) for path in bench.store.run_files()]
        handshake_table.write(handshake_table.frame(runs), bench.store.folder)
    table = tidy.read(bench.store.folder)
    assert list(table.columns) == list(before.columns)
    assert (table[new].isna() | (table[new] == "")).all().all()
    assert verify_campaign(bench.store.folder).problems == ()
