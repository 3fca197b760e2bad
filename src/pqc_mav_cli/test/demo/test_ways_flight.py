# SPDX-License-Identifier: Apache-2.0
"""A flight by two ways: short, in a process of its own, and the whole scenario on request."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel
import pytest
from pair_flights import GIVEN, passes, short_flight

from pqc_mav_cli.demo.ways_flight import air_end, ground_end
from pqc_mav_common.testing import on_request


def test_a_drone_has_the_paths_of_its_flight() -> None:
    gcs = ground_end(GIVEN, "/dev/ground")
    assert gcs["drone"]["demo"]["radio"] == "serial:/dev/ground:57600:mavlink"
    for paths in (["lte"], ["radio"], ["lte", "radio"]):
        drone = air_end(GIVEN | {"paths": paths}, 5, "/dev/air")
        assert list(drone["path"]) == drone["paths"] == paths
        known = {entry["key"] for entry in pqc_mav_tunnel.config_schema("drone")}
        assert set(drone) - {"role", "path"} <= known


@pytest.mark.parametrize("paths", [["lte"], ["lte", "radio"]])
def test_a_short_flight_tells_what_went_by_each_path(paths: list[str]) -> None:
    flight = short_flight("ways_flight", paths=paths, rate=226.0)
    assert flight.summary is not None and flight.summary["received"] > 0
    assert flight.paths is not None and flight.paths["handshakes"] == 1
    assert list(flight.paths["sent"]) == paths and all(flight.paths["sent"].values())


@on_request("flies for 46 s")
def test_the_scenario_shows_that_commands_are_answered_by_both(tmp_path: Path) -> None:
    passes("two-ways", tmp_path / "ways.png")
