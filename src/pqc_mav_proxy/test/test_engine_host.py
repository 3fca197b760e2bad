# SPDX-License-Identifier: Apache-2.0
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest

from pqc_mav_common.local_socket import ControlError
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import gcs_parameters
from pqc_mav_proxy.engine_host import EngineHost

Batches = queue.SimpleQueue[tuple[str, list[dict[str, Any]]]]


@pytest.fixture
def seen() -> Batches:
    return queue.SimpleQueue()


@pytest.fixture
def host(keys: Path, seen: Batches) -> Iterator[EngineHost]:
    made = EngineHost(gcs_parameters(keys), lambda events: seen.put((threading.current_thread().name, events)))
    yield made
    made.stop()


def test_events_reach_the_callback_from_the_pump_thread_to_the_last(host: EngineHost, seen: Batches) -> None:
    host.start()
    name, events = seen.get(timeout=20)
    assert name == "engine-events"
    assert events[0]["say"]["text"].startswith("gcs: handshakes and packets on UDP port ")
    host.ask("log_level", level="debug")
    host.stop()
    assert not any(thread.name == "engine-events" for thread in threading.enumerate())
    assert not host._door.events(0), "nothing is left"


def test_commands_are_answered_or_refused_with_their_sentence(host: EngineHost) -> None:
    with pytest.raises(ControlError, match="has not been started"):
        host.ask("picture")
    assert host.ask("config")["config"]["role"] == "gcs"
    host.start()
    until(lambda: host.ask("picture", of="status")["status"][0]["drone_id"] == "d1", "a status")
    with pytest.raises(ControlError, match="has no 'dance'"):
        host.ask("picture", dance=1)


def test_stop_without_start_and_twice(host: EngineHost) -> None:
    host.stop()
    host.stop()
    assert not host.started


def test_a_refused_configuration_raises(keys: Path) -> None:
    with pytest.raises(pqc_mav_tunnel.TunnelError, match="'dscp' is 64") as refusal:
        EngineHost(gcs_parameters(keys, dscp=64), lambda events: None)
    assert refusal.value.is_configuration


def test_the_configuration_is_read_again_where_it_has_a_source(keys: Path) -> None:
    given, taken = gcs_parameters(keys), threading.Event()
    host = EngineHost(given, lambda events: None, (lambda: given, taken.set, ["/etc/gcs.yaml"]))
    host.start()
    try:
        assert host.ask("reload")["configuration"] and taken.is_set()
        assert host.ask("drones")["files"] == ["/etc/gcs.yaml"]
    finally:
        host.stop()
