# SPDX-License-Identifier: Apache-2.0
"""Keys and a ROS domain for the tests of the command."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel
import pytest
from commands import DRONES

from pqc_mav_common.testing import own_domain

__all__ = ["keys", "own_domain"]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for a gcs (ML-DSA-65 alone) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65"])
    return root
