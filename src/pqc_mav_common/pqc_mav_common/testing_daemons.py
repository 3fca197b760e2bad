# SPDX-License-Identifier: Apache-2.0
"""A pqcmav-tunneld that tests kill and start again. Only tests import this module."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_proxies import drone_parameters
from pqc_mav_common.two_ends import write

TUNNELD = shutil.which("pqcmav-tunneld")
needs_tunneld = pytest.mark.skipif(TUNNELD is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")


class Daemon:
    """A pqcmav-tunneld that is killed and started again."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.file, self.door = folder / "end.yaml", folder / "end.sock"
        self.config = {**config, "control_socket": str(self.door)}
        self.running: Running | None = None

    def start(
        self, *options: str, environment: Mapping[str, str] | None = None, under: Sequence[str] = (), **changes: Any
    ) -> Running:
        """`under`: what runs the program."""
        write(self.file, {**self.config, **changes})
        line = [*under, str(TUNNELD), "--door", str(self.door), *options, str(self.file)]
        self.running = Running(line, environment)
        until(lambda: self.ask("hello") and not self.ask("hello")["starting"], "an open door")
        return self.running

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """What it answers; nothing while it is away."""
        try:
            with Control(Place(self.door)) as control:
                return control.ask(command, **fields)
        except OSError:
            return {}

    def send(self, number: signal.Signals) -> None:
        """A signal for it."""
        assert self.running is not None
        self.running.process.send_signal(number)

    def kill(self) -> None:
        """It may be started again."""
        if self.running is not None:
            self.running.kill()
            self.running = None


def drone_of(daemon: Daemon, keys: Path) -> Running:
    """The other end, as a daemon of its own."""
    config = drone_parameters(keys, daemon.config["data_port"], reconnect_after_s=1.0, control_socket="off")
    return Running([str(TUNNELD), str(write(daemon.file.parent / "air.yaml", config))])
