# SPDX-License-Identifier: Apache-2.0
"""Keys, a ROS domain and what looks at the proxy, for its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest

from pqc_mav_common.testing import own_domain
from pqc_mav_common.testing_daemons import Daemon
from pqc_mav_common.testing_onlooker import Onlooker, ros
from pqc_mav_common.testing_proxies import gcs_parameters

__all__ = ["client", "daemon", "keys", "own_domain", "ros"]

DRONES = ("d1", "d2")


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for the gcs (ML-DSA-65 and ML-DSA-87) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65", "mldsa87"])
    return root


@pytest.fixture(scope="module")
def client(ros: None) -> Iterator[Onlooker]:
    """Who sees and asks nodes from outside."""
    with Onlooker() as made:
        yield made


@pytest.fixture
def daemon(keys: Path, tmp_path: Path) -> Iterator[Daemon]:
    """A gcs' pqcmav-tunneld, not started."""
    made = Daemon(tmp_path, gcs_parameters(keys))
    yield made
    made.kill()
