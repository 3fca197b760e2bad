# SPDX-License-Identifier: Apache-2.0
"""Two ground stations for the tests of a registry, which need packages that Ubuntu 24.04 does not have."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from stations import DAEMON, STATIONS, Stations

if not (find_spec("nats") and find_spec("cryptography.hazmat.primitives.hpke")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def stations(run_folder: Path) -> Iterator[Stations]:
    if not DAEMON:
        pytest.skip("pqcmav-tunneld is not on the path")
    made = Stations(run_folder.parent)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def world(stations: Stations) -> Iterator[Any]:
    """The stations follow a registry."""
    from world import SERVER, world_of  # with packages that may be missing

    if SERVER is None:
        pytest.skip("nats-server is not installed")
    with world_of(stations) as made:
        for name in STATIONS:
            made.follow(name)
        yield made
