# SPDX-License-Identifier: Apache-2.0
"""Endpoints of plaintext that the configuration opens to the network: shown as allowed, whichever proxy it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from proxies import KINDS, NODE, guard, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import diagnosed
from pqc_mav_common.testing_proxies import HOST, drone_parameters


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_opened_on_purpose_is_allowed(kind: str, keys: Path, watcher: Watcher, tmp_path: Path) -> None:
    space = f"{kind}_endpoints"
    data, vehicle, tcp, udp = free_ports(4)
    places = [f"udp:{HOST}:{vehicle}", f"tcp-listen:0.0.0.0:{tcp}", f"udp-listen:0.0.0.0:{udp}"]
    parameters = drone_parameters(keys, data, plain_endpoints=places, plain_allow_remote=True)
    parameters["control_socket"] = str(tmp_path / "drone.sock")
    del parameters["plain_bind"]
    processes = [start(kind, parameters, space)]
    try:
        processes += guard(kind, space, tmp_path)
        arrays = watcher.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
        name = f"{space}/{NODE}: sockets"
        # A guard beside the proxy may have looked before there was one.
        until(lambda: "as allowed" in diagnosed(arrays, name)[1], "what it says of the proxy's sockets")
        level, text = diagnosed(arrays, name)
        assert level == 1 and "open to the network, as allowed" in text, text
        assert f"TCP 0.0.0.0:{tcp}" in text and f"UDP 0.0.0.0:{udp}" in text, text
        assert "DEGRADED" not in text, text
    finally:
        for process in processes:
            process.kill()
