# SPDX-License-Identifier: Apache-2.0
"""`status` and `rekey` through control sockets: engines without ROS, other users, several at once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from commands import COMMAND, Running, pqcmav, refused

from pqc_mav_cli import quick
from pqc_mav_cli.socket_session import here
from pqc_mav_common import testing
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_daemons import TUNNELD, needs_tunneld
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters

GROUP = 47_124  # nobody's
REPETITIONS = 5
USUAL_WAY = "import sys; from pqc_mav_cli.app import main; sys.exit(main())"
# What a machine without ROS has: every import of rclpy fails.
WITHOUT_ROS = [
    sys.executable,
    "-c",
    "import sys; sys.modules['rclpy'] = None; from pqc_mav_cli.entry import run; run()",
]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        monkeypatch.setenv("PQCMAV_RUN_DIR", name)
        yield Path(name)


class Engines:
    """A gcs of d1 and d2, and both drones, in this process."""

    def __init__(self, keys: Path, drones: list[str]) -> None:
        self.all = [self.start(gcs_parameters(keys, ("d1", "d2"), data_port=0))]
        port = self.all[0].ports()["data"]
        self.all += [self.start(drone_parameters(keys, port, drone)) for drone in drones]
        until(lambda: all(engine.status()[0]["state"] == "UP" for engine in self.all[1:]), "all drones up")

    @staticmethod
    def start(config: dict[str, Any]) -> pqc_mav_tunnel.Engine:
        engine = pqc_mav_tunnel.Engine(config)
        engine.start()
        return engine

    def stop(self) -> None:
        for engine in reversed(self.all):
            engine.stop()


@pytest.fixture
def both(keys: Path, folder: Path) -> Iterator[Engines]:
    engines = Engines(keys, ["d1", "d2"])
    yield engines
    engines.stop()


@pytest.fixture
def one(keys: Path, folder: Path) -> Iterator[Engines]:
    engines = Engines(keys, ["d1"])
    yield engines
    engines.stop()


def test_status_and_rekey_without_ros(both: Engines) -> None:
    shown = subprocess.run([*WITHOUT_ROS, "status", "--once"], capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split()[:3] for line in shown.stdout.splitlines()[1:]]
    assert rows == [["drone-d1", "d1", "UP"], ["drone-d2", "d2", "UP"], ["gcs", "d1", "UP"], ["gcs", "d2", "UP"]]
    done = subprocess.run(
        [*WITHOUT_ROS, "rekey", "--drone", "d2"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("ML-768-AG-MD-65 (cs-mlkem768-aesgcm-mldsa65), epoch 1, after "), done.stderr


def test_json_has_what_ros_has(one: Engines) -> None:
    ended = pqcmav("status", "--json")
    drone, served, missing = json.loads(ended.stdout)
    assert ended.returncode == 1  # d2 is not there
    assert (drone["node"], served["drone_id"], missing["drone_id"]) == ("drone-d1", "d1", "d2")
    assert drone["status"]["state"] == "UP" and drone["status"]["role"] == "drone"
    assert drone["links"]["local"]["loss"] == 0 and drone["stats"]["tx_packets_per_s"] is not None
    assert missing["links"]["local"]["rtt_ms"] is None and missing["key_age_s"] is None


def test_which_end_is_meant(both: Engines) -> None:
    assert "--drone" in refused(2, "rekey")
    assert "2 drones" in refused(2, "rekey", "--on", "gcs")
    assert "no drone 'd3'" in refused(2, "rekey", "--drone", "d3")
    assert pqcmav("rekey", "--on", "gcs", "--drone", "d1").returncode == 0
    assert pqcmav("rekey", "--socket", both.all[2].control_socket()).returncode == 0
    assert [engine.status()[0]["epoch"] for engine in both.all] == [1, 1, 1]
    assert "There is no suite" in refused(2, "rekey", "--drone", "d1", "--suite", "cs-nonsense")
    assert "mldsa44" in refused(1, "rekey", "--drone", "d1", "--suite", "ML-512-AS-MD-44")


def test_the_usual_way_has_the_same_answers(one: Engines) -> None:
    """With an abbreviated or unknown option typer takes over."""
    assert quick.run(["rekey", "--reason=drill", "--nonsense"]) is None
    done = subprocess.run(
        [sys.executable, "-c", USUAL_WAY, "rekey", "--reason", "drill"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "epoch 1" in done.stdout, done.stderr


def test_the_live_view_finds_engines_that_come_later(one: Engines, keys: Path) -> None:
    live = Running("status")
    try:
        live.wait_for("gcs d1 UP")
        values = {"role": "drone", "keys": str(keys / "drones" / "d2"), "drone_id": "d2", "peer": "127.0.0.1"}
        port = one.all[0].ports()["data"]
        ports = {"data_port": port, "local_data_port": 0, "plain_bind": "127.0.0.1:0", "bind": "127.0.0.1"}
        one.all.append(Engines.start({**values, **ports}))
        live.wait_for("drone-d2 d2 UP")
        assert not any("Traceback" in line for line in live.lines)
    finally:
        live.kill()


def test_status_shows_no_drone_that_was_removed(one: Engines, folder: Path) -> None:
    with here(str(folder / "gcs.sock")) as watcher:
        assert watcher is not None
        assert [view.drone_id for view in watcher.views()] == ["d1", "d2"]
        assert pqcmav("drones", "remove", "d2").returncode == 0
        assert [view.drone_id for view in watcher.views()] == ["d1"]


@needs_tunneld
def test_one_engine_that_refuses_costs_the_others_nothing(both: Engines, folder: Path) -> None:
    file, door = folder / "bad.yaml", folder / "drone-d9.sock"
    file.write_text("role: drone\nnonsense: 7\n")
    daemon = testing.Running([str(TUNNELD), "--door", str(door), str(file)])
    try:
        daemon.wait_for("unconfigured: ")
        ended = pqcmav("status", "--once")
        rows = [line.split()[:3] for line in ended.stdout.splitlines()[1:]]
        assert rows == [["drone-d1", "d1", "UP"], ["drone-d2", "d2", "UP"], ["gcs", "d1", "UP"], ["gcs", "d2", "UP"]]
        assert ended.returncode == 1 and "drone-d9 does not answer" in ended.stderr
        assert "nonsense" in refused(1, "status", "--once", "--socket", str(door))
    finally:
        daemon.kill()


def test_reload_tells_what_changed(one: Engines) -> None:
    ended = pqcmav("reload", "--on", "gcs")
    assert (ended.returncode, ended.stdout) == (0, "nothing has changed\n"), ended.stderr
    assert "without a configuration file" in ended.stderr
    assert "is it running" in refused(1, "reload", "--drone", "d2")


def test_reload_goes_to_every_end_unless_one_is_named(one: Engines, keys: Path) -> None:
    """A key was once renewed at the drone's end alone, and a revoked drone stayed."""
    ended = pqcmav("reload")
    assert (ended.returncode, ended.stdout) == (0, "drone-d1: nothing has changed\ngcs: nothing has changed\n")
    key = keys / "drones" / "d1" / "psk.key"
    away = key.rename(key.with_suffix(".away"))
    try:
        ended = pqcmav("reload")
    finally:
        away.rename(key)
    assert (ended.returncode, ended.stdout) == (1, "gcs: nothing has changed\n"), "one that refuses stops no other"
    assert "There is no key file" in ended.stderr


