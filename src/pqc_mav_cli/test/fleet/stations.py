# SPDX-License-Identifier: Apache-2.0
"""Two ground stations as processes, an operator's keys for both, and drones of theirs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import yaml

from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.testing import until

HOST = "127.0.0.1"
DAEMON = shutil.which("pqcmav-tunneld")
STATIONS = ("north", "south")


class Stations:
    """`root` are the operator's keys; each station runs with a copy of its own, and serves d1."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "keys"
        pqc_mav_tunnel.init_keys(str(self.root), ["d1"], sig_tokens=["mldsa44"], stations=list(STATIONS))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.drones: list[Any] = []
        for name in STATIONS:
            shutil.copytree(self.root / "stations" / name, self.keys(name))
            settings = {"role": "gcs", "gcs_id": name, "drones": ["d1"], "bind": HOST, "data_port": 0}
            settings |= {"keys": str(self.keys(name)), "drone": {"d1": {"plain_peer": f"{HOST}:1"}}}
            settings |= {"key_pool_depth": 0, "control_socket": str(self.socket(name))}
            self.file(name).write_text("# ours\n" + yaml.safe_dump(settings, sort_keys=False))
            self.start(name)

    def keys(self, name: str) -> Path:
        return self.folder / f"{name}-keys"

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"

    def socket(self, name: str) -> Path:
        return self.folder / "run" / f"gcs-{name}.sock"

    def start(self, name: str, *more: str, folder: Path | None = None) -> None:
        assert DAEMON
        command = [DAEMON, str(self.file(name)), *more]
        self.processes[name] = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        until(lambda: self.answers(name), f"{name} answers", 60)

    def stop(self, name: str) -> None:
        self.processes[name].terminate()
        self.processes[name].wait(20)

    def answers(self, name: str) -> bool:
        try:
            return bool(self.ask(name, "status"))
        except OSError:
            return False

    def ask(self, name: str, command: str, **arguments: Any) -> dict[str, Any]:
        with Control(Place(self.socket(name))) as control:
            return control.ask(command, **arguments)

    def drones_of(self, name: str) -> list[str]:
        return [each["drone_id"] for each in self.ask(name, "drones")["drones"]]

    def fly(self, drone: str, station: str, keys: Path | None = None) -> Any:
        """A drone's engine, connected to one station."""
        engine = self.try_to_fly(drone, station, keys)
        until(lambda: engine.status()[0]["state"] == "UP", f"{drone} is connected to {station}", 60)
        return engine

    def try_to_fly(self, drone: str, station: str, keys: Path | None = None) -> Any:
        port = next(each["port"] for each in self.ask(station, "sockets")["sockets"] if each["use"] == "tunnel")
        here = {"keys": str(keys or self.root / "drones" / drone), "drone_id": drone, "bind": HOST}
        there = {"peer": f"{station}@{HOST}:{port}", "local_data_port": 0, "plain_bind": f"{HOST}:0"}
        engine = pqc_mav_tunnel.Engine(
            {"role": "drone", "suite": "ML-512-AG-MD-44", "control_socket": "off", **here, **there}
        )
        engine.start()
        self.drones.append(engine)
        return engine

    def close(self) -> None:
        for engine in self.drones:
            engine.stop()
        for process in self.processes.values():
            process.terminate()
            process.wait(20)
