# SPDX-License-Identifier: Apache-2.0
"""Keys and a ROS domain for the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
from proxies import DRONES
from watcher import Watcher

from pqc_mav_common.testing import own_domain

__all__ = ["keys", "own_domain", "watcher"]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for the gcs (ML-DSA-65 and ML-DSA-87) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65", "mldsa87"])
    return root


@pytest.fixture(scope="module")
def watcher(own_domain: None) -> Iterator[Watcher]:
    """A node that sees the proxies from outside."""
    with Watcher() as made:
        yield made
