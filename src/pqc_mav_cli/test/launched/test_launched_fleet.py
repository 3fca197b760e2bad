# SPDX-License-Identifier: Apache-2.0
"""Two drones of one gcs, in namespaces of their own, and topics under other names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed")

import pqc_mav_tunnel
from diagnostic_msgs.msg import DiagnosticArray
from launching import ARRANGEMENTS, launched, tap
from pqc_mav_interfaces.msg import TunnelStatus
from pqc_mav_interfaces.srv import Rekey

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker

OTHER = "cs-mlkem768-chacha20poly1305-mldsa65"


def written(path: Path, values: dict[str, object]) -> Path:
    path.write_text(json.dumps({"/**": {"pqc_proxy": {"ros__parameters": {"bind": "127.0.0.1", **values}}}}))
    return path


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_two_drones_with_names_and_topics_of_their_own(tmp_path: Path, arrangement: dict[str, str]) -> None:
    drones = ("d1", "d2")
    pqc_mav_tunnel.init_keys(str(tmp_path / "keys"), list(drones), sig_tokens=["mldsa65"])
    data, *ports = free_ports(5)
    peers = {drone: {"plain_peer": f"127.0.0.1:{port}"} for drone, port in zip(drones, ports[2:], strict=True)}
    gcs = {"keys": str(tmp_path / "keys" / "gcs"), "data_port": data, "drones": list(drones), "drone": peers}
    airs = []
    for drone, port in zip(drones, ports[:2], strict=True):
        folder = str(tmp_path / "keys" / "drones" / drone)
        values = {"keys": folder, "drone_id": drone, "peer": "127.0.0.1", "data_port": data, "local_data_port": 0}
        config = written(tmp_path / f"{drone}.yaml", {**values, "plain_bind": f"127.0.0.1:{port}"})
        airs.append({"config": config, "namespace": f"fleet/{drone}", "tap": tap(), "policy": "false"})
    remaps = {"/diagnostics": "/fleet/d2/health", "~/status": "/fleet/d2/link_state"}
    with (
        launched("gcs", config=written(tmp_path / "gcs.yaml", gcs), **arrangement),
        launched("drone", **airs[0], **arrangement),
        launched("drone", "pqc_mav_bringup", None, remaps, **airs[1], **arrangement),
        Onlooker() as graph,
    ):
        first = graph.collect(TunnelStatus, "/fleet/d1/pqc_proxy/status", qos.latched(1))
        second = graph.collect(TunnelStatus, "/fleet/d2/link_state", qos.latched(1))
        health = graph.collect(DiagnosticArray, "/fleet/d2/health", qos.periodic(8))
        for seen, drone in ((first, "d1"), (second, "d2")):
            until(lambda s=seen: s and s[-1].state == TunnelStatus.UP, f"{drone} up")
            assert seen[-1].drone_id == drone
        answer = graph.call(Rekey, "/fleet/d2/pqc_proxy/rekey", Rekey.Request(suite=OTHER))
        assert answer.ok, answer.message
        until(lambda: second[-1].suite == OTHER, "the second drone's suite")
        assert first[-1].suite != OTHER and first[-1].state == TunnelStatus.UP
        answer = graph.call(Rekey, "/gcs/pqc_proxy/rekey", Rekey.Request(drone_id="d1", suite=OTHER))
        assert answer.ok, answer.message
        names = "fleet/d2/pqc_proxy: tunnel d2", "pqc_system: load"

        def heard() -> set[str]:
            return {status.name for message in health for status in message.status}

        until(lambda: set(names) <= heard(), "diagnostics under the other name")
        assert not any("d1" in name for name in heard())
