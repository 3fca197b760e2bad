# SPDX-License-Identifier: Apache-2.0
"""MAVSDK, a real ground client, flies the simulated vehicle."""

import socket

import pytest

from pqc_mav_common.free_ports import free_port
from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.testing import SessionFailedError, mavsdk_session, missing

pytestmark = pytest.mark.skipif(missing("mavsdk") is not None, reason=missing("mavsdk") or "")


def test_mavsdk_connects_reads_arms_takes_off_and_lands(make_vehicle):
    port = free_port()
    vehicle = make_vehicle(Endpoint(socket.AF_INET, ("127.0.0.1", port)))
    seen = mavsdk_session(f"udpin://127.0.0.1:{port}")
    assert seen["system_id"] == 1
    assert (seen["latitude_deg"], seen["longitude_deg"]) == pytest.approx((47.397742, 8.545594), abs=1e-5)
    assert 15.0 < seen["voltage_v"] < 17.0
    assert seen["remaining_percent"] == pytest.approx(100.0, abs=1.0)
    assert seen["flight_sw"] == "1.15.4"
    assert seen["armed_before"] is False
    assert "DENIED" in seen["early_takeoff"]
    assert seen["armed"] is True
    assert seen["altitude_m"] >= 0.8 * seen["float_param"]
    assert seen["current_in_air_a"] > 7.0
    assert "DENIED" in seen["disarm_in_air"]
    assert seen["landed"] is True
    assert seen["int_param"] == seen["int_param_written"] == vehicle.autopilot.params.value("COM_DL_LOSS_T")
    assert seen["param_count"] == len(vehicle.autopilot.params)
    snapshot = vehicle.snapshot()
    assert not snapshot["frame_errors"]
    assert all(source["lost"] == 0 for source in snapshot["uplink"].values())


def test_an_address_that_cannot_be_used_is_an_error_that_says_why():
    with pytest.raises(SessionFailedError, match="MAVSDK cannot use nonsense://"):
        mavsdk_session("nonsense://127.0.0.1:1")
