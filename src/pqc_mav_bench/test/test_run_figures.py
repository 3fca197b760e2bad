# SPDX-License-Identifier: Apache-2.0
"""What becomes of both sides' measurements: metric_mapping, aggregator, sanity checks, statuses, verification."""

from __future__ import annotations

import copy
import re

import pytest
from support import DELAYS, OPTIONS, POWER, good_run, handshake, mavlink, measured, side

from pqc_mav_bench import metric_mapping, sanity
from pqc_mav_bench.aggregator import MetricsAggregator, OverwriteError, put
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.options import options_from
from pqc_mav_bench.relations import RELATIONS
from pqc_mav_bench.schema.run import all_fields, categories
from pqc_mav_bench.verify import verify_run


def bulk(sent: int, received: int, **changes: object) -> dict:
    return {
        "kind": "bulk", "sent": sent, "sent_s": 2.0, "sent_bytes": 256 * sent, "send_failed": 0, "skipped": 0,
        "received": received, "received_bytes": 256 * received, "duplicates": 0, "reordered": 0, "foreign": 0,
        "rtt": DELAYS, "owd": DELAYS, **changes,
    }  # fmt: skip


def document(run) -> dict:
    data = run.model_dump(mode="json")
    data["integrity"]["sha256"] = run_sha256(data)
    return data


def test_both_sides_end_up_in_their_fields():
    run = good_run()
    assert (run.handshake.handshake_ms, run.handshake.gcs_handshake_ms) == (12.0, 12.0)
    assert (run.data_plane.plain_rx_packets, run.data_plane.gcs_plain_rx_packets) == (160, 150)
    assert (run.mavlink_integrity.expected_down, run.mavlink_integrity.received_down) == (160, 160)
    assert (run.workload.sent_packets, run.workload.lost_packets) == (310, 0)
    assert run.rekey.phi == pytest.approx(0.012 / 60.012)
    assert (run.rekey.rekey_count, run.rekey.rekey_ms) == (1, 13.0)
    assert run.power_energy.energy_per_bit_nj == pytest.approx(POWER["power_mean_w"] * 1e9 / (8 * 40 * 310 / 0.5))
    assert run.system_gcs.tunnel_cpu_percent == 2.0
    assert run.crypto_identity.kem_nist_level == 3
    assert run.run_context.host == "test machine"
    assert run.validation.passed
    assert run.findings == []
    assert verify_run(document(run), "x")[1] == []


def test_whether_the_governor_was_pinned_is_in_the_run_for_each_end():
    def one_end(drone, ground):
        for end, role, pinned in ((drone, "drone", True), (ground, "gcs", False)):
            end.changes = {"system": {**side("cs-a", role)["system"], "governor_pinned": pinned}}

    run = good_run(prepare=one_end)
    assert (run.system_drone.governor_pinned, run.system_gcs.governor_pinned) == (True, False)
    assert run.metric_status["system_gcs.governor_pinned"].status == "zero_by_nature"
    assert verify_run(document(run), "x")[1] == []


def test_ratchets_are_counted_and_in_no_figure_of_a_handshake():
    full = handshake("cs-a", handshake_ms=12.0)
    short = handshake("cs-a", kind="ratchet", handshake_ms=1.0, signature_bytes=0)
    failed = {**short, "ok": False}
    assert metric_mapping.latest([full, short, failed], "cs-a") is full
    assert metric_mapping.latest([short, failed], "cs-a") is None
    aggregator = MetricsAggregator()
    aggregator.record_ratchets([full, short, failed, handshake("cs-a", kind="ratchet_plain")])
    aggregator.record_handshake(full)
    assert (aggregator.run.rekey.ratchets, aggregator.run.handshake.kind) == (2, "rekey")


def test_a_primitive_is_there_only_at_the_end_that_runs_it():
    primitives = good_run().crypto_primitives
    assert primitives.kem_keygen_ms is None
    assert primitives.gcs_kem_keygen_ms == 0.25
    assert primitives.kem_encaps_ms == 0.25
    assert primitives.gcs_kem_encaps_ms is None
    assert primitives.sig_sign_ms is None
    assert primitives.primitives_ms == pytest.approx(9 * 0.25)
    signed = metric_mapping.primitives(handshake("x", drone_signature_bytes=3309), "drone")
    assert signed["sig_sign_ms"] == 0.25


