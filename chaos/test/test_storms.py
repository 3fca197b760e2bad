# SPDX-License-Identifier: Apache-2.0
"""What storms are judged by; and a small one for real, where pqcmav-fleet is built."""

from __future__ import annotations

import argparse
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
import storms
from accounting import Account
from storms_page import page
from storms_result import (
    COUNTED,
    Delivery,
    Rekeys,
    Run,
    Steady,
    Storm,
    fleet_counts,
    goal_s,
    grown,
    judge,
    rekeys_of,
    started,
    storm_of,
)


def steady(drones: int = 1000, **changes: Any) -> Steady:
    base: dict[str, Any] = {
        "drones": drones, "rate": 1.0, "seconds": 10.0, "messages": 20_000, "gcs_cpu_s": 1.0, "slices_us": [49.0, 51.0],
        "gcs_threads_s": {"pqc-data": 0.9}, "fleet_cpu_s": 1.0, "gcs_pss_kib": 20_000, "gcs_one_pss_kib": 10_000,
        "fleet_rss_kib": 40_000,
    }  # fmt: skip
    return Steady(**(base | changes))


def event(at: float, what: str, drone: int = 0, **more: Any) -> dict[str, Any]:
    return {"t": at, "event": what, "drone": drone, **more}


def test_a_storm_counts_from_when_the_drones_could_come_back() -> None:
    events = [
        event(9.0, "connected", 1),
        event(10.5, "lost", 1, why="silence"),
        event(10.6, "lost", 2, why="restart"),
        event(11.0, "failed", 1, why="timeout"),
        event(12.5, "connected", 1),
        event(11.9, "connected", 2),
    ]
    storm = storm_of("gcs killed", 4, 10.0, 12.0, events)
    assert (storm.outage_s, storm.kept, storm.lost) == (2.0, 2, {"silence": 1, "restart": 1})
    assert sorted(storm.back_s) == [0.0, 0.5]
    assert storm.failed == {"timeout": 1}
    assert (storm.up_again_s(0.5), storm.up_again_s(1.0)) == (0.0, 0.5)


def test_who_is_lost_again_is_not_up() -> None:
    events = [event(1.0, "lost", 0, why="silence"), event(2.0, "heard"), event(3.0, "lost", 0, why="silence")]
    storm = storm_of("all cut off", 1, 0.0, 1.5, events)
    assert storm.up_again_s(1.0) == math.inf
    assert storm_of("all cut off", 1, 0.0, 1.5, [*events, event(4.0, "heard")]).up_again_s(1.0) == 2.5


def test_a_cold_start_counts_from_each_drones_own() -> None:
    events = [
        event(3.0, "connected", 1, since_lost_s=2.0),
        event(4.0, "failed", 2, why="timeout"),
        event(9.0, "lost", 1, why="silence"),
        event(10.0, "connected", 1, since_lost_s=1.0),
    ]
    storm = started("cold start", 2, events)
    assert (storm.back_s, storm.kept, storm.failed) == ([2.0], 0, {"timeout": 1})
    assert (storm.up_again_s(0.5), storm.up_again_s(1.0)) == (2.0, math.inf)
    assert judge([Run(steady(), [storm])]) == []


def test_rekeys_are_counted_by_when_they_began() -> None:
    events = [
        event(10.1, "rekeyed", took_s=0.2),  # before the time
        event(10.9, "rekeyed", took_s=0.1),
        event(11.1, "rekeyed", took_s=0.3),
        event(12.5, "rekey_failed", why="timeout", took_s=0.1),
        event(14.0, "rekeyed", took_s=0.1),  # after it
        event(11.0, "connected"),
    ]
    rekeys = rekeys_of(5, 60.0, 10.0, 13.4, events)
    assert (rekeys.seconds, rekeys.busiest, rekeys.mean) == ([2, 0, 1], 2, 1.0)
    assert rekeys.failed == {"timeout": 1}


@pytest.mark.parametrize(("drones", "seconds"), [(10, 3.0), (1000, 3.0), (2000, 4.75), (5000, 10.0), (9000, 10.0)])
def test_the_goal_grows_with_the_fleet(drones: int, seconds: float) -> None:
    assert goal_s(drones) == pytest.approx(seconds)


