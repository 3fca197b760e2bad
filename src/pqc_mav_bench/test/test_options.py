# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_bench.errors import OptionsError
from pqc_mav_bench.options import command, options_from, told_options
from pqc_mav_bench.plan import chosen_suites
from pqc_mav_bench.scenario import SCENARIOS, scenario_of
from pqc_mav_common.key_values import to_key_values


def test_the_command_of_a_campaign_gives_its_options_back():
    assert command(options_from({})) == "pqcmav bench run"
    wanted = {
        "suites": ["ML-768-AG-MD-65"],
        "scenarios": ["baseline", "tst"],
        "handshakes": 30,
        "duration_s": 4,
        "randomise": False,
        "key_pool": True,
        "link": "20ms 5% 1Mbit",
        "workload": {"kind": "bulk", "mbps": 2.5, "direction": "both"},
    }
    assert command(options_from(wanted)) == (
        "pqcmav bench run --suite ML-768-AG-MD-65 --scenario baseline --scenario tst --duration 4 --handshakes 30 "
        "--workload bulk --mbps 2.5 --direction both --key-pool --link '20ms 5% 1Mbit' --in-order"
    )


def test_numbers_are_in_the_command_to_the_last_digit():
    assert command(options_from({"seed": 20260222})) == "pqcmav bench run --seed 20260222"
    rate = {"workload": {"messages_per_s": 123.4567}}
    assert command(options_from(rate)) == "pqcmav bench run --rate 123.4567"


def test_nothing_asked_for_gives_the_defaults():
    options = told_options([])
    assert (options.duration_s, options.workload.kind, options.scenarios) == (30.0, "mavlink", ["baseline"])
    assert options == told_options(to_key_values(options.model_dump(mode="json")))
    assert len(chosen_suites(options)) == 72
    assert len(chosen_suites(options_from({"view": "2025"}))) == 30


def test_suites_may_be_named_by_short_code_and_twice():
    names = ["ML-768-AG-MD-65", "cs-mlkem768-aesgcm-mldsa65", "ML-512-AG-FA-512"]
    assert chosen_suites(options_from({"suites": names})) == [
        "cs-mlkem768-aesgcm-mldsa65",
        "cs-mlkem512-aesgcm-falcon512",
    ]


@pytest.mark.parametrize(
    "data, words",
    [
        ({"duration_s": 0}, "'duration_s'"),
        ({"scenarios": ["storm"]}, "there is no scenario 'storm'; there are baseline, xgboost, tst"),
        ({"workload": {"mbps": -1}}, "'workload.mbps'"),
        ({"workload": {"packet_bytes": 2000}}, "'workload.packet_bytes'"),
        ({"dwell": 3}, "'dwell'"),
        ({"name": "../x"}, "'name'"),
        ([], "'options'"),
    ],
)
def test_a_bad_option_is_named(data, words):
    with pytest.raises(OptionsError) as refusal:
        options_from(data)
    assert words in str(refusal.value)


def test_an_unknown_suite_is_refused_with_what_is_close():
    with pytest.raises(OptionsError, match="the closest are cs-mlkem768"):
        chosen_suites(options_from({"suites": ["ML-768-AG-MD-6"]}))


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(OptionsError, match="'suites' is given twice"):
        told_options(to_key_values({"suites": ["x"]}) * 2)


def test_the_scenarios_are_the_published_additions():
    assert not SCENARIOS["baseline"].has_detector
    assert SCENARIOS["xgboost"].busy_fraction == pytest.approx(0.052)
    assert SCENARIOS["tst"].busy_fraction == pytest.approx(0.536)
    assert (SCENARIOS["xgboost"].memory_mib, SCENARIOS["tst"].memory_mib) == (335, 489)
    with pytest.raises(OptionsError, match="no scenario"):
        scenario_of("x")
