# SPDX-License-Identifier: Apache-2.0
"""A flight over the thin link: short, in a process of its own, and the whole scenario on request."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel
from pair_flights import GIVEN, passes, short_flight

from pqc_mav_cli.demo.thin_flight import configurations
from pqc_mav_cli.demo.thin_result import SHAPED
from pqc_mav_common.testing import on_request


def test_only_the_shaped_ends_are_shaped() -> None:
    for shaped, kbit in ((True, 64), (False, 0)):
        for end in configurations({**GIVEN, "shaped": shaped}, 5):
            assert end.get("shape_kbit") == kbit
            known = {entry["key"] for entry in pqc_mav_tunnel.config_schema(end["role"])}
            assert set(end) - {"role", "drone"} <= known
    drone = configurations({**GIVEN, "shaped": False}, 5)[1]
    assert drone["data_port"] == 5, "by way of the link"


def test_a_short_flight_tells_what_the_ground_sees() -> None:
    flight = short_flight("thin_flight", SHAPED, shaped=True, rate=320.0)
    assert flight.up and flight.samples and flight.answered and flight.ages_s
    assert flight.summary is not None and 0 < flight.summary["received"] < flight.summary["sent"]


@on_request("flies for 40 s")
def test_the_scenario_shows_what_shaping_is_for(tmp_path: Path) -> None:
    passes("thin-link", tmp_path / "thin.png")