def pooled(_drone, ground):
    ground.changes = {"handshakes": [handshake("cs-a", role="gcs", keygen_pooled=True, kem_keygen_ms=0.0)]}


def test_a_key_pair_out_of_the_pool_has_a_status_and_no_time():
    run, _ = measured(prepare=pooled, options=options_from({**OPTIONS.model_dump(), "key_pool": True}))
    assert run.lifecycle.success
    assert run.crypto_primitives.gcs_kem_keygen_ms is None
    assert (run.crypto_primitives.gcs_keygen_pooled, run.crypto_primitives.gcs_pooled_handshakes) == (True, 1)
    assert run.metric_status["crypto_primitives.gcs_kem_keygen_ms"].status == "pooled"
    assert run.handshake.gcs_samples_ms["kem_keygen_ms"] == [None]
    assert verify_run(document(run), "x")[1] == []


def test_a_run_with_key_pairs_out_of_the_pool_fails_where_the_pool_is_said_to_be_off():
    run = good_run(prepare=pooled)
    assert (run.lifecycle.success, run.lifecycle.failure_phase) == (False, "traffic")
    assert "In 1 of 1 handshakes the ground's proxy took a key pair" in run.lifecycle.failure_reason
    assert "pqcmav up gcs --key-pool-depth 0" in run.lifecycle.failure_reason
    assert good_run().crypto_primitives.gcs_pooled_handshakes == 0


@pytest.mark.parametrize("end", ["drone", "ground"])
@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ([["cs-a", 3], ["cs-low", 4]], r"it went to cs-a \(epoch 3\), then cs-low \(epoch 4\)"),
        ([["cs-a", 3], ["cs-low", 4], ["cs-a", 5]], "did not stay with the suite"),
        ([["cs-a", 2], ["cs-a", 3]], "did not stay with the suite"),
        ([["cs-low", 2], ["cs-a", 3]], "did not stay with the suite"),
        ([["cs-low", 3]], "did not stay with the suite"),
        ([], "reported no change to cs-a"),
    ],
)
def test_a_run_whose_keys_somebody_else_changed_fails_on_either_end(end, keys, why):
    def changed(drone, ground):
        (drone if end == "drone" else ground).changes = {"keys": keys}

    run = good_run(prepare=changed)
    assert run.lifecycle.success is False
    assert run.lifecycle.failure_phase == "traffic"
    assert re.search(why, run.lifecycle.failure_reason)
    assert f"The {end}'s proxy" in run.lifecycle.failure_reason


def test_the_published_status_of_a_value_the_drone_cannot_measure():
    status = good_run().metric_status["crypto_primitives.kem_keygen_ms"]
    assert (status.status, status.reason) == ("unavailable", "GCS-side operation; not measured on drone")


@pytest.mark.parametrize("failed", [False, True])
def test_every_missing_value_has_a_status_and_no_present_one_says_unavailable(failed):
    def prepare(drone, _ground):
        if failed:
            drone.refuses = {"cs-a": "no"}

    run = good_run(prepare=prepare)
    for field in all_fields():
        status = run.metric_status.get(field.path)
        if run.value(field.path) is None:
            assert status is not None, field.path
        elif status is not None:
            assert status.status in ("zero_by_nature", "anomalous", "modelled", "emulated"), field.path


def test_the_merge_overwrites_nothing():
    category = categories()["handshake"](handshake_ms=1.0)
    put(category, {"handshake_ms": 1.0, "gcs_handshake_ms": 2.0, "reason": None})
    with pytest.raises(OverwriteError, match=r"handshake_ms is 1\.0 already"):
        put(category, {"handshake_ms": 3.0})