@pytest.fixture
def filed(keys: Path, folder: Path) -> Iterator[Engines]:
    """A gcs of d1 that reads `folder`/gcs.yaml, and both drones, of which it knows one."""
    file = folder / "gcs.yaml"
    common = f"keys: {keys / 'gcs'}\nbind: 127.0.0.1\ndata_port: {free_port()}\nkey_pool_depth: 0\n"
    file.write_text(f"role: gcs\n{common}drones: [d1]  # ours\n")

    def read() -> dict[str, Any]:
        return dict(yaml.safe_load(file.read_text()))

    engines = Engines.__new__(Engines)
    engines.all = [Engines.start(read())]
    engines.all[0].set_config_source(read, None, [str(file)])
    for drone in ("d1", "d2"):
        values = {"role": "drone", "keys": str(keys / "drones" / drone), "drone_id": drone, "peer": "127.0.0.1"}
        ports = {"data_port": read()["data_port"], "local_data_port": 0, "plain_bind": "127.0.0.1:0"}
        engines.all.append(Engines.start({"bind": "127.0.0.1", "reconnect_after_s": 1.5, **values, **ports}))
    yield engines
    engines.stop()


def test_a_reload_leaves_who_was_added_at_run_time(filed: Engines, folder: Path) -> None:
    file, gcs = folder / "gcs.yaml", filed.all[0]
    before = file.read_text()

    def session() -> str:
        until(lambda: [each["state"] for each in gcs.status()] == ["UP", "UP"], "both up", 60)
        return str(gcs.status()[1]["session_id"])

    assert pqcmav("drones", "add", "d2", "--dry-run").stdout == f"would add d2, and save it in {file}\n"
    port = str(gcs.ports()["plain"]["d1"])
    for dry_run in (["--dry-run"], []):
        assert "in use" in refused(1, "drones", "add", "d2", "--plain-bind", f"127.0.0.1:{port}", *dry_run)
        assert "is not there" in refused(1, "drones", "add", "d2", "--radio", "serial:/dev/no-radio:57600", *dry_run)
    assert len(gcs.status()) == 1 and file.read_text() == before
    assert "until a restart" in pqcmav("drones", "add", "d2", "--no-save").stdout
    lives = session()
    for arguments in (["reload", "--on", "gcs", "--dry-run"], ["reload", "--on", "gcs"]):
        assert pqcmav(*arguments).stdout == "stay, though no file names them (added at run time): d2\n"
    assert session() == lives and file.read_text() == before
    assert pqcmav("drones", "remove", "d2", "--no-save").returncode == 0

    assert f"saved in {file}" in pqcmav("drones", "add", "d2", "--plain-peer", "127.0.0.1:9").stdout
    assert file.read_text().endswith('drones: [d1, "d2"]  # ours\ndrone:\n  "d2":\n    plain_peer: "127.0.0.1:9"\n')
    lives = session()
    assert pqcmav("reload", "--on", "gcs").stdout == "nothing has changed\n"
    file.write_text(before)  # by hand: the file named it once, so its word counts
    assert pqcmav("reload", "--on", "gcs", "--dry-run").stdout == "would be removed, and their sessions ended: d2\n"
    assert session() == lives
    assert pqcmav("reload", "--on", "gcs").stdout == "removed, and their sessions ended: d2\n"
    assert gcs.status()[0]["state"] == "UP" and len(gcs.status()) == 1

    pqcmav("drones", "add", "d2")
    assert f"saved in {file}" in pqcmav("drones", "remove", "d2").stdout and file.read_text() == before
    file.unlink()
    assert "--no-save" in refused(2, "drones", "add", "d2") and len(gcs.status()) == 1, "refused before it is added"


