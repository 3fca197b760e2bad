# SPDX-License-Identifier: Apache-2.0
"""Rows and drones: what is not known stays unknown, and what stands still does not move."""

from __future__ import annotations

from typing import Any

import pytest

from pqc_mav_dashboard.history import point
from pqc_mav_dashboard.picture import OLD_S, End, Picture, Sense
from pqc_mav_dashboard.views import COLUMNS, Rows, drone_view, drops, name_in


def picture(moment: float = 0.0, **status: Any) -> Picture:
    """One drone, seen by its gcs; `moment` seconds after the first."""
    full = {"state": "UP", "suite": "cs-x", "epoch": 3, "key_age_s": 10.0 + moment, **status}
    link = {"rtt_ms": 12.345, "local": {"loss": 0.5, "gap_p95_ms": 7.0}, "peer": None}
    stats = {"tx_bytes_per_s": 100.0, "rx_bytes_per_s": None, "drop_replay": 2, "drop_unknown": 1}
    end = End("gcs", "gcs", "d1", 50.0 + moment, full, stats, link)
    return Picture(1000.0 + moment, 50.0 + moment, [end])


def row(made: Picture) -> dict[str, Any]:
    return dict(zip(COLUMNS, Rows().of(made)["d1"], strict=True))


def test_a_row() -> None:
    found = row(picture())
    assert found["drops"] == 3 and found["tx_bit_s"] == 800 and found["rtt_ms"] == 12.35 and found["loss"] == 0.5
    unknown = {"rx_bit_s", "peer_loss", "battery", "phase", "threat"}
    assert {name for name, value in found.items() if value is None} == unknown


def test_what_senses_said_long_ago_is_not_in_a_row() -> None:
    fields = {"battery": {"valid": True, "state_of_charge": 0.8}, "vehicle": {"phase": 2}, "threat": {"level": 2}}
    found = []
    for age_s in (OLD_S, OLD_S + 1):
        made = picture()
        made.senses["d1"] = {kind: Sense(each, made.clock_s - age_s) for kind, each in fields.items()}
        found.append([row(made)[name] for name in ("battery", "phase", "threat", "rank")])
    assert found == [[0.8, "take-off", "attack", 7], [None, None, None, 4]]


def test_without_a_session_there_are_no_figures_of_the_link() -> None:
    """An engine says 0 there, which would look like a good link."""
    found = row(picture(state="DOWN", suite=""))
    assert [found[name] for name in ("suite", "epoch", "key_made_s", "loss", "rtt_ms", "gap_p95_ms")] == [None] * 6
    assert drone_view("d1", picture(state="DOWN", suite=""))["ends"][0]["link"] == {}
    made = picture(suite="")
    assert point(0.0, made.clock_s, made.ends, {})[3:] == [None] * 8


def test_a_silent_engines_old_figures_are_not_shown() -> None:
    made = picture()
    made.clock_s += 10
    found = row(made)
    assert found["state"] == "SILENT" and found["tx_bit_s"] is None and found["loss"] is None
    (end,) = drone_view("d1", made)["ends"]
    assert end["silent_s"] == 10 and end["stats"] is None and end["link"] == {}


def test_keys_that_only_age_change_no_row() -> None:
    rows = Rows()
    first = rows.of(picture())["d1"][6]
    assert first == 990.0
    assert [rows.of(picture(moment, key_age_s=10.0 + moment + 0.3))["d1"][6] for moment in (1.0, 2.0)] == [first] * 2
    assert rows.of(picture(5.0, key_age_s=0.0))["d1"][6] == 1005.0


def test_the_drones_own_end_comes_first_unless_it_is_silent() -> None:
    made = picture()
    made.ends.append(End("drone-d1", "drone", "d1", made.clock_s, made.ends[0].status))
    assert [end.name for end in made.drones()["d1"]] == ["drone-d1", "gcs"]
    made.ends[1].heard_s -= 10
    assert [end.name for end in made.drones()["d1"]] == ["gcs", "drone-d1"]


def test_an_absent_sense_says_why() -> None:
    made = picture()
    made.senses["d1"] = {"battery": Sense({"valid": True, "state_of_charge": 0.5}, made.clock_s - 4)}
    made.absent = ""
    senses = drone_view("d1", made)["senses"]
    assert senses["battery"]["age_s"] == 4 and senses["thermal"] == {
        "absent": "Nothing has been published about this drone's temperature."
    }
    made.absent = "No ROS."
    assert drone_view("d1", made)["senses"]["power"] == {"absent": "No ROS."}


def test_a_drone_that_nobody_knows() -> None:
    view = drone_view("nobody", picture())
    assert view["ends"] == [] and view["rank"] == 9 and "No source" in view["trouble"]


@pytest.mark.parametrize(("number", "name"), [(0, "a"), (1, "b"), (2, None), (None, None), (-1, None)])
def test_names_of_constants(number: int | None, name: str | None) -> None:
    assert name_in(("a", "b"), number) == name


def test_no_counters_are_no_zero() -> None:
    assert drops(None) is None and drops({}) == 0
