# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pqc_mav_bench.analysis.detector_effect import FEWEST_PAIRS, Effect, effects


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


@pytest.mark.parametrize("low, high, apart", [(1.004, 1.2, False), (1.006, 1.2, True), (0.8, 0.996, False)])
def test_an_interval_that_reads_as_if_it_reached_1_is_no_evidence(low, high, apart):
    assert Effect("tst", (low + high) / 2, low, high, 24).told_apart is apart


def test_few_pairs_or_no_baseline_give_nothing():
    assert effects(suites({"tst": lambda _: 1.1}, pairs=FEWEST_PAIRS - 1)) == []
    table = suites({"tst": lambda _: 1.1})
    assert effects(table[table["scenario"] == "tst"]) == []


def test_ciphers_of_one_pair_do_not_count_as_more_evidence():
    one, three = (effects(suites({"tst": lambda pair: 1 + 0.01 * pair}, ciphers=n))[0] for n in (1, 3))
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.35)
