# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import Pair, drone_config, eventually, gcs_config, udp


@pytest.fixture(autouse=True)
def own_run_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Control sockets stay among the engines of a test; a short path, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as folder:
        monkeypatch.setenv("PQCMAV_RUN_DIR", folder)
        yield Path(folder)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("keys") / "all"
    tunnel.init_keys(str(root), ["uav1"], ["mldsa44", "mldsa65"], drone_signatures=True)
    return root


@pytest.fixture
def pair(keys: Path) -> Iterator[Pair]:
    ground = udp()
    gcs = tunnel.Engine(
        gcs_config(keys, drone={"uav1": {"plain_peer": f"127.0.0.1:{ground.getsockname()[1]}"}}),
    )
    gcs.start()
    drone = tunnel.Engine(drone_config(keys, gcs.ports()))
    drone.start()
    both = Pair(gcs, drone, ground)
    assert eventually(both.up)
    yield both
    both.close()
