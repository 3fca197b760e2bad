# SPDX-License-Identifier: Apache-2.0
"""Two analyses that share no code come to the same conclusions about the committed campaign."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from second_look import rules
from second_look.look import Answers, answer, said

from pqc_mav_bench.analysis.detector_effect import Effect, cipher_effects, effects, family_effects
from pqc_mav_bench.analysis.intervals import tied_with_the_least
from pqc_mav_bench.analysis.recommend import recommend
from pqc_mav_bench.report.report_input import ReportInput, load

CAMPAIGN = Path(__file__).resolve().parents[1] / "results" / "campaign-scenarios"


@pytest.fixture(scope="module")
def first() -> ReportInput:
    return load(CAMPAIGN, links=False)


@pytest.fixture(scope="module")
def second() -> Answers:
    return answer(CAMPAIGN)


def printed(pair: tuple[str, str]) -> tuple[str, str]:
    """As the tables call the algorithms of a pair."""
    return pair[0], pair[1].replace("SPHINCS+-", "SPHINCS+-SHA2-")


def test_each_pair_takes_as_long(first: ReportInput, second: Answers) -> None:
    rows = first.baseline.drop_duplicates(["kem", "sig"]).set_index(["kem", "sig"])
    rows.index = rows.index.map(printed)
    assert set(rows.index) == set(second.handshakes) and len(rows) == 24
    for pair, own in second.handshakes.items():
        row = rows.loc[pair]
        assert own.figure == pytest.approx(row["handshake_ms"], rel=1e-6)
        # The few-runs' factor is a table there and drawn here.
        assert (own.low, own.high) == pytest.approx((row["handshake_low_ms"], row["handshake_high_ms"]), rel=0.02)


def test_the_same_pairs_tie_at_each_level(first: ReportInput, second: Answers) -> None:
    for level, pairs in second.shortest.items():
        tied = tied_with_the_least(first.baseline[first.baseline["nist_level"] == level])
        assert pairs == set(map(printed, zip(tied["kem"], tied["sig"], strict=True))), level


def test_no_lower_level_is_recommended_by_either(first: ReportInput, second: Answers) -> None:
    choices = {choice.use: choice for choice in recommend(first.baseline)}
    assert second.lower_level[1, 3] is (not choices["stress"].as_long) is False


def same(second: dict[str, tuple[rules.Paired, float]], theirs: dict[str, Effect]) -> None:
    assert set(second) == set(theirs)
    for name, (found, p) in second.items():
        effect = theirs[name]
        assert (p < rules.ALPHA) == effect.told_apart, name
        assert found.pairs == effect.pairs
        own = found.ratio.figure, found.ratio.low, found.ratio.high
        assert own == pytest.approx((effect.ratio, effect.low, effect.high), rel=1e-5), name


def test_detectors_change_the_same(first: ReportInput, second: Answers) -> None:
    same(second.detectors, {each.scenario: each for each in effects(first.passed)})
    kinds = family_effects(first.passed)
    same(second.families, {f"{kind} {each.scenario}": each for kind, found in kinds.items() for each in found})


def test_ciphers_change_the_same(first: ReportInput, second: Answers) -> None:
    same(
        second.ciphers,
        {each.scenario: each for each in cipher_effects(first.passed[first.passed["scenario"] == first.main_scenario])},
    )


def test_nothing_was_lost(second: Answers) -> None:
    assert {name: lost for name, (lost, _, _) in second.lost.items()} == {"baseline": 0, "tst": 0, "xgboost": 0}
    assert "  tst: 1.000 (0.987 to 1.011), p 0.9888, N 24: not told apart" in list(said(second))


def made(folder: Path, runs: list[tuple[str, str, str, float]]) -> Path:
    """A campaign of runs: scenario, status, KEM, and the time of the only handshake; each lost 5 of 10 packets."""
    (folder / "campaign.json").write_text("{}")
    identity = ("kem_algorithm", "sig_algorithm", "kem_family", "aead_algorithm", "kem_nist_level")
    names = [*(f"crypto_identity.{name}" for name in identity), "workload.lost_packets", "workload.sent_packets"]
    table = [",".join(["scenario", "suite", "repetition", "status", *names])]
    times = ["scenario,suite,repetition,number,handshake_ms"]
    for scenario, status, kem, ms in runs:
        table.append(f"{scenario},{kem},1,{status},{kem},s,{kem.rstrip('0123456789')},AES-256-GCM,1,5,10")
        times.append(f"{scenario},{kem},1,1,{ms}")
    (folder / "tidy.csv").write_text("\n".join(table))
    (folder / "handshakes.csv").write_text("\n".join(times))
    return folder


def test_packets_of_a_run_that_failed_are_left_out_with_it(tmp_path: Path) -> None:
    found = answer(made(tmp_path, [("baseline", "passed", "A1", 1.0), ("baseline", "failed", "A2", 1.0)]))
    assert found.left_out == ["baseline/A2/1"]
    assert found.lost["baseline"][:2] == (5, 10)


def test_too_few_pairs_are_no_comparison_and_count_for_none(tmp_path: Path) -> None:
    """Six of one family, five of another, and a third that has none in common."""
    kems = [*(f"A{i}" for i in range(6)), *(f"B{i}" for i in range(5))]
    runs = [(scenario, "passed", kem, 1.0 + i) for scenario in ("baseline", "tst") for i, kem in enumerate(kems)]
    found = answer(made(tmp_path, [*runs, ("baseline", "passed", "C0", 1.0), ("tst", "passed", "D0", 1.0)]))
    assert list(found.families) == ["A tst"] and list(found.detectors) == ["tst"]
    assert found.families["A tst"][1] == found.families["A tst"][0].p, "corrected for one comparison"


def test_the_rules_are_those_of_their_definitions() -> None:
    six = rules.of_runs([1, 2, 3, 4, 5, 6])
    assert (six.figure, six.low, six.high) == (3.5, 1, 6), "1 - 2 / 64 = 0.969"
    assert math.isnan(rules.of_runs([2.0]).low)
    # All of six differences on one side: 2 / 2^6.
    assert rules.wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).p == pytest.approx(0.03125)
    assert rules.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    # Newcombe, 1998: 15 of 148.
    share = rules.wilson(15, 148)
    assert (share.low, share.high) == pytest.approx((0.0624, 0.1605), abs=5e-5)
