# SPDX-License-Identifier: Apache-2.0
"""Owns the engine and the one thread that waits for its events; everything else is asked through the engine's door."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pqc_mav_tunnel

from pqc_mav_common.local_socket import VERSION, result_of

# Longest time that a stop waits for the pump thread; the engine wakes that thread for every event.
WAIT_S = 0.25


class EngineHost:
    """An engine from configuration to stop.

    `on_events` is called on the pump thread with each batch of events and must only hand them over.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        on_events: Callable[[list[dict[str, Any]]], None],
        source: tuple[Callable[[], Mapping[str, Any]], Callable[[], None], Sequence[str]] | None = None,
        written: Any = None,
    ) -> None:
        """Validates the configuration and reads the keys. Raises the engine's TunnelError.

        `source` is what reads the configuration again, what is told that the engine has taken it, and the
        files it comes from. `written` is what the engine before handed on.
        """
        self._engine = pqc_mav_tunnel.Engine(config, written)
        self._door = pqc_mav_tunnel.Door(self._engine)
        self._sourced = source is not None
        if source is not None:
            self._engine.set_config_source(*source)
        self._on_events = on_events
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.started = False  # from then on the engine has a status, even after its stop

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """The result of a command of docs/control-socket.md. Raises ControlError for what the engine refuses."""
        return result_of(self._door.ask(json.dumps({"v": VERSION, "command": command, **fields})))

    def start(self) -> None:
        """Binds the sockets and starts to pump events. Raises the engine's TunnelError."""
        self._engine.start()
        self.started = True
        self._thread = threading.Thread(target=self._pump, name="engine-events")
        self._thread.start()

    def handed_on(self, config: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """What was read, with the drones that were changed since, and what was written: for the engine after this."""
        return self._engine.for_next(config), self._engine.written()

    @property
    def process(self) -> int:
        """Where the engine runs."""
        return os.getpid()

    @property
    def network(self) -> str:
        """That of this process."""
        return ""

    def stop(self) -> list[dict[str, Any]]:
        """Closes the sessions, wipes the keys, hands the last events over and returns the last statuses.

        May be called more than once.
        """
        self._stopping.set()
        self._engine.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._sourced:
            self._engine.set_config_source(None)  # it may hold whoever holds the engine
        return list(self.ask("picture", of="status")["status"]) if self.started else []

    def _pump(self) -> None:
        stopped = False
        while not stopped:
            stopped = self._stopping.is_set()
            while events := self._door.events(0 if stopped else WAIT_S):
                self._on_events([json.loads(event) for event in events])
