# SPDX-License-Identifier: Apache-2.0
"""What an alarm is, and what is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pqc_mav_dashboard.alarms import MOST, Alarms
from pqc_mav_dashboard.picture import End, Picture, Sense


def end(drone: str = "d1", state: str = "UP", heard_s: float = 100.0, suite: str = "cs-x") -> End:
    return End("gcs", "gcs", drone, heard_s, {"state": state, "suite": suite})


def alarmed(level: int) -> End:
    made = end()
    return replace(made, status={**made.status, "peer_alarm": level, "peer_alarm_kind": "replay"})


def silent(seconds: float, station_role: str = "") -> End:
    made = end(state="DEGRADED")
    return replace(made, status={**made.status, "silence_s": seconds, "station_role": station_role})


def told(made: Alarms, *ends: End, whole: bool = True, **senses: dict[str, Any]) -> list[tuple[str, str]]:
    found = {"d1": {kind: Sense(fields, 100.0) for kind, fields in senses.items()}}
    made.look(Picture(1000.0, 100.0, list(ends), found), whole=whole)
    return [(drone, kind) for drone, kind, _ in made.told()["first"]]


@pytest.mark.parametrize(
    ("one", "senses", "kinds"),
    [
        (end(), {}, []),
        (end(heard_s=90.0), {}, ["silent"]),
        (end(state="DOWN", suite=""), {}, []),  # it has not come yet
        (end(), {"threat": {"level": 2, "kind": "replay"}}, ["attack"]),
        (end(), {"threat": {"level": 1}}, []),
        (silent(9.9), {}, []),
        (silent(10.0), {}, ["lost"]),
        (silent(10.0, "standby"), {}, []),
        (alarmed(2), {}, ["attack"]),
        (alarmed(2), {"threat": {"level": 2, "kind": "replay"}}, ["attack"]),
        (alarmed(1), {}, []),
        (replace(alarmed(2), role="drone"), {}, []),  # it hears of others' alarms
        (end(), {"battery": {"valid": True, "state_of_charge": 0.05}}, ["battery"]),
        (end(), {"battery": {"valid": True, "state_of_charge": 0.2}}, []),
        (end(), {"battery": {"valid": True, "state_of_charge": None}}, []),
        (end(), {"battery": {"valid": False, "state_of_charge": 0.05}}, []),
        (end(heard_s=90.0), {"battery": {"valid": True, "state_of_charge": 0.1}}, ["silent", "battery"]),
    ],
)
def test_what_is_an_alarm(one: End, senses: dict[str, Any], kinds: list[str]) -> None:
    assert told(Alarms(), one, **senses) == [("d1", kind) for kind in kinds]


def test_what_a_sense_said_long_ago_is_no_alarm() -> None:
    """A detector that died at an attack, a battery of which nothing came since."""
    senses = {"threat": Sense({"level": 2}, 89.0), "battery": Sense({"valid": True, "state_of_charge": 0.05}, 89.0)}
    made = Alarms()
    made.look(Picture(1000.0, 100.0, [end()], {"d1": senses}), whole=True)
    assert made.told()["first"] == []


def test_a_tunnel_that_was_up_is_lost_and_comes_back() -> None:
    made = Alarms()
    assert told(made, end()) == []
    assert told(made, end(state="DOWN", suite="")) == [("d1", "lost")]
    assert told(made, end(state="HANDSHAKING", suite="")) == [("d1", "lost")]
    assert told(made, end(state="REKEYING")) == []
    assert told(Alarms(), replace(end(state="DOWN", suite=""), was_up=True)) == [("d1", "lost")]


def test_others_are_kept_while_one_is_looked_at_and_forgotten_with_their_drones() -> None:
    made = Alarms()
    assert told(made, end(), end("d2", heard_s=90.0)) == [("d2", "silent")]
    assert told(made, end(heard_s=90.0), whole=False) == [("d1", "silent"), ("d2", "silent")]
    assert told(made, end()) == []


def test_a_fleet_in_trouble_is_told_whole_and_the_worst_in_words() -> None:
    made = Alarms()
    told(made, *(end(f"x{number:03}", heard_s=90.0) for number in range(80)), end(), threat={"level": 2})
    said = made.told()
    assert len(said["first"]) == MOST and said["first"][0][0] == "x000"
    assert len(said["others"]) == 31 and said["others"][-1] == ("d1", "attack")
