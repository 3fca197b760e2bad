# SPDX-License-Identifier: Apache-2.0
"""Keys and a ROS domain for the tests of the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
from commands import DRONES

from pqc_mav_bringup.log_file import VARIABLE
from pqc_mav_common.testing import own_domain

os.environ[VARIABLE] = ""  # no test writes to its user's logs

__all__ = ["keys", "own_domain"]


@pytest.fixture
def run_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the engines of a test have their control sockets: `run`, in a folder whose name is short enough for one."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        made = Path(name) / "run"
        made.mkdir(mode=0o700)
        monkeypatch.setenv("PQCMAV_RUN_DIR", str(made))
        yield made


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of keys for a gcs (ML-DSA-65 alone) and two drones."""
    root = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(root), list(DRONES), sig_tokens=["mldsa65"])
    return root