def test_power_of_a_model_is_labelled_and_without_a_sensor_is_unavailable():
    def model(drone, _ground):
        drone.power_figures = {**drone.power_figures, "power_source": "model", "measured": False, "voltage_v": None}

    run = good_run(prepare=model)
    assert run.metric_status["power_energy.energy_j"].status == "modelled"
    assert "the source 'model' does not give it" in run.metric_status["power_energy.voltage_v"].reason

    def none(drone, _ground):
        drone.power_figures = {}

    run = good_run(prepare=none)
    assert run.power_energy.energy_j is None
    assert run.metric_status["power_energy.energy_j"].status == "unavailable"


def test_an_emulated_scenario_says_so():
    emulated = options_from({**OPTIONS.model_dump(), "emulate_detectors": True})
    run, _ = measured(scenario="tst", options=emulated)
    assert (run.workload.scenario_load, run.workload.scenario_load_memory_mib) == ("emulated", 489)
    assert run.metric_status["workload.scenario_load"].status == "emulated"
    real, _ = measured(scenario="tst")
    assert (real.workload.scenario_load, real.workload.scenario_load_memory_mib) == ("detector", None)
    assert "system_drone.load_rss_mib" in real.metric_status["workload.scenario_load_memory_mib"].reason
    assert "workload.scenario_load" not in real.metric_status


def test_the_bulk_workload_has_goodput_loss_and_its_interval():
    options = options_from({**OPTIONS.model_dump(), "workload": {"kind": "bulk", "direction": "up"}})
    sides = bulk(0, 7700), bulk(7800, 0)
    values = metric_mapping.workload(options.workload, *sides)
    assert values["lost_packets"] == 100
    assert values["loss_wilson_low"] < values["loss_ratio"] < values["loss_wilson_high"]
    assert values["goodput_mbps"] == pytest.approx(7700 * 256 * 8 / 2.0 / 1e6)
    assert values["goodput_ratio"] == pytest.approx(values["goodput_mbps"] / 8)
    both = options_from({"workload": {"kind": "bulk", "direction": "both"}}).workload
    assert metric_mapping.workload(both, bulk(100, 90), bulk(100, 100))["goodput_mbps"] == pytest.approx(
        95 * 2048 / 2 / 1e6
    )


def test_the_distribution_of_delays_is_kept_with_the_shares_that_control_may_take():
    latency = good_run().latency_jitter
    assert latency.rtt_classes == {"0.4": 30, "1": 18, "2": 2}
    assert (latency.rtt_within_20ms_ratio, latency.owd_up_within_20ms_ratio) == (1.0, 1.0)
    assert latency.owd_down_classes == latency.rtt_classes


def test_one_way_delays_are_corrected_for_the_clocks():
    raw = {**DELAYS, "mean_ms": 1000.5, "p50_ms": 1000.4, "p95_ms": 1000.9, "p99_ms": 1001.5, "max_ms": 1002.0}
    back = {**DELAYS, "mean_ms": -999.5, "p50_ms": -999.6, "p95_ms": -999.1, "p99_ms": -998.5, "max_ms": -998.0}
    values = metric_mapping.latency(bulk(1, 1, owd=back), bulk(1, 1, owd=raw), offset_ms=1000.0, shared_clock=False)
    assert values["owd_down_p50_ms"] == pytest.approx(0.4)
    assert values["owd_up_p50_ms"] == pytest.approx(0.4)
    same = metric_mapping.latency(bulk(1, 1), bulk(1, 1), offset_ms=0.2, shared_clock=True)
    assert same["owd_down_p50_ms"] == 0.4


