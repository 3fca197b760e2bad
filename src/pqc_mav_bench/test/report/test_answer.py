# SPDX-License-Identifier: Apache-2.0
"""The first pages: the answer comes with its uncertainty, or is not given."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pqc_mav_bench.report.answer import answer, asked, shortly
from pqc_mav_bench.report.blocks import COMPUTED, Notice
from pqc_mav_bench.report.link import LINKS
from pqc_mav_bench.report.numbers import MISSING


def test_each_use_has_its_suite_its_ties_and_its_interval(campaign):
    table, by_bytes = answer(campaign)
    rows = table.frame.set_index("For")
    assert rows.loc["default", "Use"].startswith("ML-768-")
    assert rows.loc["default", "or, not told apart"] == MISSING  # the other cipher is no standard
    assert " to " in rows.loc["default", "Handshake here"]
    assert "a tie" in " ".join(table.explanation.observations)
    assert by_bytes.origin == COMPUTED


def test_a_lower_level_is_recommended_only_if_its_handshake_surely_is_shorter(campaign):
    table = answer(campaign)[0]
    assert "stress" not in table.frame["For"].tolist(), "level 1 takes as long as level 3 in these runs"
    assert "For 'stress'" in " ".join(table.explanation.observations)
    quick = campaign.runs["nist_level"] == 1
    single = campaign.single.assign(
        handshake_ms=campaign.single["handshake_ms"].where(
            ~campaign.single["suite"].isin(campaign.runs.loc[quick, "suite"]), campaign.single["handshake_ms"] * 0.7
        )
    )
    rows = answer(replace(campaign, single=single))[0].frame.set_index("For")
    assert rows.loc["stress", "Level"] == "1"


def faster(c, stem, factor):
    """The campaign with the handshakes of the suites whose names begin so, times a factor."""
    single = c.single["handshake_ms"]
    named = c.single["suite"].str.match(stem)
    return replace(c, single=c.single.assign(handshake_ms=single.where(~named, factor * single)))


@pytest.mark.parametrize(
    ("factor", "end"), [(1.0, ", so a lower level gains nothing that was measured here."), (0.1, None)]
)
def test_a_draft_of_a_lower_level_that_surely_is_shorter_is_named(with_detectors, factor, end):
    alike = faster(with_detectors, "ML-512-.*-MD-44", 1.05)
    observed = answer(faster(alike, "ML-512-.*-FA-512", factor))[0].explanation.observations
    (said,) = (text for text in observed if text.startswith("For 'stress'"))
    than = "with published standards no handshake of that level is surely shorter than that of ML-768-AG-MD-65"
    quicker = re.search(r"; that of (ML-512-..-FA-512), no standard, is\.$", said)
    assert than in said
    assert said.endswith(than + end) if end else quicker, said


def test_the_fewest_handshakes_are_those_of_each_suite(with_detectors):
    first = with_detectors.single["suite"].iloc[0]
    few = with_detectors.single[(with_detectors.single["suite"] != first) | (with_detectors.single["number"] <= 20)]
    text = in_short_of(replace(with_detectors, single=few))["How sure"]
    assert "Each suite has at least 20 handshakes, and each pair of KEM and signature 3 runs;" in text
    assert "Within the level, 1 suite of published standards cannot be told apart from it." in text, (
        "without Ascon-128a"
    )


def test_what_a_pair_took_is_the_same_wherever_it_stands(with_detectors):
    """No suite of a pair is faster by the luck of its run, and its bytes are one number in text and tables."""
    suites = with_detectors.suites
    for column in ("handshake_ms", "handshake_bytes"):
        scope = ["kem", "sig"] if column == "handshake_bytes" else ["scenario", "kem", "sig"]
        assert (suites.groupby(scope)[column].nunique() == 1).all()
    own = with_detectors.runs[with_detectors.runs["scenario"] == "baseline"].groupby(["kem", "sig"])["handshake_ms"]
    shown = with_detectors.baseline.groupby(["kem", "sig"])["handshake_ms"].first()
    assert shown.to_dict() == pytest.approx(own.median().to_dict(), rel=1e-4)
    assert (shown > own.min()).all(), "nothing shows the luckiest of its runs"


def test_a_thin_link_is_judged_by_bytes(campaign):
    rows = answer(campaign)[1].frame
    assert rows["Fewest bytes"].tolist()[:3] == [
        "ML-KEM-512 with Falcon-512",
        "ML-KEM-768 with ML-DSA-65",
        "Classic-McEliece-8192128 with ML-DSA-87",
    ]
    assert rows["Handshake (B)"].iloc[0] == 900 + 800 + 800 + 655
    thin = LINKS[-1]
    assert rows[f"{thin.name} (s)"].iloc[0] == pytest.approx(0.2 + 8 * (3155 + 3 * 50) / 64_000)


def test_the_answer_in_short_says_which_suite_link_battery_and_how_sure(campaign, of_single_handshakes):
    html = shortly(campaign).html
    found = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html))
    assert list(found) == ["Which suite", "On which link", "With which battery", "With a detector", "How sure"]
    assert found["Which suite"].startswith("ML-768-")
    assert "95 % interval" in found["Which suite"]
    assert found["Which suite"].endswith(
        "Handshakes with Ascon-128a cannot be told apart from those with AES-256-GCM (95 % intervals within 1.00 to "
        "1.00 times): take any cipher."
    )
    assert "Classic-McEliece-8192128 is not for thin links" in found["On which link"]
    assert "no power sensor was present" in found["With which battery"]
    assert found["With a detector"].startswith("+ TST: handshakes take 1.50 times as long as without a detector")
    assert found["With a detector"].endswith("A documented load took the place of the detectors.")
    assert "Each suite has 30 handshakes" in found["How sure"]
    assert found["How sure"].endswith(
        "All times are those of one machine, over loopback without a radio: another processor shifts them and power "
        "was not measured."
    )
    assert shortly(of_single_handshakes) is None


def test_without_enough_handshakes_there_is_no_recommendation(of_single_handshakes):
    notice, _ = answer(of_single_handshakes)
    assert isinstance(notice, Notice)
    assert "one handshake of each" in asked(of_single_handshakes)[-1]


def test_what_was_asked_says_what_was_measured(campaign, paper):
    assert asked(campaign)[-1] == (
        "Measured: 12 suites, Baseline and + TST, over loopback, without a radio, 30 handshakes or more of each."
    )
    assert "nothing was measured" in asked(paper)[-1]


def in_short_of(c):
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", shortly(c).html))


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1.0, "That ML-KEM-768 is faster than HQC-192 is certain: by 5.3 times even from interval to interval."),
        (0.19, "That ML-KEM-768 is faster than HQC-192 is certain: by 1.0 times even from interval to interval."),
        (0.188, "ML-KEM-768 and HQC-192 cannot be told apart."),
    ],
)
def test_certain_is_what_holds_from_the_end_of_one_interval_to_the_next(with_detectors, factor, said):
    """HQC-192 takes 13.558 ms at least, ML-KEM-768 2.561 at most: 5.295 times as much."""
    single = with_detectors.single
    hqc = single["suite"].str.startswith("HQC-192")
    quick = single.assign(handshake_ms=single["handshake_ms"].where(~hqc, factor * single["handshake_ms"]))
    assert said in in_short_of(replace(with_detectors, single=quick))["How sure"]


def test_what_limits_the_answer_follows_the_runs(campaign):
    link = campaign.raw.assign(**{"run_context.link": "20 ms, 5 % loss"})
    found = in_short_of(replace(campaign, raw=link, runs=campaign.runs.assign(power_measured=1.0)))
    assert "one machine, whose ends a relay joined (20 ms, 5 % loss)" in found["How sure"]
    assert "power was not measured" not in found["How sure"]
    assert "no power was measured here" not in found["With which battery"]
    apart = replace(campaign, runs=campaign.runs.assign(same_host=0.0))
    assert "All times are those of two machines: " in in_short_of(apart)["How sure"]
    assert "over the network between two machines" in asked(apart)[-1]


def test_a_cipher_that_costs_is_not_called_free(campaign):
    runs = campaign.runs.copy()
    runs.loc[runs["aead"] == "Ascon-128a", "handshake_ms"] *= 1.2
    text = in_short_of(replace(campaign, runs=runs))["Which suite"]
    assert "With Ascon-128a handshakes take 1.20 times as long as with AES-256-GCM" in text
    assert "take any" not in text


def test_this_machines_times_are_never_multiplied_by_another_ones_watts(campaign):
    text = in_short_of(campaign)["With which battery"]
    assert text.startswith("That was not measured") and "Any" not in text
    assert "0.021 % with ML-KEM-768 + ML-DSA-65 (12.7 ms)" in text, "both of the Raspberry Pi 5, as published"
    assert not any("energy" in name for name in answer(campaign)[0].frame.columns)


def test_the_energy_of_a_measured_battery_says_that_it_is_modelled(campaign):
    sensed = replace(campaign, runs=campaign.runs.assign(power_measured=1.0))
    text = in_short_of(sensed)["With which battery"]
    assert text.startswith("With a rekey a minute") and "modelled" in text
