# SPDX-License-Identifier: Apache-2.0
"""A flight over simulated radios: short, in a process of its own, and the whole scenario on request."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel
import pytest
from pair_flights import GIVEN, passes, short_flight

from pqc_mav_cli.demo.radio_flight import configurations
from pqc_mav_common.testing import on_request


def test_both_ends_are_at_the_radios() -> None:
    gcs, drone = configurations(GIVEN, "/dev/ground", "/dev/air")
    assert gcs["drone"]["demo"]["radio"] == "serial:/dev/ground:57600:mavlink"
    assert drone["peer"] == "serial:/dev/air:57600:mavlink"
    for end in (gcs, drone):
        known = {entry["key"] for entry in pqc_mav_tunnel.config_schema(end["role"])}
        assert set(end) - {"role", "drone"} <= known


@pytest.mark.parametrize("sealed", [True, False])
def test_a_short_flight_tells_what_a_listener_reads(sealed: bool) -> None:
    flight = short_flight("radio_flight", sealed=sealed, rate=226.0)
    assert flight.samples and flight.summary is not None and flight.summary["received"] > 0
    assert flight.radios is not None and flight.radios["air_s"] > 0
    assert (flight.radios["read"] == 0) == sealed


@on_request("flies for 40 s")
def test_the_scenario_shows_a_radio_that_carries_the_tunnel(tmp_path: Path) -> None:
    passes("radio", tmp_path / "radio.png")