FAULTS = [
    ("bench_busy", "warning", lambda d, g: g.changes.update(
        system={**side("x", "gcs")["system"], "bench_cpu_percent": 11.0})),
    ("mavlink_no_messages", "error", lambda d, g: g.changes.update(workload=mavlink(150, 0))),
    ("mavlink_latency_invalid", "error", lambda d, g: (
        g.changes.update(workload=mavlink(150, 160, rtt={**DELAYS, "count": 0})),
        d.changes.update(workload=mavlink(160, 150, rtt={**DELAYS, "count": 0})))),
    ("mavlink_latency_invalid", "error", lambda d, g: g.changes.update(
        workload=mavlink(150, 160, owd={**DELAYS, "p50_ms": -3.0}))),
    ("data_plane_no_traffic", "error", lambda d, g: (
        d.changes.update(counters={**side("x", "drone")["counters"], "delivered": 0, "control": 155}),
        g.changes.update(counters={**side("x", "gcs")["counters"], "delivered": 0, "control": 165}))),
    ("counters_unbalanced", "error", lambda d, g: d.changes.update(
        counters={**side("x", "drone")["counters"], "enc_rx_packets": 200})),
    ("unexpected_drops", "warning", lambda d, g: d.changes.update(
        counters={**side("x", "drone")["counters"], "drop_replay": 2, "enc_rx_packets": 157})),
    ("sides_disagree", "error", lambda d, g: g.changes.update(epoch=4, keys=[["cs-a", 4]])),
    ("packets_lost", "warning", lambda d, g: g.changes.update(workload=mavlink(150, 150))),
    ("more_received_than_sent", "error", lambda d, g: g.changes.update(workload=mavlink(150, 170))),
    ("generator_behind", "warning", lambda d, g: g.changes.update(workload=mavlink(150, 160, skipped=50))),
    ("machine_busy", "warning", lambda d, g: d.changes.update(
        system={**side("x", "drone")["system"], "cpu_mean_percent": 90.0, "cpu_peak_percent": 95.0})),
    ("handshake_missing", "error", lambda d, g: d.changes.update(handshakes=[])),
    ("number_impossible", "error", lambda d, g: d.changes.update(
        system={**side("x", "drone")["system"], "memory_mean_mib": -1.0})),
]  # fmt: skip


@pytest.mark.parametrize("name, severity, fault", FAULTS)
def test_each_check_finds_its_fault_and_marks_the_fields(name, severity, fault):
    run = good_run(prepare=fault)
    found = [finding for finding in run.findings if finding.name == name]
    assert found
    assert found[0].severity == severity
    assert run.validation.passed == (severity == "warning")
    for path in found[0].fields:
        assert path in run.metric_status
    if hasattr(run.validation, name):
        assert getattr(run.validation, name) is True


def test_a_missing_ground_side_is_found_and_each_of_its_values_explained():
    fresh = MetricsAggregator()
    fresh.start_suite({"suite_id": "cs-a", "scenario": "baseline"}, {})
    fresh.record_drone(side("cs-a", "drone"))
    fresh.record_data_plane(side("cs-a", "drone")["counters"])
    fresh.record_handshake(handshake("cs-a"))
    fresh.record_workload(OPTIONS.workload, "none", 0.0)
    fresh.record_lifecycle({"success": True})
    run = fresh.finalize_suite(None, OPTIONS.workload)
    assert "gcs_side_missing" in {finding.name for finding in run.findings}
    assert not run.validation.passed
    assert "did not report" in run.metric_status["data_plane.gcs_delivered"].reason


def test_every_check_is_tried_in_these_tests():
    tried = {name for name, *_ in FAULTS} | {
        "handshake_timeout", "handshake_auth_fail", "gcs_side_missing", "clocks_apart",
        "counters_disagree",  # test_external.py
    }  # fmt: skip
    named = {"side_missing": "gcs_side_missing", "numbers_impossible": "number_impossible"}
    assert {named.get(check.__name__, check.__name__) for check in sanity.CHECKS} <= tried


def test_a_handshake_that_timed_out_is_found():
    def late(drone, _ground):
        drone.refuses = {"cs-a": "The handshake did not finish within 45 s."}
        drone.reports = [handshake("cs-a", ok=False, error="timeout", reason="too slow", handshake_ms=45_001.0)]

    run = good_run(prepare=late)
    assert run.validation.handshake_timeout
    assert run.handshake.timeout
    assert run.handshake.ok is False
    assert run.rekey.rekeys_failed == 1


