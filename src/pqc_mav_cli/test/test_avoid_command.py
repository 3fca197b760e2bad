# SPDX-License-Identifier: Apache-2.0
"""`pqcmav avoid`: a fleet leaves a family of algorithms by one command."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from commands import pqcmav

from pqc_mav_cli.avoid_command import leave
from pqc_mav_cli.errors import CliError
from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.testing import until

HOST = "127.0.0.1"
DAEMON = shutil.which("pqcmav-tunneld")
FLEET = ("d1", "d2", "d3")


class Fleet:
    """A ground station as a process with a file, and drones that fly ML-KEM with Falcon."""

    def __init__(self, root: Path) -> None:
        assert DAEMON
        pqc_mav_tunnel.init_keys(str(root / "keys"), list(FLEET), sig_tokens=["mldsa44", "falcon512"])
        self.root, self.file = root, root / "gcs.yaml"
        settings = {"role": "gcs", "drones": list(FLEET), "bind": HOST, "data_port": 0, "key_pool_depth": 0}
        settings |= {"keys": str(root / "keys" / "gcs"), "drone": {each: {"plain_peer": f"{HOST}:1"} for each in FLEET}}
        self.file.write_text("# ours\n" + yaml.safe_dump(settings, sort_keys=False))
        self.drones: dict[str, Any] = {}
        self.port = 0
        self.start()

    def start(self) -> None:
        self.gcs = subprocess.Popen([DAEMON, str(self.file)], stderr=subprocess.DEVNULL)
        until(lambda: pqcmav("avoid").returncode == 0, "the ground station answers", 60)

    def fly(self, name: str) -> Any:
        here = {"keys": str(self.root / "keys" / "drones" / name), "drone_id": name, "peer": HOST, "bind": HOST}
        ports = {"data_port": self.data_port(), "local_data_port": 0, "plain_bind": f"{HOST}:0"}
        engine = pqc_mav_tunnel.Engine(
            {"role": "drone", "suite": "ML-512-AG-FA-512", "control_socket": "off", **here, **ports}
        )
        engine.start()
        self.drones[name] = engine
        until(lambda: self.suite(name) != "", f"{name} is connected", 60)
        return engine

    def data_port(self) -> int:
        if not self.port:
            from pqc_mav_common.local_socket import chosen

            with chosen({"PQCMAV_RUN_DIR": str(self.root / "run")}, role="gcs") as control:
                assert control
                own = [each for each in control.ask("sockets")["sockets"] if each["use"] == "tunnel"]
            self.port = own[0]["port"]
        return self.port

    def suite(self, name: str) -> str:
        return str(self.drones[name].status()[0]["suite"])

    def close(self) -> None:
        for engine in self.drones.values():
            engine.stop()
        self.gcs.terminate()
        self.gcs.wait(20)


@pytest.fixture
def fleet(run_folder: Path) -> Iterator[Fleet]:
    if not DAEMON:
        pytest.skip("pqcmav-tunneld is not on the path")
    made = Fleet(run_folder.parent)
    yield made
    made.close()


def test_a_fleet_leaves_a_family_and_may_come_back(fleet: Fleet) -> None:
    for name in FLEET[:2]:
        fleet.fly(name)
    done = pqcmav("avoid", "falcon")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"avoided: Falcon; saved in {fleet.file}\n")
    for name in FLEET[:2]:
        assert f"{name}: ML-512-AG-MD-44 (cs-mlkem512-aesgcm-mldsa44), epoch 1, after " in done.stdout
        assert fleet.suite(name) == "cs-mlkem512-aesgcm-mldsa44"
    text = fleet.file.read_text()
    assert text.startswith("# ours\n") and yaml.safe_load(text)["avoid"] == ["falcon"]

    # A drone that comes with its old configuration, and a ground station that was restarted.
    fleet.fly(FLEET[2])
    assert fleet.suite(FLEET[2]) == "cs-mlkem512-aesgcm-mldsa44"
    fleet.gcs.terminate()
    fleet.gcs.wait(20)
    fleet.start()
    assert pqcmav("avoid").stdout == "avoided: Falcon\n"

    assert pqcmav("avoid", "none").stdout == f"avoided: none; saved in {fleet.file}\n"
    assert yaml.safe_load(fleet.file.read_text())["avoid"] == []


def test_drones_that_cannot_leave_are_named(fleet: Fleet) -> None:
    fleet.fly("d1")
    done = pqcmav("avoid", "ml-dsa", "falcon", "--no-save")
    assert done.returncode == 1
    assert "no other one of its level" in done.stdout
    assert "Still with keys of an avoided family: d1." in done.stderr
    assert pqcmav("avoid").stdout == "avoided: ML-DSA, Falcon; still with such keys: d1\n"
    assert "avoid" not in yaml.safe_load(fleet.file.read_text())


def test_a_file_that_cannot_be_edited_does_not_keep_the_drones(fleet: Fleet) -> None:
    fleet.fly("d1")
    text = fleet.file.read_text() + "avoid:\n- hashes\n"
    fleet.file.write_text(text)
    done = pqcmav("avoid", "falcon")
    assert done.returncode == 1
    assert (
        "avoided: Falcon, until a restart of the ground station: " in done.stdout and "not in one line" in done.stdout
    )
    assert fleet.suite("d1") == "cs-mlkem512-aesgcm-mldsa44" and fleet.file.read_text() == text


def test_a_reload_says_what_is_avoided_and_keeps_what_was_not_saved(fleet: Fleet) -> None:
    assert "it lasts until a restart" in pqcmav("avoid", "falcon", "--no-save").stdout
    assert pqcmav("reload", "--on", "gcs").stdout == "nothing has changed\n"
    assert pqcmav("avoid").stdout == "avoided: Falcon\n"
    text = fleet.file.read_text()
    fleet.file.write_text(text + "avoid: [codes]\n")
    assert pqcmav("reload", "--on", "gcs", "--dry-run").stdout == "would be avoided: codes\n"
    assert pqcmav("reload", "--on", "gcs").stdout == "avoided: codes\n"
    fleet.file.write_text(text)
    assert pqcmav("reload", "--on", "gcs").stdout == "avoided: none\n"


def test_what_cannot_be_avoided_is_a_sentence(fleet: Fleet) -> None:
    for families, text in (
        (["lettuce"], "there is no family 'lettuce' of algorithms; there are lattices, codes, hashes"),
        (["lattices", "codes"], "'avoid' leaves no suite"),
        (["none", "codes"], "'none' stands alone"),
    ):
        done = pqcmav("avoid", *families)
        assert done.returncode == 2 and text in done.stderr, done
    assert pqcmav("avoid").stdout == "avoided: none\n"
    assert "avoid" not in yaml.safe_load(fleet.file.read_text())


def test_a_connection_that_ends_during_the_rekeys_does_not_hide_who_is_left(run_folder: Path) -> None:
    """As after 120 s without a question on it."""

    def answer(connection: socket.socket, **words: Any) -> None:
        connection.recv(4096)
        connection.sendall(json.dumps(words).encode() + b"\n")

    def serve() -> None:
        still = {"ok": True, "result": {"avoid": "Falcon", "still": ["d1"]}}
        with listener.accept()[0] as first:
            answer(first, **still)
            rekey, _ = listener.accept()
        with rekey:
            answer(rekey, ok=False, error={"code": "refused", "text": "It does not answer."})
        with listener.accept()[0] as second:
            answer(second, **still)

    place = Place(run_folder / "gcs.sock")
    said: list[str] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place.path))
        listener.listen()
        threading.Thread(target=serve, daemon=True).start()
        with Control(place) as control, pytest.raises(CliError, match="avoided family: d1"):
            said.extend(leave(control, ["falcon"], None, no_save=True))
