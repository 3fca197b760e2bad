# SPDX-License-Identifier: Apache-2.0
"""Engines are asked side by side: one that hangs takes nothing from the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pqc_mav_cli import socket_session
from pqc_mav_cli.socket_session import SocketWatcher
from pqc_mav_cli.status_view import is_silent
from pqc_mav_common.local_socket import Place
from pqc_mav_common.testing import until

LIMIT_S = 30.0  # not reached unless the one waits for the other


class Engine:
    """In place of a connection; `first` is done before it answers."""

    def __init__(self, name: str, first: Callable[[], Any]) -> None:
        self.place = Place(Path(f"/run/pqcmav/{name}.sock"))
        self._first = first

    def ask_all(self, _requests: Any) -> list[dict[str, Any]]:
        self._first()
        one = {"drone_id": "d1", "paths": []}
        return [{"dangers": [f"one of {self.place.name}"]}, {"status": [one], "stats": [one], "link": [[]]}]

    def close(self) -> None:
        pass


def test_each_is_asked_while_the_others_are() -> None:
    together = threading.Barrier(3)
    watcher = SocketWatcher([Engine(name, lambda: together.wait(LIMIT_S)) for name in ("gcs", "drone-d1", "drone-d2")])
    assert [view.node for view in watcher.views()] == ["drone-d1", "drone-d2", "gcs"]
    assert watcher.dangers()[0] == "drone-d1: one of drone-d1" and watcher.silent() == []


def test_one_that_hangs_makes_no_other_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now_s=100.0)
    monkeypatch.setattr(socket_session, "time", SimpleNamespace(monotonic=lambda: clock.now_s))

    def hang() -> None:
        until(lambda: watcher._views, "the other's answer")
        clock.now_s += 5.0
        raise TimeoutError

    watcher = SocketWatcher([Engine("drone-d1", lambda: None), Engine("gcs", hang)])
    (view,) = watcher.views()
    assert view.node == "drone-d1" and not is_silent(view, clock.now_s) and watcher.silent() == ["gcs"]
    assert view.status_at_s == 100.0, "keys have aged since"
