# SPDX-License-Identifier: Apache-2.0
"""Keys read again while the engine runs: renewed, taken away, given back; other drones notice nothing."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import drone_config, eventually, gcs_config, udp

DRONES = ["uav1", "uav2"]
PERIOD_S = 0.002


def psk(root: Path, drone: str) -> tuple[Path, Path]:
    """A drone's key at the gcs and its own."""
    return root / "gcs" / "psk" / f"{drone}.key", root / "drones" / drone / "psk.key"


class Traffic:
    """Numbered datagrams from an autopilot to the ground, until it is stopped."""

    def __init__(self, port: int, ground: socket.socket) -> None:
        self._autopilot, self._port, self._ground = udp(), port, ground
        self._stopping = threading.Event()
        self.sent = 0
        self._arrived: list[int] = []
        self._threads = [threading.Thread(target=self._send), threading.Thread(target=self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        while not self._stopping.wait(PERIOD_S):
            self._autopilot.sendto(b"%d" % self.sent, ("127.0.0.1", self._port))
            self.sent += 1

    def _receive(self) -> None:
        self._ground.settimeout(0.2)
        while not (self._stopping.is_set() and len(self._arrived) >= self.sent):
            try:
                self._arrived.append(int(self._ground.recv(100)))
            except TimeoutError:
                if self._stopping.is_set():
                    return

    def stop(self) -> list[int]:
        """What arrived."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._autopilot.close()
        return self._arrived


class Fleet:
    def __init__(self, root: Path) -> None:
        self.root = root
        tunnel.init_keys(str(root), DRONES, ["mldsa44"])
        self.ground = udp()
        plain = {"uav1": {"plain_peer": f"127.0.0.1:{self.ground.getsockname()[1]}"}}
        self.gcs = tunnel.Engine(gcs_config(root, drones=DRONES, drone=plain))
        self.gcs.start()
        self.drones = {drone: self._start(drone) for drone in DRONES}
        assert eventually(lambda: self.states() == ["UP", "UP"])

    def _start(self, drone: str) -> tunnel.Engine:
        more = {"keys": str(self.root / "drones" / drone), "drone_id": drone, "reconnect_after_s": 1.5}
        engine = tunnel.Engine(drone_config(self.root, self.gcs.ports(), **more))
        engine.start()
        return engine

    def states(self) -> list[str]:
        return [status["state"] for status in self.gcs.status()]

    def close(self) -> None:
        for engine in (*self.drones.values(), self.gcs):
            engine.stop()
        self.ground.close()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path / "keys")
    yield made
    made.close()


def renew(root: Path, folder: Path, drone: str) -> None:
    """Another key for both ends, put in place as a rotation does."""
    tunnel.init_keys(str(folder), DRONES, ["mldsa44"])
    for fresh, old in zip(psk(folder, drone), psk(root, drone), strict=True):
        shutil.move(fresh, old)


def changes(**named: Any) -> dict[str, Any]:
    """Of keys alone."""
    drones: dict[str, Any] = {name: [] for name in ("added", "removed", "changed", "restart", "kept")}
    drones["avoid"] = None
    return {"renewed": [], "removed": [], "signing": [], "configuration": False, "drones": drones, **named}


def test_other_drones_lose_nothing(fleet: Fleet, tmp_path: Path) -> None:
    traffic = Traffic(fleet.drones["uav1"].ports()["plain"]["uav1"], fleet.ground)
    session = fleet.gcs.status()[0]["session_id"]
    assert fleet.gcs.reload() == changes()

    # Renewed at both ends: the session goes on, and the next handshake uses the new key.
    renew(fleet.root, tmp_path / "fresh", "uav2")
    before = fleet.gcs.status()[1]["session_id"]
    assert fleet.gcs.reload() == changes(renewed=["uav2"])
    assert fleet.gcs.status()[1]["session_id"] == before
    assert fleet.drones["uav2"].reload() == changes(renewed=["uav2"])
    assert fleet.drones["uav2"].request_rekey("uav2")["ok"]
    assert fleet.gcs.status()[1]["session_id"] != before

    # Taken away: it is off the air at once and does not come back.
    kept = tmp_path / "kept"
    shutil.move(psk(fleet.root, "uav2")[0], kept)
    assert fleet.gcs.reload() == changes(removed=["uav2"])
    assert eventually(lambda: fleet.gcs.status()[1]["suite"] == "")
    assert eventually(lambda: fleet.drones["uav2"].status()[0]["state"] != "UP")
    assert fleet.gcs.status()[1]["suite"] == "" and "no key" in fleet.gcs.status()[1]["last_error"]

    # Given back: it connects on its own.
    shutil.move(kept, psk(fleet.root, "uav2")[0])
    assert fleet.gcs.reload() == changes(renewed=["uav2"])
    assert eventually(lambda: fleet.states() == ["UP", "UP"], limit_s=60)

    assert fleet.gcs.status()[0]["session_id"] == session
    arrived = traffic.stop()
    assert arrived == list(range(traffic.sent)) and traffic.sent > 100


def test_other_drones_lose_nothing_while_endpoints_change(fleet: Fleet) -> None:
    """Applications of uav2 come and go, by UDP and TCP, while uav1's packets flow; neither makes a new session."""
    sessions = [status["session_id"] for status in fleet.gcs.status()]
    others: dict[str, Any] = {}
    same = {"plain_peer": f"127.0.0.1:{fleet.ground.getsockname()[1]}"}
    fleet.gcs.set_config_source(lambda: gcs_config(fleet.root, drones=DRONES, drone={"uav1": same, "uav2": others}))
    traffic = Traffic(fleet.drones["uav1"].ports()["plain"]["uav1"], fleet.ground)
    for _ in range(5):
        for places in (["udp-listen:127.0.0.1:0"], ["udp-listen:127.0.0.1:0", "tcp-listen:127.0.0.1:0"]):
            others["plain_endpoints"] = places
            assert fleet.gcs.reload()["drones"]["changed"] == ["uav2"]
            assert len(fleet.gcs.stats()[1]["endpoints"]) == len(places)
        del others["plain_endpoints"]
        assert fleet.gcs.reload()["drones"]["changed"] == ["uav2"]
    assert [status["session_id"] for status in fleet.gcs.status()] == sessions
    fleet.gcs.set_config_source(None)
    assert eventually(lambda: traffic.sent > 100)
    assert traffic.stop() == list(range(traffic.sent))


def test_a_bad_key_changes_nothing(fleet: Fleet) -> None:
    theirs, own = psk(fleet.root, "uav2")
    text = theirs.read_text()
    theirs.write_text("nonsense\n")
    psk(fleet.root, "uav1")[0].unlink()
    with pytest.raises(tunnel.TunnelError) as refused:
        fleet.gcs.reload()
    assert refused.value.code == "key_format"
    own.unlink()
    with pytest.raises(tunnel.TunnelError):
        fleet.drones["uav2"].reload()
    theirs.write_text(text)
    assert fleet.states() == ["UP", "UP"]
    assert fleet.drones["uav2"].request_rekey("uav2")["ok"]


def test_a_bad_key_changes_no_drone_either(fleet: Fleet) -> None:
    """Half of a reload would be one more thing to find out about."""
    taken: list[int] = []
    fleet.gcs.set_config_source(lambda: gcs_config(fleet.root, drones=["uav1"]), lambda: taken.append(1))
    theirs = psk(fleet.root, "uav1")[0]
    text = theirs.read_text()
    theirs.write_text("nonsense\n")
    with pytest.raises(tunnel.TunnelError) as refused:
        fleet.gcs.reload()
    assert refused.value.code == "key_format"
    assert fleet.states() == ["UP", "UP"] and taken == []
    theirs.write_text(text)
    assert fleet.gcs.reload()["drones"]["removed"] == ["uav2"] and taken == [1]


def test_an_empty_folder_is_no_revocation_of_all(fleet: Fleet) -> None:
    """More likely a card that is not mounted: aircraft in flight must not lose their link."""
    for drone in DRONES:
        psk(fleet.root, drone)[0].unlink()
    with pytest.raises(tunnel.TunnelError, match="nothing was changed"):
        fleet.gcs.reload()
    assert fleet.states() == ["UP", "UP"]


def test_a_changed_signing_key_is_told(fleet: Fleet, tmp_path: Path) -> None:
    tunnel.init_keys(str(tmp_path / "fresh"), DRONES, ["mldsa44"])
    for ending in ("key", "pub"):
        name = f"gcs/sig/mldsa44.{ending}"
        shutil.move(tmp_path / "fresh" / name, fleet.root / name)
    assert fleet.gcs.reload() == changes(signing=["ML-DSA-44"])
    # The drone trusts the old one until it is told otherwise.
    refused = fleet.drones["uav1"].request_rekey("uav1")
    assert not refused["ok"] and "running session continues" in refused["message"]
    for drone in DRONES:
        shutil.copy(fleet.root / "gcs" / "sig" / "mldsa44.pub", fleet.root / "drones" / drone / "gcs" / "mldsa44.pub")
    assert fleet.drones["uav1"].reload() == changes(signing=["ML-DSA-44"])
    assert fleet.drones["uav1"].request_rekey("uav1")["ok"]


def test_before_the_start_there_is_nothing_to_reload(fleet: Fleet) -> None:
    engine = tunnel.Engine(gcs_config(fleet.root, drones=DRONES))
    with pytest.raises(tunnel.TunnelError) as refused:
        engine.reload()
    assert refused.value.code == "state"


def test_a_configuration_from_python_is_read_again(fleet: Fleet) -> None:
    """In the thread of whoever asks: here, and in that of the control socket."""
    wanted: dict[str, Any] = {"drones": ["uav1"]}
    taken: list[int] = []

    def read() -> dict[str, Any]:
        if "fault" in wanted:
            raise ValueError("The file is gone.")
        return gcs_config(fleet.root, **wanted)

    assert fleet.gcs.reload()["configuration"] is False
    fleet.gcs.set_config_source(read, lambda: taken.append(1))
    outcome = fleet.gcs.reload()
    assert outcome["configuration"] and outcome["drones"]["removed"] == ["uav2"] and outcome["renewed"] == []
    wanted["fault"] = True
    with pytest.raises(tunnel.TunnelError, match="The file is gone") as refused:
        fleet.gcs.reload()
    assert refused.value.code == "config_invalid" and taken == [1]
    del wanted["fault"]
    wanted["drones"] = ["uav1", "stranger"]
    with pytest.raises(tunnel.TunnelError, match="stranger"):
        fleet.gcs.reload()
    assert taken == [1]
    fleet.gcs.set_config_source(None)
    assert fleet.gcs.reload()["configuration"] is False


def test_an_engine_that_ends_while_its_source_is_in_python(fleet: Fleet) -> None:
    """Neither waits for the other: the engine's threads need the interpreter for their last call."""
    inside, done = threading.Event(), threading.Event()

    def read() -> dict[str, Any]:
        inside.set()
        done.wait(1.0)
        return gcs_config(fleet.root, drones=DRONES)

    fleet.gcs.set_config_source(read)
    refusals: list[str] = []

    def ask() -> None:
        with pytest.raises(tunnel.TunnelError) as refused:
            fleet.gcs.reload()
        refusals.append(refused.value.code)

    caller = threading.Thread(target=ask)
    caller.start()
    assert inside.wait(30)
    fleet.gcs.stop()
    done.set()
    caller.join(30)
    assert refusals == ["state"]
