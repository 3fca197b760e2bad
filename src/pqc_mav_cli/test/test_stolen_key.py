# SPDX-License-Identifier: Apache-2.0
"""A thief has a drone's PSK and a live session: after `keys rotate --now` both are worth nothing."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from commands import pqcmav, refused

from pqc_mav_common.testing import until

HOST = "127.0.0.1"


class Scene:
    """A gcs that delivers d1's MAVLink to `ground`, and drones that have some share of its keys."""

    def __init__(self, root: Path) -> None:
        pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa44"])
        self.root = root
        self.ground = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ground.bind((HOST, 0))
        self.ground.settimeout(0.2)
        peer = {"d1": {"plain_peer": f"{HOST}:{self.ground.getsockname()[1]}"}}
        common = {"role": "gcs", "drones": ["d1"], "data_port": 0, "key_pool_depth": 0, "handshakes_per_drone_s": 100.0}
        self.gcs = self._start({**common, "keys": str(root / "gcs"), "drone": peer})
        self.drones: list[Any] = []

    @staticmethod
    def _start(values: dict[str, Any]) -> Any:
        engine = pqc_mav_tunnel.Engine({"bind": HOST, **values})
        engine.start()
        return engine

    def fly(self, keys: Path) -> Any:
        """A drone that calls itself d1 and has these keys; it tries again soon."""
        ports = {"data_port": self.gcs.ports()["data"], "local_data_port": 0, "plain_bind": f"{HOST}:0"}
        times = {"reconnect_after_s": 1.5, "keepalive_s": 0.5}
        names = {"role": "drone", "drone_id": "d1", "peer": HOST, "suite": "ML-512-AG-MD-44", "control_socket": "off"}
        self.drones.append(self._start({**names, **ports, **times, "keys": str(keys)}))
        return self.drones[-1]

    def hears(self, drone: Any, text: bytes, times: int = 5) -> bool:
        """Whether what this drone's autopilot sends arrives at the ground."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot:
            for _ in range(times):
                autopilot.sendto(text, (HOST, drone.ports()["plain"]["d1"]))
                try:
                    while True:
                        if self.ground.recv(2048) == text:
                            return True
                except TimeoutError:
                    continue
        return False

    def close(self) -> None:
        for engine in (*self.drones, self.gcs):
            engine.stop()
        self.ground.close()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        monkeypatch.setenv("PQCMAV_RUN_DIR", name)
        made = Scene(tmp_path / "keys")
        yield made
        made.close()


def state(engine: Any) -> str:
    return str(engine.status()[0]["state"])


def test_the_thief_is_out_and_the_drone_comes_back(scene: Scene, tmp_path: Path) -> None:
    share = scene.root / "drones" / "d1"
    stolen = tmp_path / "stolen"
    shutil.copytree(share, stolen)
    thief = scene.fly(stolen)
    until(lambda: state(thief) == "UP", "the thief passes for d1", 60)
    assert scene.hears(thief, b"from the thief")
    session = scene.gcs.status()[0]["session_id"]

    ended = pqcmav("keys", "rotate", "d1", "--now", "--root", str(scene.root))
    assert ended.returncode == 0 and "its session has ended" in ended.stderr, ended.stderr
    assert scene.gcs.status()[0]["session_id"] != session and scene.gcs.status()[0]["suite"] == ""
    assert not scene.hears(thief, b"still here")
    answer = thief.request_rekey("d1", timeout_s=5.0)
    assert not answer["ok"], answer
    failed = thief.status()[0]["handshakes_failed"]
    until(lambda: thief.status()[0]["handshakes_failed"] >= failed + 2, "the thief tries again, twice", 60)
    assert state(scene.gcs) != "UP" and state(thief) != "UP"
    another = scene.fly(stolen)
    until(lambda: another.status()[0]["handshakes_failed"] >= 1, "another end with the old key", 60)

    drone = scene.fly(share)
    until(lambda: state(drone) == "UP" and state(scene.gcs) == "UP", "the drone, with its new share", 60)
    assert scene.hears(drone, b"from the drone")
    session = scene.gcs.status()[0]["session_id"]
    failed = thief.status()[0]["handshakes_failed"]
    until(lambda: thief.status()[0]["handshakes_failed"] >= failed + 2, "the thief goes on trying", 60)
    assert scene.gcs.status()[0]["session_id"] == session and not scene.hears(thief, b"again")


def test_a_drone_that_runs_comes_back_with_a_reload(scene: Scene, tmp_path: Path) -> None:
    """As on the bench: its process goes on, and reads the share that was brought."""
    mine = tmp_path / "mine"
    shutil.copytree(scene.root / "drones" / "d1", mine)
    drone = scene.fly(mine)
    until(lambda: state(drone) == "UP", "the drone", 60)
    assert pqcmav("keys", "rotate", "d1", "--now", "--root", str(scene.root)).returncode == 0
    until(lambda: state(drone) != "UP", "it is out, too: nobody can tell it from the thief", 60)
    shutil.copyfile(scene.root / "drones" / "d1" / "psk.key", mine / "psk.key")
    assert drone.reload()["renewed"] == ["d1"]
    until(lambda: state(drone) == "UP" and state(scene.gcs) == "UP", "with its new key", 60)


def test_the_only_drone_is_out_after_a_reload_once_it_is_revoked(scene: Scene) -> None:
    drone = scene.fly(scene.root / "drones" / "d1")
    until(lambda: state(drone) == "UP", "the drone", 60)
    session = scene.gcs.status()[0]["session_id"]
    away = scene.root / "away"
    for gone in (scene.root / "gcs", scene.root / "gcs" / "psk"):
        gone.rename(away)
        with pytest.raises(pqc_mav_tunnel.TunnelError, match="psk cannot be read"):
            scene.gcs.reload()
        away.rename(gone)
    assert scene.gcs.status()[0]["session_id"] == session, "a folder that is not mounted revokes nothing"

    drone.stop()
    stolen = scene.fly(scene.root / "drones" / "d1")
    until(lambda: scene.hears(stolen, b"from the thief"), "the thief passes for d1", 60)
    assert "Now call 'pqcmav reload'" in pqcmav("keys", "revoke", "d1", "-y", "--root", str(scene.root)).stderr
    assert scene.gcs.reload()["removed"] == ["d1"]
    assert not scene.hears(stolen, b"still here")
    failed = stolen.status()[0]["handshakes_failed"]
    until(lambda: stolen.status()[0]["handshakes_failed"] >= failed + 2, "the thief tries again, twice", 60)
    assert scene.gcs.status()[0]["suite"] == ""


def test_a_ground_station_that_reads_a_copy_gets_the_new_key(scene: Scene, tmp_path: Path) -> None:
    """As the Debian package's, whose keys are made in root's home."""
    home = tmp_path / "home"
    shutil.copytree(scene.root, home)
    psk = Path("gcs") / "psk" / "d1.key"
    old = (scene.root / psk).read_bytes()
    ended = pqcmav("keys", "rotate", "d1", "--now", "--root", str(home))
    assert ended.returncode == 0 and "its session has ended" in ended.stderr, ended.stderr
    assert (scene.root / psk).read_bytes() == (home / psk).read_bytes() != old
    pqc_mav_tunnel.init_keys(str(home), ["d2"], sig_tokens=["mldsa44"])
    assert "no drone 'd2'" in refused(1, "keys", "rotate", "d2", "--now", "--root", str(home))


def test_where_now_cannot_be_it_says_what_is_left_to_do(scene: Scene, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    pqc_mav_tunnel.init_keys(str(elsewhere), ["d1", "d2"], sig_tokens=["mldsa44"])
    said = refused(1, "keys", "rotate", "d1", "--now", "--root", str(elsewhere))
    assert "signing keys are not those of" in said and "pqcmav drones end d1" in said
    assert "DRONE --now" in refused(2, "keys", "rotate", "gcs", "--now", "--root", str(elsewhere))
    scene.gcs.stop()
    said = refused(1, "keys", "rotate", "d1", "--now", "--root", str(elsewhere))
    assert "no ground station runs on this machine" in said and "the old key still counts" in said


def test_the_other_ground_stations_are_named_where_the_old_key_still_counts(scene: Scene, tmp_path: Path) -> None:
    root = tmp_path / "several"
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa44"], stations=["north", "south"])
    scene.gcs.stop()
    names = {"role": "gcs", "gcs_id": "north", "drones": ["d1"], "data_port": 0, "key_pool_depth": 0}
    scene.gcs = scene._start({**names, "keys": str(root / "stations" / "north")})
    said = pqcmav("keys", "rotate", "d1", "--now", "--root", str(root)).stderr
    assert "opens nothing any more at north." in said and "(stations/south)" in said, said
    assert "'pqcmav drones end d1' there" in said


def test_a_revoked_key_of_which_the_ground_station_has_a_copy_is_named(scene: Scene, tmp_path: Path) -> None:
    def revoked(name: str) -> str:
        shutil.copytree(scene.root, tmp_path / name)
        return str(pqcmav("keys", "revoke", "d1", "-y", "--root", str(tmp_path / name)).stderr)

    said = revoked("copied")
    assert "another copy" in said and "'pqcmav drones remove d1'" in said, said
    shutil.rmtree(scene.root / "gcs" / "psk")
    assert "Now call 'pqcmav reload'" in revoked("again")
