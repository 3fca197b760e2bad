# SPDX-License-Identifier: Apache-2.0
"""Who needs someone most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pqc_mav_dashboard.picture import End, Sense
from pqc_mav_dashboard.trouble import trouble


def end(state: str = "UP", loss: float | None = 0.0, heard_s: float = 100.0, **status: Any) -> End:
    quality = {"local": {"loss": loss}, "peer": None}
    return End("gcs", "gcs", "d1", heard_s, {"state": state, "suite": "cs-x", **status}, {}, quality)


@pytest.mark.parametrize(
    ("one", "rank", "words"),
    [
        (end(), 0, ""),
        (end(heard_s=90), 9, "nothing for 10 s"),
        (end("DOWN"), 8, "no session"),
        (end("DOWN", last_error="The gcs refused."), 8, "The gcs refused."),
        (end("HANDSHAKING"), 6, "no session yet"),
        (end("DEGRADED", silence_s=4.0), 5, "silent for 4 s"),
        (end("REKEYING"), 1, "renews"),
        (end(last_error="KEY_OLD: 400 s"), 6, "KEY_OLD"),
        (end(last_error="PLAIN_DOWN: no port"), 4, "PLAIN_DOWN"),
        (end(last_error="RADIO_DOWN: lost"), 4, "RADIO_DOWN"),
        (end(last_error="an old story"), 0, ""),
        (end("DEGRADED", silence_s=9.0), 5, "silent for 9 s"),
        (end("DEGRADED", silence_s=10.0), 9, "silent for 10 s"),
        (end(peer_alarm=2, peer_alarm_kind="replay"), 7, "the drone tells of an attack: replay"),
        (end(peer_alarm=1, peer_alarm_kind="loss"), 3, "a suspicion: loss"),
        (end(loss=0.02), 0, ""),
        (end(loss=0.021), 2, "2% lost"),
        (end(loss=0.10), 2, "10% lost"),
        (end(loss=0.11), 4, "11% lost"),
        (end(loss=None), 0, ""),
        (end(station_role="standby", last_error="KEY_OLD"), 0, ""),
        (end(suite="", loss=1.0), 0, ""),
    ],
)
def test_one_end(one: End, rank: int, words: str) -> None:
    found = trouble([one], {}, 100.0)
    assert found[0] == rank and words in found[1]


@pytest.mark.parametrize(
    ("kind", "fields", "rank"),
    [
        ("threat", {"level": 2, "kind": "replay"}, 7),
        ("threat", {"level": 1, "kind": "flood"}, 3),
        ("threat", {"level": 0}, 0),
        ("battery", {"valid": True, "state_of_charge": 0.19}, 7),
        ("battery", {"valid": True, "state_of_charge": 0.2}, 0),
        ("battery", {"valid": True, "state_of_charge": None}, 0),
        ("battery", {"valid": False, "state_of_charge": 0.1}, 0),
        ("thermal", {"throttled": True}, 3),
    ],
)
def test_senses(kind: str, fields: dict[str, Any], rank: int) -> None:
    assert trouble([end()], {kind: Sense(fields, 90.0)}, 100.0)[0] == rank
    assert trouble([end()], {kind: Sense(fields, 89.9)}, 100.0)[0] == 0, "too old to tell of now"


def test_a_second_station_may_be_without_the_drone() -> None:
    without = end("DOWN", suite="")
    assert trouble([end(), without], {}, 100.0)[0] == 0
    assert trouble([without, without], {}, 100.0)[0] == 8


def test_the_worse_end_counts() -> None:
    assert trouble([end(), replace(end("DOWN"), role="drone"), end("DEGRADED")], {}, 100.0)[0] == 8