def test_drones_come_and_go(one: Engines) -> None:
    before = pqcmav("drones", "list").stdout.splitlines()
    assert [line.split()[0] for line in before] == ["d1", "d2"]
    assert "already" in refused(1, "drones", "add", "d2")
    assert "d2" in pqcmav("drones", "remove", "d2").stdout
    assert pqcmav("drones", "list").stdout.splitlines() == before[:1]
    assert "no drone 'd2'" in refused(2, "drones", "remove", "d2")
    assert "only drone" in refused(1, "drones", "remove", "d1")
    assert "no-key" in refused(1, "drones", "add", "no-key")
    added = pqcmav(
        "drones", "add", "d2", "--endpoint", "udp-listen:127.0.0.1:0", "--endpoint", "tcp-listen:127.0.0.1:0"
    )
    assert added.returncode == 0 and "until a restart" in added.stdout, added.stderr
    assert len(one.all[0].stats()[1]["endpoints"]) == 2
    assert one.all[1].status()[0]["state"] == "UP"
    gcs_down = one.all[0]
    gcs_down.stop()
    assert "No ground station" in refused(1, "drones", "list")


def test_dangers_make_the_exit_code_1(one: Engines) -> None:
    ended = pqcmav("status", "--once", "--socket", one.all[1].control_socket())
    assert ended.returncode == 0, ended.stderr
    door = pqc_mav_tunnel.Door(one.all[1])
    door.ask(json.dumps({"v": 1, "command": "dangers", "lines": ["mavros listens on every address"]}))
    ended = pqcmav("status", "--once", "--socket", one.all[1].control_socket())
    assert ended.returncode == 1 and "drone-d1: mavros listens" in ended.stderr


