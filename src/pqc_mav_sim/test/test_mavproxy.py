# SPDX-License-Identifier: Apache-2.0
"""MAVProxy, a real ground client, fetches the simulated vehicle's parameters."""

import socket

import pytest

from pqc_mav_common.free_ports import free_port
from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.testing import SessionFailedError, mavproxy_param_session, missing

pytestmark = pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")


def test_mavproxy_lists_every_parameter_with_its_value(make_vehicle):
    port = free_port()
    vehicle = make_vehicle(Endpoint(socket.AF_INET, ("127.0.0.1", port)))
    seen = mavproxy_param_session(port)
    table = vehicle.autopilot.params
    assert seen["count"] == len(table)
    assert seen["params"] == pytest.approx({spec.name: table.value(spec.name) for spec in table.specs}, abs=1e-6)
    assert "online system 1" in seen["output"]
    snapshot = vehicle.snapshot()
    assert not snapshot["frame_errors"]
    assert snapshot["gcs"] == "connected"


def test_without_a_vehicle_it_fails_and_says_so():
    port = free_port()
    with pytest.raises(SessionFailedError, match="no full parameter list within 4 s"):
        mavproxy_param_session(port, timeout=4.0)
