# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pqc_mav_tunnel
import pytest

from pqc_mav_bench.link_presets import PRESETS, SERIAL, SUITES, words_of
from pqc_mav_bench.options import command, options_from
from pqc_mav_sim.impairment.described import described

RELAYED = [preset for preset in PRESETS.values() if preset.words != SERIAL]


@pytest.mark.parametrize("preset", RELAYED, ids=lambda each: each.name)
def test_a_preset_is_a_link_that_its_load_fits_into(preset):
    link = described(preset.words)
    # Both directions have the rate for themselves; a packet of telemetry has hardly more than 130 bytes on the air.
    assert preset.messages_per_s * 130 * 8 < 0.8 * link["rate_bit_s"]
    assert f"{2 * link['delay_ms']:g} ms" in preset.title


def test_a_name_stands_for_its_words():
    assert words_of("lte") == PRESETS["lte"].words
    assert words_of("20ms 5%") == "20ms 5%"
    options = options_from({"link": "radio-64k"})
    assert options.link == PRESETS["radio-64k"].words
    assert f"--link '{options.link}'" in command(options)
    assert options_from({"link": "radio-sik"}).link == options_from({"link": SERIAL}).link == SERIAL


def test_the_suites_exist_and_every_level_is_among_them():
    known = {suite.short_code: suite for suite in pqc_mav_tunnel.suites("all")}
    assert {known[name].level for name in SUITES} == {1, 3, 5}
    assert len(set(SUITES)) == len(SUITES)
    assert [known[name].standard for name in SUITES] == sorted((known[name].standard for name in SUITES), reverse=True)