def test_a_socket_of_a_dead_process_is_passed_over(one: Engines, folder: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "drone-gone.sock"))
    assert pqcmav("rekey").returncode == 0
    assert "is the engine running?" in refused(1, "status", "--once", "--socket", str(folder / "drone-gone.sock"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_other_users(one: Engines, folder: Path) -> None:
    """Members of the group are served, others are told which group it is; as with the shipped units."""
    for path in folder.iterdir():
        os.chown(path, -1, GROUP)
    folder.chmod(0o755)

    def run(groups: list[int], *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments], user=GROUP, group=GROUP + 1, extra_groups=groups,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert run([GROUP], "rekey").returncode == 0, run([GROUP], "rekey").stderr
    assert "UP" in run([GROUP], "status", "--once").stdout
    for command in (["rekey"], ["status", "--once"], ["status"]):
        stranger = run([], *command)
        assert stranger.returncode == 1 and f"members of the group '{GROUP}'" in stranger.stderr, stranger
    os.chown(folder / "gcs.sock", -1, 0)
    of_root = run([GROUP], "rekey", "--socket", str(folder / "gcs.sock")).stderr
    assert "is for the user 'root' alone" in of_root and "usermod" not in of_root, (
        "nobody is to become a member of root"
    )
    shown = run([GROUP], "status", "--once").stdout
    assert "drone-d1" in shown and "gcs" not in shown
    ended = run([GROUP], "reload")
    assert (ended.returncode, ended.stdout) == (1, "drone-d1: nothing has changed\n"), (
        "the gcs would keep a revoked key"
    )
    assert f"{folder / 'gcs.sock'} is for the user 'root' alone" in ended.stderr
    os.chown(folder, -1, GROUP)
    folder.chmod(0o750)
    assert "UP" in run([GROUP], "status", "--once").stdout
    assert f"{folder} is for members of the group '{GROUP}'" in run([], "rekey").stderr


def test_how_long_it_takes(one: Engines, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints; the goals are 0.4 s for status, and 0.4 s more than the handshake for rekey."""
    took: dict[str, list[float]] = {}
    for command in (["status", "--once"], ["rekey"]) * REPETITIONS:
        began = time.monotonic()
        assert pqcmav(*command).stdout
        took.setdefault(" ".join(command), []).append(time.monotonic() - began)
    with capsys.disabled():
        for name, seconds in took.items():
            middle = sorted(seconds)[len(seconds) // 2]
            print(f"\npqcmav {name}: median {middle:.2f} s, longest {max(seconds):.2f} s, N {len(seconds)}", end=" ")


def test_options_are_those_of_the_usual_way() -> None:
    import typer

    from pqc_mav_cli.app import make_app

    commands = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
    for name, values in quick.OPTIONS.items():
        found = {option.removeprefix("--"): each for each in commands[name].params for option in each.opts}
        for option, default in values.items():
            assert found[option].default in (default, None if default == "" else default), option


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ([], {}),
        (["--once", "--socket", "/x"], {"once": True, "socket": "/x"}),
        (["--socket=/x", "--json"], {"socket": "/x", "json": True}),
        (["--once=1"], None),
        (["--socket"], None),
        (["--socket", "--once"], None),
        (["once"], None),
        (["--help"], None),
    ],
)
def test_parse(arguments: list[str], values: dict[str, Any] | None) -> None:
    expected = None if values is None else {**quick.OPTIONS["status"], **values}
    assert quick.parse(quick.OPTIONS["status"], arguments) == expected


def test_a_number_that_is_none_is_left_to_the_usual_way() -> None:
    assert quick.parse(quick.OPTIONS["rekey"], ["--timeout", "soon"]) is None
    parsed = quick.parse(quick.OPTIONS["rekey"], ["--timeout", "2"])
    assert parsed is not None and parsed["timeout"] == 2.0


@pytest.mark.parametrize("arguments", [("rekey",), ("station",), ("rekey", "--on", "gcs", "--reason", "drill")])
def test_nothing_here_is_said_in_one_sentence_and_at_once(folder: Path, arguments: tuple[str, ...]) -> None:
    """ROS, which would look around for seconds, is not even asked: it would have its own sentence."""
    assert f"has a control socket in {folder}; is it running on this machine?" in refused(1, *arguments)
    ended = subprocess.run([*WITHOUT_ROS, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and f"has a control socket in {folder}" in ended.stderr
    assert "--ros" not in ended.stderr, "which is of no use here"


@pytest.mark.parametrize("arguments", [("path",), ("station",), ("pause",), ("reload",), ("drones", "list")])
def test_an_engine_that_goes_away_is_said_in_one_sentence(folder: Path, arguments: tuple[str, ...]) -> None:
    where = folder / "gcs.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(where))
        listener.listen()

        def leave() -> None:
            with listener.accept()[0] as connection:
                connection.recv(4096)

        threading.Thread(target=leave, daemon=True).start()
        ended = pqcmav(*arguments, "--socket", str(where))
    assert ended.returncode == 1 and ended.stderr == f"pqcmav: error: No answer from {where}: {where} was closed.\n"
