# SPDX-License-Identifier: Apache-2.0
"""Sockets and topics as one: a look at one drone forgets no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fake_engine import FakeEngine

from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.ros_source import RosSource
from pqc_mav_dashboard.socket_source import SocketSource
from pqc_mav_dashboard.together import Live

TYPE = "pqc_mav_interfaces/msg/BatteryHealth"


def test_while_one_drone_is_looked_at_the_others_are_there() -> None:
    """Else their events would be logged twice, and senses without a tunnel's name be those of the one."""

    async def scene() -> Picture:
        sockets = SocketSource(environment)
        ros = RosSource(sockets.log)
        ros.available = False  # topics come from here
        live = Live(sockets, ros)
        await live.picture(frozenset(), whole=True)
        ros.topics.put("/drone/battery", TYPE, {"valid": True}, 0.0, 0.0)
        picture = await live.picture(frozenset({"drone0001"}))
        assert ros.covered == {("gcs", "drone0001"), ("gcs", "drone0002")}
        await live.stop()
        return picture

    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 2)
        picture = asyncio.run(scene())
        engine.close()
    assert [end.drone for end in picture.ends] == ["drone0001"] and not picture.senses
