# SPDX-License-Identifier: Apache-2.0
"""Keys, and a tunnel of two real `pqcmav-tunneld` with a folder for control sockets of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
from ends import DRONE, Pair

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for a gcs and one drone."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), [DRONE], sig_tokens=["mldsa65"])
    return root


@pytest.fixture(scope="module")
def pair(keys: Path, own_domain: None) -> Iterator[Pair]:
    """Both ends, up."""
    made = Pair(keys)
    try:
        made.up()
        yield made
    finally:
        made.kill()
