# SPDX-License-Identifier: Apache-2.0
"""The total order of cost and the published tier."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest
from scenes import CATALOGUE, CORE, suite

from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suite_order import (
    SuiteOrder,
    cost_key,
    max_published_tier,
    octave,
    published_key,
    published_tier,
)

# [pqcmav-paper] Eq. 4, written out: level, family, AEAD -> tier.
PUBLISHED = Path(__file__).parent / "published" / "derived_tier_function_27.csv"
FAMILY = {"ML-KEM": "ML-KEM", "HQC": "HQC", "McEliece": "Classic-McEliece"}
AEAD = {"AES-256-GCM": "aesgcm", "ChaCha20-Poly1305": "chacha20poly1305", "Ascon-128a": "ascon128a"}


def test_published_tiers_are_reproduced_for_all_27_triples_and_their_72_suites() -> None:
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 27
    seen = 0
    for row in rows:
        members = [
            CATALOGUE[name]
            for name in CORE
            if CATALOGUE[name].level == int(row["nist_level"])
            and CATALOGUE[name].kem_family == FAMILY[row["kem_family"]]
            and CATALOGUE[name].aead_token == AEAD[row["aead"]]
        ]
        assert len(members) == int(row["suites_with_this_tier_triple"])
        assert {published_tier(member) for member in members} == {int(row["tier"])}
        seen += len(members)
    assert seen == 72
    assert max_published_tier() == 27


def test_published_tier_is_no_total_order_as_the_document_claims() -> None:
    triples = {(s.level, s.kem_family, s.aead_token): published_tier(s) for s in (CATALOGUE[name] for name in CORE)}
    assert len(triples) == 27
    assert len(set(triples.values())) == 24
    for level in (1, 3, 5):
        assert triples[level, "HQC", "ascon128a"] == triples[level, "Classic-McEliece", "aesgcm"]


def test_published_tier_ignores_the_signature_and_knows_no_frodokem() -> None:
    assert published_tier(CATALOGUE[suite("ML-512-AG-SP-128s")]) == published_tier(CATALOGUE[suite("ML-512-AG-FA-512")])
    frodo = [s for s in CATALOGUE.values() if s.kem_family == "FrodoKEM"]
    assert frodo
    assert {published_tier(s) for s in frodo} == {None}


@pytest.mark.parametrize("name", ["cost", "published"])
def test_both_orders_are_total(name: str) -> None:
    order = SuiteOrder(CATALOGUE.values(), name)  # type: ignore[arg-type]
    assert sorted(order.rank(s.id) for s in CATALOGUE.values()) == list(range(len(CATALOGUE)))
    key = cost_key if name == "cost" else published_key
    assert all(key(a) < key(b) for a, b in pairwise(order.suites))


def test_lightest_suite_is_the_published_degradation_target() -> None:
    order = SuiteOrder(CATALOGUE.values())
    assert order.lightest(CORE) == "cs-mlkem512-aesgcm-falcon512"
    assert order.lightest(["cs-unknown"]) is None


def test_order_follows_the_cost_of_the_handshake_by_octaves() -> None:
    order = SuiteOrder(CATALOGUE.values())
    works = [work_ms(s.kem_token, s.sig_token) for s in order.suites]
    # An octave apart may never be the wrong way round.
    assert all(later > earlier / 2 for earlier, later in pairwise(works) if later > 4)
    assert [octave(s) for s in order.suites] == sorted(octave(s) for s in order.suites)


def test_the_first_octave_ends_at_4_ms() -> None:
    for each in CATALOGUE.values():
        work = work_ms(each.kem_token, each.sig_token)
        assert octave(each) == sum(work > 4.0 * 2**n for n in range(20))
    assert octave(CATALOGUE[suite("ML-512-AG-FA-512")]) == 0


def test_outside_the_published_tiers_the_level_comes_first() -> None:
    order = SuiteOrder(CATALOGUE.values(), "published")
    levels = [each.level for each in order.suites if published_tier(each) is None]
    assert len(set(levels)) == 3 and levels == sorted(levels)


def test_every_algorithm_of_the_registry_has_a_cost() -> None:
    assert all(work_ms(s.kem_token, s.sig_token) > 0 for s in CATALOGUE.values())
    with pytest.raises(KeyError):
        work_ms("mlkem2048", "mldsa44")


def test_level_comes_before_signature_within_an_octave() -> None:
    order = SuiteOrder(CATALOGUE.values())
    light = ["ML-512-AG-FA-512", "ML-512-AG-MD-44", "ML-768-AG-MD-65", "ML-1024-AG-FA-1024", "ML-1024-AG-MD-87"]
    ranks = [order.rank(suite(code)) for code in light]
    assert ranks == sorted(ranks)
    assert order.rank(suite("ML-512-AS-FA-512")) < order.rank(suite("ML-512-AG-MD-44")), "the signature before the AEAD"
    assert order.rank(suite("ML-1024-AG-MD-87")) < order.rank(suite("HQC-128-AG-FA-512"))
    assert order.rank(suite("HQC-256-AG-MD-87")) < order.rank(suite("ML-512-AG-SP-128s"))
