# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pqc_mav_bench.analysis.detector_effect import FEWEST_PAIRS, Effect, cipher_effects, effects, family_effects
from pqc_mav_bench.analysis.intervals import SIGNIFICANCE


def suites(ratios, pairs=12, ciphers=3):
    rows = []
    for scenario, ratio in {"baseline": lambda _: 1.0, **ratios}.items():
        for pair in range(pairs):
            for cipher in range(ciphers):
                took = (2.0 + pair) * ratio(pair)
                rows.append((scenario, f"s{pair}-{cipher}", f"kem{pair // 2}", f"sig{pair % 2}", took))
    return pd.DataFrame(rows, columns=["scenario", "suite", "kem", "sig", "handshake_ms"])


def test_a_certain_effect_is_told_apart_and_scatter_is_not():
    dice = np.random.default_rng(3)
    scatter = dice.normal(1.0, 0.1, 12)
    slower, same = effects(suites({"tst": lambda pair: scatter[pair], "xgboost": lambda pair: 1.2 + 0.001 * pair}))
    assert (slower.scenario, slower.pairs) == ("xgboost", 12)
    assert slower.told_apart and slower.low <= slower.ratio <= slower.high
    assert slower.ratio == pytest.approx(1.2, abs=0.02)
    assert not same.told_apart and same.low < 1 < same.high


def test_an_effect_that_two_decimals_would_hide_is_told_apart():
    (found,) = effects(suites({"tst": lambda pair: 1.0001 + 0.0001 * pair}, pairs=24))
    assert found.told_apart and round(found.low, 2) == 1 < found.low, "nothing is rounded before the decision"


def test_what_lies_on_the_limit_is_not_told_apart():
    assert not Effect("tst", 1.1, 1.0, 1.2, 8, SIGNIFICANCE).told_apart
    assert Effect("tst", 1.1, 1.0, 1.2, 8, 0.999 * SIGNIFICANCE).told_apart


def test_more_comparisons_ask_for_more_evidence():
    slower = {"tst": lambda pair: (1.3 if pair not in (2, 5) else 0.9) + 0.001 * pair}
    (alone,) = effects(suites(slower, pairs=8))
    apart, *others = family_effects(families(suites(slower, pairs=24)))["A"]
    assert not others
    assert alone.p < SIGNIFICANCE <= apart.p == pytest.approx(3 * alone.p), "three families, the same 8 pairs each"
    assert (apart.ratio, apart.low, apart.high) == pytest.approx((alone.ratio, alone.low, alone.high))


def families(table):
    """24 pairs as three families of 8, each with the ratios of the first."""
    number = table["kem"].str.removeprefix("kem").astype(int) * 2 + table["sig"].str.removeprefix("sig").astype(int)
    slower = (number % 8).isin((2, 5)).map({True: 0.9, False: 1.3}) + 0.001 * (number % 8)
    ratio = slower.where(table["scenario"] == "tst", 1.0)
    return table.assign(kem_family=(number // 8).map(dict(enumerate("ABC"))), handshake_ms=ratio * (2.0 + number))


def test_each_run_of_a_pair_counts_in_its_geometric_mean():
    table = suites({"tst": lambda _: 1.0})
    tst = table["scenario"] == "tst"
    slow = table.assign(handshake_ms=table["handshake_ms"].where(~tst, 8 * table["handshake_ms"]))
    (found,) = effects(pd.concat([table, table, table, slow]))
    assert (found.ratio, found.pairs) == (pytest.approx(8**0.25), 12)


def test_a_suite_of_a_pair_weighs_as_much_as_it_has_runs():
    table = suites({"tst": lambda _: 1.0}, ciphers=2)
    tst, first = table["scenario"] == "tst", table["suite"].str.endswith("-0")
    slow = table.assign(handshake_ms=table["handshake_ms"].where(~(tst & first), 8 * table["handshake_ms"]))
    (found,) = effects(pd.concat([slow, table[~first], table[~first]]))
    assert found.ratio == pytest.approx(8**0.25), "one run of four"


def test_few_pairs_or_no_baseline_give_nothing():
    assert effects(suites({"tst": lambda _: 1.1}, pairs=FEWEST_PAIRS - 1)) == []
    assert len(effects(suites({"tst": lambda _: 1.1}, pairs=FEWEST_PAIRS))) == 1
    table = suites({"tst": lambda _: 1.1})
    assert effects(table[table["scenario"] == "tst"]) == []


def test_a_suite_that_took_no_time_is_compared_with_nothing():
    table = suites({"tst": lambda _: 1.2})
    table = table.assign(handshake_ms=table["handshake_ms"] / 100)
    (whole,) = effects(table)
    without = table["suite"].str.startswith("s3-") & (table["scenario"] == "baseline")
    (found,) = effects(table.assign(handshake_ms=table["handshake_ms"].where(~without, 0.0)))
    assert (whole.pairs, found.pairs) == (12, 11)
    assert (found.ratio, whole.ratio) == pytest.approx((1.2, 1.2))


def test_a_cipher_is_compared_with_another_one_of_the_same_pair():
    table = suites({})
    aead = table["suite"].str[-1].map({"0": "AES-256-GCM", "1": "Ascon-128a", "2": "ChaCha20-Poly1305"})
    slower = table["handshake_ms"].where(aead != "Ascon-128a", 1.5 * table["handshake_ms"])
    made = table.assign(aead=aead, handshake_ms=slower)
    found = {effect.scenario: effect.ratio for effect in cipher_effects(made)}
    assert found == {"Ascon-128a": pytest.approx(1.5), "ChaCha20-Poly1305": pytest.approx(1.0)}
    assert cipher_effects(made.assign(kem="", sig="")) == [], "what has no pair is of no pair"


def test_ciphers_of_one_pair_do_not_count_as_more_evidence():
    one, three = (effects(suites({"tst": lambda pair: 1 + 0.01 * pair}, ciphers=n))[0] for n in (1, 3))
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.35)
