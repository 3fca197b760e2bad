# SPDX-License-Identifier: Apache-2.0
"""A drone with two ground stations: both are seen, and it goes from one to the other on command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from ends import DRONE, Dashboard, look

from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_common.testing import until


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    keys = tmp_path / "keys"
    pqc_mav_tunnel.init_keys(str(keys), [DRONE], ["mldsa65"], stations=["north", "south"])
    common = {"bind": "127.0.0.1", "control_socket": "auto"}
    with own_run_folder() as environment:
        monkeypatch.setenv("PQCMAV_RUN_DIR", environment["PQCMAV_RUN_DIR"])
        running: dict[str, Any] = {}
        for name in ("north", "south"):
            values = {"role": "gcs", "gcs_id": name, "keys": str(keys / "stations" / name), "drones": [DRONE]}
            running[name] = pqc_mav_tunnel.Engine({**common, **values, "data_port": 0, "key_pool_depth": 0})
            running[name].start()
        peers = [f"{name}@127.0.0.1:{running[name].ports()['data']}" for name in ("north", "south")]
        values = {"role": "drone", "drone_id": DRONE, "keys": str(keys / "drones" / DRONE), "peer": peers}
        running["drone"] = pqc_mav_tunnel.Engine(
            {**common, **values, "local_data_port": 0, "plain_bind": "127.0.0.1:0", "standby": True}
        )
        running["drone"].start()
        until(lambda: running["drone"].status()[0]["state"] == "UP", "the drone is up")
        yield running
        for engine in reversed(running.values()):
            engine.stop()


def test_a_drone_is_moved(engines: dict[str, Any]) -> None:
    dashboard = Dashboard("--no-ros")
    try:
        (message,) = look(dashboard, DRONE, lambda messages: len(messages) == 1)
        assert {end["name"] for end in message["ends"]} == {f"drone-{DRONE}", "gcs-north", "gcs-south"}
        assert message["ends"][0]["status"]["station"] == "north" and message["actions"]["station"] == ""
        status, answer = dashboard.act("station", drone=DRONE, gcs_id="east")
        assert (status, answer["error"]["code"]) == (409, "engine") and "east" in answer["error"]["text"]
        status, answer = dashboard.act("station", drone=DRONE, gcs_id="south")
        assert status == 200 and "goes to south" in answer["text"], answer
        until(lambda: engines["drone"].status()[0]["station"] == "south", "the drone hears south")
        heard = look(dashboard, "", lambda messages: bool(messages) and messages[-1]["rows"][0][1] < 2)
        assert heard[-1]["rows"][0][3] == "UP", "north waits or is without the drone, and that is no trouble"
    finally:
        dashboard.kill()
