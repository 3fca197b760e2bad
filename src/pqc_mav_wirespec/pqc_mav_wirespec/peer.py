# SPDX-License-Identifier: Apache-2.0
"""Complete blocking peers for tests: a drone and a gcs."""

from __future__ import annotations

from .drone_peer import DroneIdentity, DronePeer
from .gcs_peer import GcsPeer
from .udp_peer import ProbeResult, Received

__all__ = ["DroneIdentity", "DronePeer", "GcsPeer", "ProbeResult", "Received"]