@pytest.mark.parametrize(
    "error", ["unknown_drone", "bad_gate", "bad_signature", "bad_drone_signature", "bad_confirm", "weak_key"]
)
def test_a_handshake_that_failed_to_authenticate_is_found(error):
    def refused(drone, _ground):
        drone.refuses = {"cs-a": "The handshake failed."}
        drone.reports = [handshake("cs-a", ok=False, error=error, reason="refused")]

    assert "handshake_auth_fail" in {finding.name for finding in good_run(prepare=refused).findings}


def test_the_number_of_checks_is_stored():
    assert good_run().validation.checks == len(sanity.CHECKS)


TAMPERED = [
    ("phi_of_handshake", lambda d: d["rekey"].update(phi=0.5)),
    ("phi_of_handshake", lambda d: d["handshake"].update(handshake_ms=11.0)),
    ("lifecycle_adds_up", lambda d: d["lifecycle"].update(wall_per_data=1.0)),
    ("rekeys_add_up", lambda d: d["rekey"].update(rekeys_ok=2)),
    ("primitives_add_up", lambda d: d["crypto_primitives"].update(kdf_ms=9.0)),
    ("medians_are_of_the_samples", lambda d: d["handshake"]["samples_ms"].update(handshake_ms=[11.0])),
    ("medians_are_of_the_samples", lambda d: d["handshake"]["gcs_samples_ms"].update(sig_sign_ms=[9.0])),
    ("medians_are_of_the_samples", lambda d: d["handshake"]["samples_ms"].update(kdf_ms=[None])),
    ("pooled_key_pairs_are_counted", lambda d: d["crypto_primitives"].update(gcs_pooled_handshakes=1)),
    ("pooled_key_pairs_are_counted", lambda d: d["crypto_primitives"].update(gcs_keygen_pooled=True)),
    ("pooled_key_pairs_are_counted", lambda d: d["handshake"]["gcs_samples_ms"].update(kem_keygen_ms=[None])),
    ("losses_add_up", lambda d: d["workload"].update(received_packets=300)),
    ("losses_add_up", lambda d: d["workload"].update(loss_wilson_high=0.5)),
    ("losses_add_up", lambda d: d["mavlink_integrity"].update(received_up=1)),
    ("counters_add_up", lambda d: d["data_plane"].update(gcs_delivered=1)),
    ("counters_add_up", lambda d: d["data_plane"].update(enc_tx_bytes=1)),
    ("window_adds_up", lambda d: d["data_plane"].update(window_skipped=2)),
    ("window_adds_up", lambda d: d["data_plane"].update(gcs_window_deepest=3)),
    ("window_classes_are_whole", lambda d: d["data_plane"]["window_classes"].update({"1": 1})),
    ("window_classes_are_whole", lambda d: d["data_plane"].update(gcs_window_deepest=3)),
    ("energy_is_power_times_time", lambda d: d["power_energy"].update(energy_j=3.0)),
    ("energy_is_power_times_time", lambda d: d["power_energy"].update(energy_per_bit_nj=1.0)),
    ("percentiles_are_ordered", lambda d: d["latency_jitter"].update(rtt_p95_ms=0.1)),
    ("percentiles_are_ordered", lambda d: d["system_drone"].update(cpu_peak_percent=1.0)),
    ("distributions_are_whole", lambda d: d["latency_jitter"]["rtt_classes"].update({"1": 17})),
    ("distributions_are_whole", lambda d: d["latency_jitter"].update(rtt_within_20ms_ratio=0.5)),
    ("missing_values_are_explained", lambda d: d["metric_status"].pop("crypto_primitives.kem_keygen_ms")),
    ("verdict_matches", lambda d: d["data_plane"].update(gcs_delivered=1)),
]  # fmt: skip


@pytest.mark.parametrize("name, change", TAMPERED)
def test_arithmetic_that_does_not_hold_is_found_even_when_signed_anew(name, change):
    data = copy.deepcopy(document(good_run()))
    change(data)
    data["integrity"]["sha256"] = run_sha256(data)
    problems = {problem.name for problem in verify_run(data, "x")[1]}
    assert name in problems
    assert "hash" not in problems


def test_every_relation_is_tried_above():
    assert {relation.__name__ for relation in RELATIONS} == {name for name, _ in TAMPERED}
