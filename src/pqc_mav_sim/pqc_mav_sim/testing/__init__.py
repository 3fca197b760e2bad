# SPDX-License-Identifier: Apache-2.0
"""Sessions of real ground clients, for tests here and for tests through the tunnel."""

from pqc_mav_sim.testing.sessions import SessionFailedError, mavproxy_param_session, mavsdk_session, missing

__all__ = ["SessionFailedError", "mavproxy_param_session", "mavsdk_session", "missing"]