def test_good_runs_pass() -> None:
    good = Storm("gcs killed", 1000, 1.0, [2.9] * 950 + [29.0] * 50, {"silence": 1000})
    assert judge([Run(steady(), [good]), Run(steady(5000, gcs_cpu_s=1.2, gcs_pss_kib=130_000), [])]) == []


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run(steady(gcs_pss_kib=36_500), []), "26.5 KiB a drone"),
        (
            Run(steady(delivery=Delivery({"to the ground": Account(3, {}, 3)}, backlog=1)), []),
            "1000 drones: 2 messages lost without a counter",
        ),
        (Run(steady(delivery=Delivery(mixed_up=2)), []), "2 messages delivered to the wrong end"),
        (Run(steady(delivery=Delivery(spoiled=3)), []), "3 messages spoiled"),
        (
            Run(steady(), [Storm("gcs killed", 1000, 1.0, [1.0] * 999, {"silence": 999})]),
            "1000 drones, gcs killed: only 999 lost their sessions",
        ),
        (Run(steady(), [Storm("all cut off", 1000, 5.0, [], {})]), "all cut off: only 0 lost their sessions"),
        (Run(steady(delivery=Delivery(again=1)), []), "1 messages doubled"),
        (
            Run(steady(), [], Rekeys(1000, 60.0, [1], delivery=Delivery(mixed_up=4))),
            "rekeys: 4 messages delivered to the wrong end",
        ),
        (Run(steady(), [], Rekeys(1000, 60.0, [30, 30], {"timeout": 50})), "1000 drones, rekeys: 50 of 60 failed"),
        (Run(steady(), [], Rekeys(1000, 60.0, [0, 0])), "1000 drones, rekeys: none began"),
        (
            Run(steady(), [Storm("gcs killed", 1000, 1.0, [3.1] * 1000, {"silence": 1000})]),
            "95 % up again after 3.1",
        ),
        (
            Run(steady(), [Storm("gcs killed", 1000, 1.0, [1.0] * 999 + [31.0], {"silence": 1000})]),
            "the last one up again after 31.0 s",
        ),
        (
            Run(steady(), [Storm("gcs killed", 1000, 1.0, [1.0] * 999, {"silence": 1000})]),
            "the last one up again after inf s",
        ),
        (Run(steady(5000, gcs_cpu_s=1.3, gcs_pss_kib=130_000), []), "a message costs 65 us with 5000 drones"),
    ],
)
def test_each_goal_that_is_missed_is_named(run: Run, words: str) -> None:
    runs = [run] if run.steady.drones == 1000 else [Run(steady(), []), run]
    found = judge(runs)
    assert len(found) == 1
    assert words in found[0]


def test_the_fleets_counters_are_those_of_an_end() -> None:
    line = {
        "messages": {"sent": 90, "unsent": 10, "received": 70},
        "packets": {
            "sent": 200, "send_errors": 1, "delivered": 70, "control": 30, "kernel_dropped": 2, "drops": {"replay": 3},
        },
    }  # fmt: skip
    counts = fleet_counts(line)
    assert (counts.stats["plain_rx_packets"], counts.stats["plain_dropped_no_session"]) == (100, 10)
    assert (counts.totals["drop_replay"], counts.totals["drop_late"], counts.totals["drop_kernel"]) == (3, 0, 2)


def test_what_grew_in_a_storm_is_named() -> None:
    now = dict.fromkeys(COUNTED, 5) | {"enc_rx_datagrams": 9}
    assert grown(now, {"hs_busy": 3, "hs_failed": 5}) == {
        "hs_completed": 5, "hs_retried": 5, "hs_busy": 2, "hs_limit": 5, "restarts_told": 5, "drop_kernel": 5,
    }  # fmt: skip


def test_the_page_names_what_never_came_back() -> None:
    options = _options(drones=[1000])
    never = Storm("gcs killed", 1000, 1.0, [1.0], {"silence": 1000}, {"timeout": 4})
    runs = [Run(steady(), [never], Rekeys(1000, 60.0, [10, 30, 20]))]
    text = page(runs, judge(runs), options, "a machine")
    assert "never (1 of 1 times)" in text
    assert "silence 1,000" in text
    assert "| 1,000 | 60 | 60 | 20.0 | 30 | 1.5 | none |" in text
    assert "| 0 | 0, 0, 0 |" in text
    assert "MISSED" in text


def _options(**changes: Any) -> argparse.Namespace:
    base: dict[str, Any] = {
        "drones": [20], "rate": 5.0, "seconds": 2.0, "storms": 1, "cut": 3.0, "rekey": 0.0, "data_threads": 1,
        "max_handshakes": None, "ahead": False, "page": "storms",
        "suites": "cs-mlkem768-aesgcm-mldsa65,cs-mlkem768-chacha20poly1305-mldsa65",
    }  # fmt: skip
    return argparse.Namespace(**(base | changes))


@pytest.mark.parametrize(
    ("suites", "words"),
    [
        ("cs-mlkem768-aesgcm-mldsa65,nope", 'no suite "nope"'),
        ("cs-mlkem768-aesgcm-mldsa65,cs-mlkem512-aesgcm-mldsa44", "several signatures"),
    ],
)
def test_suites_that_cannot_fly_are_refused_before_anything_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], suites: str, words: str
) -> None:
    monkeypatch.setattr(storms, "built", lambda: pytest.fail("begun"))
    assert storms.run(_options(rekey=1.0, suites=suites)) == 2
    assert words in capsys.readouterr().out


@pytest.mark.skipif(not storms.built(), reason="pqcmav-fleet is not built: run 'tools/setup.sh benchmarks'")
def test_a_small_fleet_comes_back(tmp_path: Path) -> None:
    options = _options(output=str(tmp_path), rekey=1.0)
    storms.run(options)
    seen = json.loads(gzip.decompress((tmp_path / "storms.json.gz").read_bytes()))
    assert [sum(storm["lost"].values()) for storm in seen["runs"][0]["storms"]] == [20, 20, 20]
    text = (tmp_path / "storms.md").read_text(encoding="utf-8")
    assert "| 20 | gcs killed | 1 |" in text
    assert "| 20 | all cut off | 1 |" in text
    assert "| 20 | cold start | 1 |" in text
    assert "never" not in text
    assert not [problem for problem in seen["problems"] if "messages" in problem], text
    rekeys = seen["runs"][0]["rekeys"]
    assert sum(rekeys["seconds"]) >= 40 and rekeys["failed"] == {}
