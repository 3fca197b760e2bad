# SPDX-License-Identifier: Apache-2.0
import queue
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from pqc_mav_proxy.engine_host import EngineHost

DEADLINE_S = 10.0


class RecordingEngine:
    """Stands in for the engine to watch the order of calls; the real one is in test_node.py."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        if "bad" in config:
            raise ValueError("bad")
        self.calls: list[str] = []
        self.events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")

    def wait_events(self, timeout_s: float) -> list[dict[str, Any]]:
        try:
            return [self.events.get(timeout=timeout_s)]
        except queue.Empty:
            return []


def test_events_reach_the_callback_from_the_pump_thread() -> None:
    seen: queue.SimpleQueue[tuple[str, list[dict[str, Any]]]] = queue.SimpleQueue()
    host = EngineHost(RecordingEngine, {}, lambda events: seen.put((threading.current_thread().name, events)))
    host.start()
    host.engine.events.put({"type": "log"})
    assert seen.get(timeout=DEADLINE_S) == ("engine-events", [{"type": "log"}])
    host.stop()
    assert not any(thread.name == "engine-events" for thread in threading.enumerate())


def test_stop_without_start_and_twice() -> None:
    host = EngineHost(RecordingEngine, {}, lambda events: None)
    host.stop()
    host.stop()
    assert host.engine.calls == ["stop", "stop"]


def test_a_refused_configuration_raises() -> None:
    with pytest.raises(ValueError, match="bad"):
        EngineHost(RecordingEngine, {"bad": 1}, lambda events: None)
