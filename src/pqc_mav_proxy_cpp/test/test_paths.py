# SPDX-License-Identifier: Apache-2.0
"""The paths of a drone over ROS: seen on `~/paths`, steered by `~/use_path`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from pqc_mav_interfaces.msg import PathStatus
from pqc_mav_interfaces.srv import UsePath
from proxies import DRONES, KINDS, NODE, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_shown_and_steered(kind: str, keys: Path, watcher: Watcher) -> None:
    spaces = {end: f"{kind}_paths_{end}" for end in ("drone", "gcs")}
    gcs = gcs_parameters(keys, DRONES)
    two = {"paths": ["lte", "sat"], "path.lte.via": HOST, "path.sat.via": "127.0.0.2"}
    running = []
    try:
        running.append(start(kind, gcs, spaces["gcs"]))
        running.append(start(kind, drone_parameters(keys, gcs["data_port"], **two), spaces["drone"]))
        running[1].wait_for("-> UP")
        drone, ground = (f"/{spaces[end]}/{NODE}" for end in ("drone", "gcs"))
        seen = watcher.collect(PathStatus, f"{drone}/paths", qos.periodic(4))

        def states() -> list[tuple[str, str]]:
            return [(each.name, each.state) for each in seen[-2:]]

        def say(name: str, use: str, where: str = drone) -> tuple[bool, str]:
            answer = watcher.call(UsePath, f"{where}/use_path", UsePath.Request(path=name, use=use))
            return answer.ok, answer.message

        until(lambda: states() == [("lte", "best"), ("sat", "good")], "both paths answer")
        first = seen[-2]
        assert (first.drone_id, first.via, first.problem) == ("d1", HOST, "")
        assert first.rtt_ms > 0 and first.tx_bytes > first.tx_packets > 0 and first.header.stamp.sec
        assert say("lte", "off") == (True, "Nothing takes the path 'lte' any more, except while no other one answers.")
        until(lambda: states() == [("lte", "off"), ("sat", "best")], "the other takes over")
        assert say("lte", "on")[0]
        until(lambda: states()[0][1] in ("good", "best"), "it is used again")
        for name, use, why in (("sea", "off", "sea"), ("lte", "perhaps", "'use' must be on, off or first")):
            ok, message = say(name, use)
            assert not ok and why in message
        assert say("lte", "off", ground) == (False, "A drone chooses its path; ask the drone's engine.")
        assert not any(math.isnan(each.silence_s) for each in seen)
    finally:
        for process in running:
            process.kill()
