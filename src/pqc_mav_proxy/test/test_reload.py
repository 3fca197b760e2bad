# SPDX-License-Identifier: Apache-2.0
"""The proxy in Python reads its configuration again under traffic; the one in C++ is held against the same scenes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pqc_mav_tunnel
import pytest

from pqc_mav_common.testing import Running
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_proxy import testing_reload
from pqc_mav_proxy.testing_reload import Scene, scene


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    keys = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(keys), list(testing_reload.DRONES), sig_tokens=["mldsa65"])

    def start(arguments: Sequence[str]) -> Running:
        return Running([sys.executable, "-m", "pqc_mav_proxy.main", *arguments], {"PYTHONUNBUFFERED": "1"})

    with scene(start, keys, tmp_path_factory.mktemp("gcs"), "reload") as found:
        yield found


@pytest.fixture(scope="module")
def onlooker() -> Iterator[Onlooker]:
    with Onlooker() as found:
        yield found


def test_drones_come_and_go_with_the_file(made: Scene, onlooker: Onlooker) -> None:
    testing_reload.drones_come_and_go(made, onlooker)


def test_drones_come_and_go_by_command(made: Scene, onlooker: Onlooker) -> None:
    testing_reload.drones_by_command(made, onlooker)


def test_what_was_set_stays(made: Scene, onlooker: Onlooker) -> None:
    """The last test: nothing was lost in any of them."""
    testing_reload.settings_stay(made, onlooker)
