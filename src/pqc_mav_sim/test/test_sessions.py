# SPDX-License-Identifier: Apache-2.0
"""Sessions of real ground clients fail with a reason; that they fly is test_tunnel_clients.py's."""

import pytest
from client_sessions import SessionFailedError, mavproxy_param_session, mavsdk_session, missing

from pqc_mav_common.free_ports import free_port


@pytest.mark.skipif(missing("mavsdk") is not None, reason=missing("mavsdk") or "")
def test_an_address_that_cannot_be_used_is_an_error_that_says_why():
    with pytest.raises(SessionFailedError, match="MAVSDK cannot use nonsense://"):
        mavsdk_session("nonsense://127.0.0.1:1")


@pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")
def test_without_a_vehicle_it_fails_and_says_so():
    with pytest.raises(SessionFailedError, match="no full parameter list within 4 s"):
        mavproxy_param_session(free_port(), timeout=4.0)
