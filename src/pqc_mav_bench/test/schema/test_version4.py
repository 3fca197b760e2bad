# SPDX-License-Identifier: Apache-2.0
"""Campaigns recorded under schema version 4 load: what they have no value for says why, and their hashes hold."""

from __future__ import annotations

from support import before_version5, good_run

from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.schema import version3, version4
from pqc_mav_bench.schema.run import SCHEMA_VERSION, all_fields, parse_run
from pqc_mav_bench.verify import verify_run


def test_what_was_added_is_a_field_and_no_other_version_added_it():
    assert {field.path for field in all_fields()} >= version4.ADDED
    assert not version4.ADDED & version3.ADDED


def test_a_run_of_version_4_verifies_and_has_a_status_for_what_it_lacks():
    recorded = {**before_version5(good_run().model_dump(mode="json")), "schema_version": version4.VERSION}
    recorded["integrity"]["sha256"] = run_sha256(recorded)
    run, problems = verify_run(recorded, "metrics.json")
    assert problems == []
    assert run.schema_version == SCHEMA_VERSION
    assert run.latency_jitter.rtt_classes is None
    assert run.metric_status["latency_jitter.rtt_classes"].status == "not_applicable"
    assert parse_run(recorded).handshake.handshakes == 1
