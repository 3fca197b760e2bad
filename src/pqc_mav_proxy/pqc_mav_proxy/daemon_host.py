# SPDX-License-Identifier: Apache-2.0
"""An engine in a process of its own, a pqcmav-tunneld, asked through its control socket: what EngineHost is, from afar.

The tunnel goes on without this program. Here it is opened and closed only where somebody asks for that.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import pqc_mav_tunnel

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.local_socket import DAEMON, VERSION, ControlError, doors_of, result_of
from pqc_mav_common.process import asked_to_end
from pqc_mav_common.siblings import MARK

START_S = 10.0  # for a daemon that is started together with this program
WAIT_S = 0.25
STEP_S = 0.02
LATCHED = 10  # reports of handshakes that a late subscriber gets (qos.event)
AWAY = "away"  # code of a refusal of this side
_CONFIGURATION = ("config_", "key_", "suite_")  # codes that no other start mends


class DaemonHost:
    """The daemon of one end.

    `on_events` is called on a thread of its own with each batch of events, those of the door among them.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        tunnel: str,
        environment: Mapping[str, str],
        on_events: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        """Looks for it from now on. With `daemon` it is the one that was started together with this program.

        Raises ControlError for a configuration without a door.
        """
        role = str(config.get("role", "drone"))
        name = config.get("drone_id", "") if role == "drone" else config.get("gcs_id", "gcs")
        mark = environment.get(MARK, "") if tunnel == DAEMON else ""
        doors = doors_of(config, environment)
        self.path = next((door for door in doors if door.exists()), doors[0])
        self._door = pqc_mav_tunnel.SocketDoor(str(self.path), role, str(name), mark)
        self._on_events = on_events
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._old_until = 0  # events with lower numbers were there before this program looked
        self._old: deque[dict[str, Any]] = deque(maxlen=LATCHED)
        self._found = False
        self.started = False

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """The result of a command. Raises ControlError, with the code `away` where nobody answers."""
        return result_of(self._door.ask(json.dumps({"v": VERSION, "command": command, **fields})))

    def hello(self) -> dict[str, Any]:
        """What the daemon said of itself last, {} while it is away."""
        return dict(json.loads(self._door.hello() or "{}"))

    @property
    def process(self) -> int:
        """The daemon's, 0 where it is not of this machine's processes as they are seen here."""
        return int(self.hello().get("process", 0))

    @property
    def network(self) -> str:
        """The network namespace in which it counts, as the kernel calls it; "" while it is not known."""
        inode = self.hello().get("network_namespace")
        return f"net:[{inode}]" if inode else ""

    def settle(self, limit_s: float = START_S) -> dict[str, Any]:
        """Waits until it is there and has read what it starts with. Returns its hello. Raises ControlError, without a
        word if this process itself is to end: then its daemon is about to, too."""
        end_s = time.monotonic() + limit_s
        while not (hello := self.hello()) or hello["starting"]:
            if asked_to_end():
                raise ControlError("", ExitCode.OK, AWAY)
            if time.monotonic() > end_s:
                raise ControlError(self._door.away() or "pqcmav-tunneld does not end its start.", ExitCode.START, AWAY)
            time.sleep(STEP_S)
        return hello

    def change(self, command: str) -> None:
        """Has it do `configure`, `resume` or `pause`. What it refuses is raised with the exit code that fits."""
        try:
            self.ask(command)
        except ControlError as error:
            lasting = error.code.startswith(_CONFIGURATION)
            raise ControlError(str(error), ExitCode.CONFIG if lasting else ExitCode.START, error.code) from None

    def start(self) -> None:
        """Begins to hand events over: handshakes of before, as far as they are latched, and all of now."""
        self.started = True
        self._thread = threading.Thread(target=self._pump, name="daemon-events")
        self._thread.start()

    def stop(self) -> list[dict[str, Any]]:
        """Leaves the daemon alone. Returns nothing to publish: its tunnel is as it was."""
        self._stopping.set()
        self._door.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return []

    def _pump(self) -> None:
        while not self._stopping.is_set():
            fresh = [json.loads(line) for line in self._door.events(WAIT_S)]
            ready: list[dict[str, Any]] = []
            for event in fresh:
                if self._is_old(event):
                    continue
                if event["event"] != "door":
                    ready += self._kept()
                ready.append(event)
            if not fresh:
                ready += self._kept()
            if ready:
                self._on_events(ready)

    def _kept(self) -> list[dict[str, Any]]:
        kept = list(self._old)
        self._old.clear()
        return kept

    def _is_old(self, event: dict[str, Any]) -> bool:
        """Whether an event is of before; handshakes are kept for those who subscribe late."""
        if event["event"] == "door":
            if event["there"] and (event["gap"] or not self._found):
                self._old_until = event["next"]
            self._found = self._found or event["there"]
            return not self._found
        if event.get("number", self._old_until) >= self._old_until:
            return False
        if event["event"] == "handshake":
            self._old.append(event)
        return True
