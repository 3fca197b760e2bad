# SPDX-License-Identifier: Apache-2.0
"""What the soak is judged by, and its pages."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import Any

import pqc_mav_tunnel
import pytest
import soak
from soak import SUITES, WARM_UP, Sample, growth, judge

GOOD = Sample(5.0, SUITES[0], True, 3.0, 3200, 3200, 0, 9.0, 0, 30_000, 31_000, 20, 25, 9, 8)


def counts(**changes: int) -> dict[str, Any]:
    stream = {"sent": 1000, "received": 1000, "duplicates": 0} | changes
    return {"streams": [stream, {"sent": 5, "received": 5, "duplicates": 0}], "corrupted": 0, "misdelivered": 0}


def samples(count: int = WARM_UP + 40, **by_number: Any) -> list[Sample]:
    return [
        replace(GOOD, second=5.0 * i, **{key: make(i) for key, make in by_number.items()}) for i in range(1, count + 1)
    ]


def test_a_good_soak_passes() -> None:
    assert judge(samples(), counts()) == []


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (counts(received=999), "1 lost"),
        (counts(duplicates=2), "2 doubled"),
        (counts(sent=-5, received=-5), "nothing was sent"),
    ],
)
def test_losses_fail(last: dict[str, Any], words: str) -> None:
    assert any(words in each for each in judge(samples(), last))


def test_growth_fails_and_warm_up_does_not() -> None:
    assert judge(samples(rss_gcs_kib=lambda i: 20_000 if i <= WARM_UP else 30_000), counts()) == []
    assert judge(samples(rss_gcs_kib=lambda i: 30_000 + 100 * i), counts()) == ["memory of the gcs grew by 2700 KiB"]
    assert any("fds of the drone" in each for each in judge(samples(fds_drone=lambda i: i), counts()))
    assert any("threads of the gcs" in each for each in judge(samples(threads_gcs=lambda i: 8 + i // 60), counts()))


def test_a_failed_rekey_fails() -> None:
    assert judge(samples(rekey_ok=lambda i: i != 7), counts()) == [f"1 of {WARM_UP + 40} rekeys failed"]
    assert judge([], counts()) == ["0 of 0 rekeys failed"]


def test_growth_needs_enough_values() -> None:
    assert growth([1.0] * 8, 0) is None
    assert growth([1.0] * 18, 9) == 0
    assert growth([0.0] * 9 + [1, 1, 1, 5, 5, 5, 9, 9, 9], 9) == 8


def test_the_suites_use_everything_there_is() -> None:
    core = pqc_mav_tunnel.suites()
    used = [pqc_mav_tunnel.find_suite(name) for name in SUITES]
    for part in ("kem_token", "sig_token", "aead_token"):
        assert {getattr(each, part) for each in used} == {getattr(each, part) for each in core}


def test_page_and_csv_show_the_figures(tmp_path: Any) -> None:
    options = argparse.Namespace(minutes=3.0, rate=320.0, every=5.0)
    text = soak.page(samples(100), counts(), ["it leaks"], options, "a machine")
    assert "100 of 100 rekeys done" in text
    assert "**0 lost" in text
    assert "FAILED: it leaks" in text
    assert text.count("\n|") <= 30
    lines = soak.to_csv(samples(3)).splitlines()
    assert lines[0].startswith("second,suite,rekey_ok")
    assert len(lines) == 4


def test_the_summary_holds_what_the_page_says() -> None:
    options = argparse.Namespace(minutes=3.0, rate=320.0, every=5.0)
    seen = soak.summary(samples(100, rss_gcs_kib=lambda i: 100 * i), counts(), ["it leaks"], options, "a machine")
    assert json.loads(json.dumps(seen)) == seen
    assert (seen["rekeys"], seen["rekeys_failed"], seen["problems"]) == (100, 0, ["it leaks"])
    assert seen["growth"]["rss_gcs"] > 0 == seen["growth"]["fds_drone"]
    assert seen["traffic"]["streams"][0]["sent"] == 1000
