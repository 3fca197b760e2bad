# SPDX-License-Identifier: Apache-2.0
"""Configuration read again under traffic, whichever proxy it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
import reload_scene
from proxies import KINDS, command
from reload_scene import Scene, scene
from watcher import Watcher

from pqc_mav_common.testing import Running


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, watcher: Watcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    keys = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(keys), list(reload_scene.DRONES), sig_tokens=["mldsa65"])
    line, environment = command(request.param), {"PYTHONUNBUFFERED": "1"}
    folder: Path = tmp_path_factory.mktemp("gcs")
    with scene(lambda more: Running([*line, *more], environment), keys, folder, f"reload_{request.param}") as found:
        yield found


def test_drones_come_and_go_with_the_file(made: Scene, watcher: Watcher) -> None:
    reload_scene.drones_come_and_go(made, watcher)


def test_drones_come_and_go_by_command(made: Scene, watcher: Watcher) -> None:
    reload_scene.drones_by_command(made, watcher)


def test_what_was_set_stays(made: Scene, watcher: Watcher) -> None:
    reload_scene.settings_stay(made, watcher)
