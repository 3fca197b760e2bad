# SPDX-License-Identifier: Apache-2.0
"""The test at the end of joining: does the link of the new keys come up, where it is going to be?

The drone's side is an engine for some seconds. The ground's is the gcs that runs; where none does, `invite` stands in
for it at its port, until the drone has said how the test went.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from pqc_mav_cli.drones_command import add_drone, saving_to
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.joining.channel import Channel
from pqc_mav_cli.joining.ground_keys import read_by
from pqc_mav_cli.joining.share import Share
from pqc_mav_cli.up_check import UDP, taken
from pqc_mav_common.local_socket import Control, ControlError, chosen

UP_S = 20.0
DATA_PORT = 46011


def link_comes_up(keys: Path, share: Share, suite: str = "") -> str:
    """Opens a session with the keys in a folder. Returns a sentence; raises CliError with one where it does not."""
    config: dict[str, Any] = {
        "role": "drone", "keys": str(keys), "drone_id": share.drone_id, "peer": share.peer, "local_data_port": 0,
        "rekey_interval_s": 0.0,
    }  # fmt: skip
    if suite:
        config["suite"] = suite
    began_s = time.monotonic()
    with Channel(config) as channel:
        while time.monotonic() - began_s < UP_S:
            status = channel.status()
            if status["state"] == "UP":
                return f"the link to {share.peer} came up in {(time.monotonic() - began_s) * 1e3:.0f} ms"
            time.sleep(0.02)
        error = status["last_error"] or "no answer."
    raise CliError(f"The link to {share.peer} did not come up within {UP_S:g} s: {error}")


def suite_for(signatures: Sequence[str]) -> str:
    """ "" where the default suite works with these public keys of the ground station, else one that does."""
    import pqc_mav_tunnel

    default = next(each["default"] for each in pqc_mav_tunnel.config_schema("drone") if each["key"] == "suite")
    if pqc_mav_tunnel.find_suite(default).sig_token in signatures:
        return ""
    fitting = [each for each in pqc_mav_tunnel.suites(only_available=True) if each.sig_token in signatures]
    return max(fitting, key=lambda each: (each.kem_family == "ML-KEM", each.level)).id if fitting else ""


class Ground:
    """The gcs that a drone is added to: the one that runs on this machine, or a stand-in."""

    def __init__(self, gcs_id: str, bind: str, data_port: int, socket: str = "") -> None:
        self._bind = bind
        self._socket = socket
        self._stack = ExitStack()
        with self._running() as control:
            status: Mapping[str, Any] = control.ask("status") if control else {}
            self.keys = read_by(control) if control else None  # of the one that runs
        self.gcs_id: str = status.get("gcs_id", gcs_id)
        self.data_port: int = status.get("data_port", data_port)
        if not status and (why := taken(UDP, bind, data_port)):
            raise CliError(
                f"No ground station that this user sees runs here, but its UDP port {data_port} cannot be used: {why}. "
                "If it is another user's, name its socket by --socket and its keys by --root.",
                ExitCode.USAGE,
            )

    def __enter__(self) -> Ground:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def enlist(self, drone: str, keys: Path) -> str:
        """From now on the drone is let in; a stand-in has its keys from `keys`. Returns a sentence; raises CliError."""
        try:
            # Anew: an engine ends a connection that asks nothing for two minutes, and may be another one by now.
            with self._running() as control:
                return _added(control, drone) if control else self._stand_in(drone, keys)
        except ControlError as error:
            raise CliError(str(error)) from None
        except OSError as error:
            raise CliError(f"The running ground station did not answer: {error}.") from None

    def _running(self) -> AbstractContextManager[Control | None]:
        return chosen(os.environ, path=self._socket, role="gcs")

    def _stand_in(self, drone: str, keys: Path) -> str:
        config = {
            "role": "gcs", "keys": str(keys), "gcs_id": self.gcs_id, "drones": [drone], "bind": self._bind,
            "data_port": self.data_port,
        }  # fmt: skip
        try:
            self._stack.enter_context(Channel(config, f"drone.{drone}.plain_endpoints"))
        except CliError as error:
            raise CliError(f"No ground station runs here that could be asked, and none can be tried: {error}") from None
        return "No ground station runs yet; 'pqcmav invite' stands in for it, for the test."


def _added(control: Control, drone: str) -> str:
    """A file that cannot be written does not keep the drone out: it is let in until the next start."""
    if any(each["drone_id"] == drone for each in control.ask("drones")["drones"]):
        control.ask("reload")
        return "The running ground station has read its keys again."
    try:
        saving_to(control)
    except CliError as error:
        add_drone(control, drone, {}, save=False)
        return f"The running ground station serves it until its next start. {error}"
    _, file = add_drone(control, drone, {}, save=True)
    return f"The running ground station serves it{f'; saved in {file}' if file else ''}."
