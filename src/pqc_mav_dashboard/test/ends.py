# SPDX-License-Identifier: Apache-2.0
"""Two real ends of a tunnel, and a dashboard beside them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.testing import Running, until

DRONE = "d1"


class Pair:
    """A drone and its gcs, run by pqcmav-tunneld, with control sockets in a folder of their own."""

    def __init__(self, keys: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pqcmav-")
        self.run_folder = Path(self._folder.name)
        self._keys = keys
        self.data, self.at_drone, self.at_gcs, self.ground = free_ports(4)
        self.ends: dict[str, Running] = {}
        self.start("gcs")
        self.start("drone")

    @property
    def environment(self) -> dict[str, str]:
        """For whoever is to find them."""
        return {"PQCMAV_RUN_DIR": str(self.run_folder)}

    def start(self, role: str) -> None:
        """One end; again after it was killed."""
        lines = {
            "gcs": [
                *("role: gcs", f"keys: {self._keys / 'gcs'}", f"drones: [{DRONE}]", "bind: 127.0.0.1"),
                *(f"data_port: {self.data}", "key_pool_depth: 0"),
                f'drone: {{{DRONE}: {{plain_bind: "127.0.0.1:{self.at_gcs}", plain_peer: "127.0.0.1:{self.ground}"}}}}',
            ],
            "drone": [
                *("role: drone", f"keys: {self._keys / 'drones' / DRONE}", f"drone_id: {DRONE}", "peer: 127.0.0.1"),
                *(f"data_port: {self.data}", "local_data_port: 0", f'plain_bind: "127.0.0.1:{self.at_drone}"'),
            ],
        }[role]
        config = self.run_folder / f"{role}.yaml"
        config.write_text("\n".join(lines) + "\n")
        self.ends[role] = Running(["pqcmav-tunneld", str(config)], self.environment)

    def control(self, role: str) -> Control:
        """A connection to one end."""
        return Control(Place(self.run_folder / ("gcs.sock" if role == "gcs" else f"drone-{DRONE}.sock")))

    def status(self, role: str) -> dict[str, Any]:
        """Of its one tunnel; empty while nobody answers."""
        try:
            with self.control(role) as control:
                return dict(control.ask("status")["tunnels"][0])
        except OSError:
            return {}

    def up(self) -> None:
        """Wait until packets flow."""
        until(lambda: all(self.status(role).get("state") == "UP" for role in ("drone", "gcs")), "both ends up")

    def kill(self) -> None:
        """Leave nothing behind."""
        for end in self.ends.values():
            end.kill()
        self._folder.cleanup()


def needs_command() -> None:
    """Skips a test that starts `pqcmav`, where there is none."""
    pytest.importorskip(
        "pqc_mav_cli", reason="the command is a package above this one, which colcon leaves out of its tests"
    )


class Dashboard:
    """`pqcmav dashboard` as its users start it."""

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        groups: Sequence[int] = (),
    ) -> None:
        needs_command()
        command = ["pqcmav", "dashboard", *([] if "--port" in arguments else ["--port", "0"]), *arguments]
        if user is not None:
            supplementary = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
            command = ["setpriv", "--reuid", str(user), "--regid", str(user + 1), *supplementary, *command]
        self.running = Running(command, environment)
        self.running.wait_for("http://")
        self.url = next(line for line in self.running.lines if line.startswith("http://")).rstrip("/")
        self.host = self.url.removeprefix("http://")
        self.token = ""
        if "--replay" not in arguments:
            self.running.wait_for("token for actions: ")
            self.token = self.running.lines[-1].rpartition(" ")[2]

    def request(
        self, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body."""
        asked = urllib.request.Request(f"{self.url}{path}", data=body, method=method, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(asked, timeout=90) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read()

    def act(self, action: str, headers: Mapping[str, str] | None = None, **body: str) -> tuple[int, dict[str, Any]]:
        """An action as the page asks for it; `headers` replace the page's own ("" leaves one out)."""
        sent = {"Content-Type": "application/json", "Origin": self.url, "X-PQCMAV-Token": self.token, **(headers or {})}
        status, _, answer = self.request(
            f"/api/actions/{action}", "POST", json.dumps(body).encode(), {k: v for k, v in sent.items() if v}
        )
        return status, json.loads(answer)

    def health(self) -> dict[str, Any]:
        """Viewers, whether anything is asked, refusals by code."""
        return dict(json.loads(self.request("/api/health")[2]))

    def children(self) -> list[int]:
        """Processes that it has started."""
        import psutil

        return [child.pid for child in psutil.Process(self.running.process.pid).children(recursive=True)]

    def kill(self) -> None:
        """Leave nothing behind."""
        if self.running.process.poll() is None:
            os.killpg(self.running.process.pid, signal.SIGINT)
            deadline = time.monotonic() + 10
            while self.running.process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
        self.running.kill()


def look(dashboard: Dashboard, what: str, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """Messages about the fleet ("") or a drone until there are enough."""

    async def watch() -> list[dict[str, Any]]:
        heard: list[dict[str, Any]] = []
        async with connect(f"ws://{dashboard.host}/ws", origin=dashboard.url, proxy=None) as page:  # type: ignore[arg-type]
            await page.send(json.dumps({"v": 1, "look": what}))
            while not enough(heard):
                message = json.loads(await asyncio.wait_for(page.recv(), 30))
                if message["kind"] != "hello":
                    heard.append(message)
        return heard

    return asyncio.run(asyncio.wait_for(watch(), 90))
