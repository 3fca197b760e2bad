# SPDX-License-Identifier: Apache-2.0
"""A gcs proxy whose configuration file changes while one of its drones flies."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from pqc_mav_interfaces.msg import TunnelStatus

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.local_socket import Control, ControlError, Place
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters
from pqc_mav_common.testing_traffic import Traffic

PERIOD_S = 0.004
DRONES = ("d1", "d2", "d3")


class Scene:
    """`start(arguments)` runs a gcs proxy with these ROS arguments; `keys` has keys for DRONES."""

    def __init__(self, start: Callable[[Sequence[str]], Running], keys: Path, folder: Path, namespace: str) -> None:
        self.node = f"/{namespace}/pqc_proxy"
        self.file = folder / "gcs.yaml"
        self.keys = keys
        self.traffic = Traffic(period_s=PERIOD_S)
        self.socket = folder / "gcs.sock"
        ground: dict[str, Any] = {"drone.d1.plain_peer": f"{HOST}:{self.traffic.ground_port}"}
        self.base = gcs_parameters(keys, control_socket=str(self.socket), **ground)
        self.write(drones=["d1"])
        # What the command line says goes before the file, as in ROS.
        line = ["--ros-args", "-r", f"__ns:=/{namespace}", "--params-file", str(self.file), "-p", "keepalive_s:=0.4"]
        self.gcs = start(line)
        self.engines: dict[str, Any] = {}

    def write(self, **parameters: Any) -> None:
        """The file of the gcs from now on; None leaves a key out."""
        values = {**self.base, "keepalive_s": 0.5, **parameters}
        found = {name: value for name, value in values.items() if value is not None}
        self.file.write_text(yaml.safe_dump({"/**": {"pqc_proxy": {"ros__parameters": found}}}))

    def fly(self, drone: str, **parameters: Any) -> None:
        """Starts a drone; it is up when this returns."""
        engine = pqc_mav_tunnel.Engine(
            drone_parameters(self.keys, self.base["data_port"], drone, control_socket="off", **parameters)
        )
        engine.start()
        self.engines[drone] = engine
        until(lambda: engine.status()[0]["state"] == "UP", f"{drone} up")

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """What the control socket answers. Raises ControlError."""
        with Control(Place(self.socket)) as control:
            return control.ask(command, **fields)

    def drones(self) -> list[str]:
        """As `pqcmav drones list`."""
        return [each["drone_id"] for each in self.ask("drones")["drones"]]

    def hang_up(self) -> int:
        """Sends SIGHUP; how many lines there were before."""
        before = len(self.gcs.lines)
        self.gcs.process.send_signal(signal.SIGHUP)
        return before

    def session(self) -> str:
        """Of d1."""
        return str(self.ask("status", drone="d1")["tunnels"][0]["session_id"])

    def close(self) -> None:
        """Ends everything."""
        self.traffic.stop()
        for engine in self.engines.values():
            engine.stop()
        self.gcs.kill()


@contextmanager
def scene(start: Callable[[Sequence[str]], Running], keys: Path, folder: Path, namespace: str) -> Iterator[Scene]:
    """A gcs that is up, with d1 in flight and traffic both ways."""
    made = Scene(start, keys, folder, namespace)
    try:
        made.gcs.wait_for("Control socket")
        made.fly("d1", plain_bind=f"{HOST}:{free_port()}")
        made.traffic.start(made.engines["d1"].ports()["plain"]["d1"])
        made.traffic.flows()
        yield made
    finally:
        made.close()


def latched(onlooker: Onlooker, node: str) -> dict[str, TunnelStatus]:
    """What a late subscriber gets of `~/status`: the newest of each drone."""
    seen = onlooker.newest(TunnelStatus, f"{node}/status", qos.latched(16))
    return {each.drone_id: each for each in seen}


def drones_come_and_go(made: Scene, onlooker: Onlooker) -> None:
    """Three changes of the file, by SIGHUP and by the control socket, then one that is refused."""
    session = made.session()
    heard = onlooker.collect(TunnelStatus, f"{made.node}/status", qos.latched(16))
    until(lambda: heard, "a status")
    ground = free_port()
    made.write(drones=["d1", "d2"], **{"drone.d2.plain_peer": f"{HOST}:{ground}"})
    made.gcs.wait_for("Added: d2", made.hang_up())
    made.fly("d2")
    until(lambda: set(latched(onlooker, made.node)) == {"d1", "d2"}, "the latched set of both")

    made.write(drones=["d1", "d2"], dscp=8, **{"drone.d2.plain_endpoints": [f"udp-listen:{HOST}:0"]})
    changes = made.ask("reload")
    assert changes["configuration"] and changes["drones"]["changed"] == ["d2"], changes
    assert changes["drones"]["restart"] == ["dscp"], "keepalive_s is that of the command line, before and after"
    made.traffic.flows()

    made.file.write_text("/**: {pqc_proxy: {ros__parameters: {role: gcs")
    with pytest.raises(ControlError, match=r"gcs\.yaml, line 1"):
        made.ask("reload")
    made.gcs.wait_for("ot reloaded: ", made.hang_up())
    made.write(drones=["d1", "stranger"])
    with pytest.raises(ControlError, match="stranger"):
        made.ask("reload")
    assert made.drones() == ["d1", "d2"], "all or nothing"

    made.write(drones=["d1"])
    assert made.ask("reload")["drones"]["removed"] == ["d2"]
    until(lambda: [each.drone_id for each in heard if each.last_error.startswith("REMOVED")] == ["d2"], "a farewell")
    until(lambda: set(latched(onlooker, made.node)) == {"d1"}, "a client that comes late hears nothing of d2")
    assert made.session() == session


def drones_by_command(made: Scene, onlooker: Onlooker) -> None:
    """As `pqcmav drones add` and `remove` do; who is added stays when the file is read again."""
    session = made.session()
    assert made.ask("drones")["files"] == [str(made.file)]
    assert made.ask("drones", action="add", drone="d3", settings={"plain_bind": f"{HOST}:0"})["added"] == ["d3"]
    made.fly("d3")
    until(lambda: set(latched(onlooker, made.node)) == {"d1", "d3"}, "d3 among the statuses")
    for changes in (made.ask("reload", dry_run=True), made.ask("reload")):
        assert (changes["drones"]["kept"], changes["drones"]["removed"]) == (["d3"], []), changes
    with pytest.raises(ControlError, match="already"):
        made.ask("drones", action="add", drone="d3")
    assert made.ask("drones", action="remove", drone="d3")["removed"] == ["d3"]
    until(lambda: set(latched(onlooker, made.node)) == {"d1"}, "d3 no more")
    assert made.drones() == ["d1"] and made.session() == session


def settings_stay(made: Scene, onlooker: Onlooker) -> None:
    """What was set while it ran goes before the file, and what a reload took survives the next activation."""
    assert onlooker.put(made.node, "dscp", 40).successful
    assert onlooker.put(made.node, "shape_kbit", 100000).successful
    made.write(drones=["d1", "d2"])
    changes = made.ask("reload")["drones"]
    assert (changes["added"], changes["restart"]) == (["d2"], ["dscp"]), changes
    until(lambda: made.traffic.sent > 500, "traffic before, during and after")
    assert made.traffic.lost() == (0, 0), made.traffic.sent
    made.ask("drones", action="remove", drone="d2")
    made.ask("drones", action="add", drone="d3", settings={"plain_bind": f"{HOST}:0"})
    made.ask("avoid", families=["codes"])
    assert onlooker.put(made.node, "shape_kbit", 90000).successful
    assert onlooker.change(made.node, "deactivate")
    made.gcs.wait_for("Not reloaded: the node is not active", made.hang_up())
    assert onlooker.change(made.node, "activate")
    until(lambda: made.socket.exists() and made.drones() == ["d1", "d3"], "drones as they were changed")
    kept = made.ask("config")["config"]
    assert (kept["avoid"], kept["dscp"]) == (["codes"], 40), kept
    assert made.ask("status", drone="d1")["tunnels"][0]["shape_kbit"] == 90000

    made.write(drones=["d1", "d2"])
    assert onlooker.change(made.node, "deactivate", "cleanup", "configure", "activate")
    until(lambda: made.socket.exists() and made.drones() == ["d1", "d2"], "what its files say")
    assert made.gcs.end(signal.SIGTERM) == 0, made.gcs.lines
    bad = ("FATAL", "Traceback", "unexpected")
    assert not [line for line in made.gcs.lines if any(word in line for word in bad)], made.gcs.lines
