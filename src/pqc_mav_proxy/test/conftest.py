"""Keys and a ROS domain for the tests of the proxy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest

DRONES = ("d1", "d2")


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for the gcs (ML-DSA-65 and ML-DSA-87) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65", "mldsa87"])
    return root


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    try:
        from domain_coordinator import domain_id
    except ImportError:
        yield
        return
    with domain_id() as number:
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield
        del os.environ["ROS_DOMAIN_ID"]
