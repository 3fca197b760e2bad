"""The published figures of rekeying, reproduced where they hold, and where the documents disagree with themselves."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from scenes import CATALOGUE, CORE, suite

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.rekey_budget import flight_energy_j, overhead, rekey_energy_j, rekeys
from pqc_mav_policy.suite_cost import work_ms

PUBLISHED = Path(__file__).parent / "published"
FLIGHT_S, BUDGET_J, POWER_W = 1800.0, 7182.0, 3.99


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_energy_budget_of_document_000() -> None:
    assert pytest.approx(BUDGET_J) == POWER_W * FLIGHT_S
    for row in rows("rpi5_energy_budget_report.csv"):
        handshake_s, interval_s = float(row["handshake_ms"]) / 1000, float(row["rekey_interval_s"])
        assert rekeys(FLIGHT_S, interval_s) == int(row["rekeys"]) == 30
        # Printed to three digits; 2.016 J is printed where 3.99 W x 0.505 s are 2.015 J.
        assert rekey_energy_j(handshake_s, POWER_W) == pytest.approx(float(row["energy_per_rekey_J"]), rel=0.01)
        total = flight_energy_j(handshake_s, POWER_W, FLIGHT_S, interval_s)
        assert total == pytest.approx(float(row["energy_all_rekeys_J"]), rel=0.001)
        assert 100 * total / BUDGET_J == pytest.approx(float(row["fraction_of_budget_pct"]), rel=0.02)


def test_energy_budget_of_document_001_does_not_follow_from_its_own_handshakes() -> None:
    printed = {row["kem"]: float(row["energy_all_rekeys_J"]) for row in rows("rpi5_energy_budget_paper.csv")}
    handshakes = {row["kem"]: float(row["handshake_ms"]) / 1000 for row in rows("rpi5_rekey_overhead_paper.csv")}
    small = flight_energy_j(handshakes["ML-KEM-768"], POWER_W, FLIGHT_S, 60)
    large = flight_energy_j(handshakes["McEliece-8192128"], POWER_W, FLIGHT_S, 60)
    assert (printed["ML-KEM"], printed["McEliece-8192128"]) == (0.3, 433.0)
    assert small == pytest.approx(0.49, abs=0.005)
    assert large == pytest.approx(1101.2, abs=0.1)
    # 433 J would need 1.57 W, less than the drone's computer draws at rest.
    assert printed["McEliece-8192128"] / (30 * 9.2) == pytest.approx(1.57, abs=0.005)


def test_overhead_of_document_001() -> None:
    for row in rows("rpi5_rekey_overhead_paper.csv"):
        for interval in (60, 300, 3600):
            phi = 100 * overhead(float(row["handshake_ms"]) / 1000, interval)
            printed = float(row[f"phi_R{interval}s_pct"])
            if interval == 3600 and row["phi_R3600s_is_upper_bound"] == "1":
                assert phi < printed
            else:
                assert phi == pytest.approx(printed, rel=0.02, abs=0.0005)  # as printed


def test_overhead_of_document_000_where_it_divides_by_something_else() -> None:
    phi = 100 * overhead(0.505, 60)
    assert phi == pytest.approx(0.835, abs=0.001)
    # Printed 0.84 %: the handshake over the interval alone, not over both.
    share_of_interval = 100 * 0.505 / 60
    assert share_of_interval == pytest.approx(0.84, abs=0.005)
    printed = next(
        float(r["phi_pct"]) for r in rows("rpi5_rekey_overhead_report.csv") if r["kem"] == "McEliece-8192128"
    )
    assert printed == 0.84


def test_never_costs_nothing() -> None:
    assert overhead(9.2, 0.0) == 0.0
    assert rekeys(FLIGHT_S, 0.0) == 0
    assert flight_energy_j(9.2, POWER_W, FLIGHT_S, 0.0) == 0.0


def test_the_chain_keeps_level_5_and_gains_the_published_ratios() -> None:
    """[pqcmav-paper] IV-E: 635 times less time and 867 times less key by leaving McEliece for ML-KEM at level 5."""
    ladder = Ladder(CATALOGUE)
    chain = [CATALOGUE[suite("MC-8192-AG-MD-87")]]
    for _ in range(2):
        step = ladder.down(chain[-1].id, CORE)
        assert step is not None
        chain.append(CATALOGUE[step])
    assert [each.kem_token for each in chain] == ["classicmceliece8192128", "hqc256", "mlkem1024"]
    assert {each.level for each in chain} == {5}
    assert chain[0].public_key_bytes / chain[2].public_key_bytes == pytest.approx(866, abs=1)
    paper_ms = {"level 5": 9528.0, "ML-KEM-1024": 15.0}
    assert paper_ms["level 5"] / paper_ms["ML-KEM-1024"] == pytest.approx(635, abs=1)
    # By the primitives of [rpi5-report] it is a hundred and sixty: 9,528 ms is a mean over all suites of level 5.
    works = [work_ms(each.kem_token, each.sig_token) for each in chain]
    assert works[0] / works[2] == pytest.approx(163, abs=1)
    assert works == sorted(works, reverse=True)
