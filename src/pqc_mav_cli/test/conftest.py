"""Keys and a ROS domain for the tests of the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
from commands import DRONES


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    from pqc_mav_bringup.free_ports import held_domain

    with held_domain() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        yield
        del os.environ["ROS_DOMAIN_ID"]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for a gcs (ML-DSA-65 alone) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65"])
    return root
