# SPDX-License-Identifier: Apache-2.0
"""Several handshakes in one run: renewals in place, medians with intervals, and every single time kept."""

from __future__ import annotations

from statistics import median

import pytest
from support import OPTIONS, Bench, FakeDrone, FakeGround, handshake, measured

from pqc_mav_bench import export, handshake_table
from pqc_mav_bench.options import options_from
from pqc_mav_bench.rekey_result import RekeyResult
from pqc_mav_bench.verify import verify_campaign

COUNT = 8
RENEWING = options_from({**OPTIONS.model_dump(), "handshakes": COUNT})
TIMES = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 99.0]


def reports(suite: str, role: str, count: int = COUNT) -> list[dict]:
    return [
        handshake(suite, role=role, epoch=3 + index, handshake_ms=TIMES[index % COUNT], sig_sign_ms=index / 10)
        for index in range(count)
    ]


def renewing(drone: FakeDrone, ground: FakeGround) -> None:
    keys = [["cs-a", 3 + index] for index in range(COUNT)]
    for end, role in ((drone, "drone"), (ground, "gcs")):
        end.changes = {"handshakes": reports("cs-a", role), "keys": keys, "epoch": 2 + COUNT}


def test_times_are_medians_and_every_one_is_kept():
    run, _ = measured("cs-a", renewing, RENEWING)
    shown = run.handshake
    assert run.lifecycle.success
    assert (shown.handshakes, shown.handshake_ms) == (COUNT, median(TIMES))
    assert (shown.handshake_low_ms, shown.handshake_high_ms) == (10.0, 99.0)  # ranks 1 and 8 of 8
    assert shown.samples_ms is not None
    assert shown.samples_ms["handshake_ms"] == TIMES
    assert "kem_keygen_ms" not in shown.samples_ms, "the drone makes no key pair"
    assert run.crypto_primitives.gcs_sig_sign_ms == pytest.approx(0.35)
    assert (run.rekey.rekey_count, run.rekey.rekeys_ok, run.rekey.rekey_ms) == (COUNT, COUNT, 13.0)
    assert run.validation.passed


def some_pooled(drone: FakeDrone, ground: FakeGround) -> None:
    """The first handshake finds the pool empty, and so does one that comes too soon after another."""
    renewing(drone, ground)
    for index, report in enumerate(ground.changes["handshakes"]):
        made = index in (0, 5)
        report.update(keygen_pooled=not made, kem_keygen_ms=0.5 + index if made else 0.0)


def test_key_pairs_out_of_the_pool_are_counted_and_are_no_times(tmp_path):
    with_pool = options_from({**RENEWING.model_dump(), "key_pool": True})
    bench = Bench(tmp_path / "root", options=with_pool, suites=("cs-a",))
    some_pooled(bench.drone, bench.ground)
    assert bench.run()
    run = bench.store.load_run(bench.schedule.items[0])
    shown, status = run.crypto_primitives, run.metric_status["crypto_primitives.gcs_kem_keygen_ms"]
    assert (shown.gcs_keygen_pooled, shown.gcs_pooled_handshakes, shown.gcs_kem_keygen_ms) == (True, 6, 3.0)
    assert (status.status, status.reason.split(" came")[0]) == ("pooled", "6 key pairs")
    assert run.handshake.gcs_samples_ms is not None
    assert run.handshake.gcs_samples_ms["kem_keygen_ms"] == [0.5, None, None, None, None, 5.5, None, None]
    table = handshake_table.read(bench.store.folder).set_index("number")["gcs_kem_keygen_ms"]
    assert table.dropna().to_dict() == {1: 0.5, 6: 5.5}, "each beside its own handshake"
    assert verify_campaign(bench.store.folder).problems == ()
    export.export(bench.store, tmp_path / "out")
    assert verify_campaign(tmp_path / "out").problems == ()


def test_a_pool_that_is_used_in_some_handshakes_fails_the_run_of_a_plan_without_it():
    run, _ = measured("cs-a", some_pooled, RENEWING)
    assert run.lifecycle.success is False
    assert f"In 6 of {COUNT} handshakes the ground's proxy took a key pair" in (run.lifecycle.failure_reason or "")


def test_few_handshakes_have_no_interval_and_the_run_says_why():
    run, _ = measured("cs-a")
    assert (run.handshake.handshakes, run.handshake.handshake_low_ms) == (1, None)
    assert "fewer than six" in run.metric_status["handshake.handshake_low_ms"].reason


@pytest.mark.parametrize("end", ["drone", "gcs"])
def test_one_that_nobody_asked_for_fails_the_run(end):
    def one_more(drone, ground):
        renewing(drone, ground)
        side = drone if end == "drone" else ground
        side.changes["handshakes"] = reports("cs-a", end, COUNT + 1)
        side.changes["keys"] = [["cs-a", 3 + index] for index in range(COUNT + 1)]
        side.changes["epoch"] = 3 + COUNT

    run, _ = measured("cs-a", one_more, RENEWING)
    assert run.lifecycle.success is False
    assert f"made {COUNT + 1} handshakes of the run's suite, cs-a, and {COUNT} were asked for" in (
        run.lifecycle.failure_reason or ""
    )


def test_a_ratchet_between_renewals_fails_the_run():
    def ratcheted(drone, ground):
        renewing(drone, ground)
        drone.changes["keys"] = [*drone.changes["keys"], ["cs-a", 77]]
        drone.changes["epoch"] = 77

    run, _ = measured("cs-a", ratcheted, RENEWING)
    assert run.lifecycle.success is False


def test_renewals_that_fail_are_counted_and_too_many_end_the_run():
    def failing(times: int):
        def prepare(drone, ground):
            renewing(drone, ground)
            answers = [RekeyResult(True, 13.0, ""), *[RekeyResult(False, 0.0, "Time is up.")] * times]
            drone.rekey = lambda _suite: answers.pop(0) if answers else RekeyResult(True, 13.0, "")

        return prepare

    borne, _ = measured("cs-a", failing(1), RENEWING)
    assert (borne.lifecycle.success, borne.rekey.rekeys_failed, borne.rekey.rekeys_ok) == (True, 1, COUNT)
    ended, _ = measured("cs-a", failing(2), RENEWING)
    assert (ended.lifecycle.success, ended.lifecycle.failure_phase) == (False, "renew")
    assert "Time is up." in (ended.lifecycle.failure_reason or "")


def test_the_table_of_single_handshakes_is_exported_and_verified(tmp_path):
    bench = Bench(tmp_path / "root", options=RENEWING, suites=("cs-a",))
    renewing(bench.drone, bench.ground)
    assert bench.run()
    table = handshake_table.read(bench.store.folder)
    assert table["handshake_ms"].tolist() == TIMES
    assert table["number"].tolist() == list(range(1, COUNT + 1))
    assert {"gcs_sig_sign_ms", "sig_verify_ms"} <= set(table.columns)
    assert verify_campaign(bench.store.folder).problems == ()
    export.export(bench.store, tmp_path / "out")
    assert verify_campaign(tmp_path / "out").problems == ()
    changed = table.assign(handshake_ms=table["handshake_ms"] + 1)
    for folder, compressed in ((bench.store.folder, False), (tmp_path / "out", True)):
        handshake_table.write(changed, folder, compressed=compressed)
        assert {problem.name for problem in verify_campaign(folder).problems} == {"handshakes"}
