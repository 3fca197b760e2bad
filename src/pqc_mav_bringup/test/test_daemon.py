# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import socket
from pathlib import Path

import pytest
from programs import install

from pqc_mav_bringup.composed import components, split
from pqc_mav_bringup.configuration import engine_of
from pqc_mav_bringup.daemon import arranged, check_daemon, with_set_around
from pqc_mav_bringup.description import BringupError, Process, SystemDescription, resolve
from pqc_mav_bringup.executables import TUNNELD, command, is_daemon
from pqc_mav_bringup.systems import DEMO, DRONE, GCS, PORTS
from pqc_mav_common.local_socket import ATTACH, DAEMON, TUNNELS

ALONE = {"sensing": "false", "policy": "false", "detect": "false"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "run"
    monkeypatch.setenv("PQCMAV_RUN_DIR", str(place))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    install(tmp_path, "pqc_mav_tunnel", TUNNELD)
    return place


def config(tmp_path: Path, **values: object) -> str:
    path = tmp_path / "end.yaml"
    path.write_text(json.dumps({"/**": {"pqc_proxy": {"ros__parameters": values}}}))
    return str(path)


def pair(**given: str) -> tuple[Process, Process]:
    node, daemon = arranged(resolve(DRONE, {"tunnel": DAEMON, **ALONE, **given}))
    assert is_daemon(daemon) and not is_daemon(node)
    return node, daemon


def test_what_a_launch_file_sets_for_all_nodes_counts_for_the_daemon_too(folder: Path, tmp_path: Path) -> None:
    around = {"rekey_interval_s": 77.0, "grace_s": 1.5, "peer": "10.0.0.9", "use_sim_time": True, "of_another": 1}
    file = config(tmp_path, drone_id="d7", grace_s=2.5)
    given = {"tunnel": DAEMON, **ALONE, "config": file, "peer": "10.0.0.1"}
    made = with_set_around(resolve(DRONE, given), around.items())
    (line,) = [command(each) for each in arranged(made) if is_daemon(each)]
    assert "rekey_interval_s=77.0" in line and 'peer="10.0.0.1"' in line
    assert not any(word.startswith(("grace_s", "use_sim_time", "of_another")) for word in line)


def test_what_a_file_sets_for_all_nodes_counts_for_the_daemon_too(folder: Path, tmp_path: Path) -> None:
    file = config(tmp_path, drone_id="d7", grace_s=2.5)
    around = tmp_path / "around.yaml"
    around.write_text("/**: {ros__parameters: {rekey_interval_s: 77.0, grace_s: 1.5, of_another: 1}}")
    drone = resolve(DRONE, {"tunnel": DAEMON, **ALONE, "config": file})
    for order, wanted in (
        ((("rekey_interval_s", 9.0), str(around)), "77.0"),
        ((str(around), ("rekey_interval_s", 9.0)), "9.0"),
    ):
        (line,) = [command(each) for each in arranged(with_set_around(drone, order)) if is_daemon(each)]
        assert f"rekey_interval_s={wanted}" in line and not any(word.startswith("grace_s") for word in line)
    with pytest.raises(BringupError, match="no-such"):
        with_set_around(drone, [str(tmp_path / "no-such.yaml")])


def test_a_tunnel_waits_if_the_launch_file_says_so_of_all_nodes(folder: Path, tmp_path: Path) -> None:
    def line(around: bool, **said: object) -> list[str]:
        file = config(tmp_path, drone_id="d7", **said)
        made = with_set_around(resolve(DRONE, {"tunnel": DAEMON, **ALONE, "config": file}), [("autostart", around)])
        (found,) = [command(each) for each in arranged(made) if is_daemon(each)]
        return found

    assert "--paused" in line(False)
    assert "--paused" not in line(True) and "--paused" not in line(False, autostart=True)


def test_a_node_that_waits_by_its_file_has_a_tunnel_that_waits(folder: Path, tmp_path: Path) -> None:
    file = config(tmp_path, drone_id="d7", autostart=False)
    assert "--paused" in command(pair(config=file)[1])
    assert "--paused" not in command(pair(config=config(tmp_path, drone_id="d7", autostart=True))[1])


def test_a_daemon_has_what_its_node_has_and_both_one_door(folder: Path, tmp_path: Path) -> None:
    file = config(tmp_path, drone_id="d7")
    node, daemon = pair(config=file, namespace="d7", autostart="false", peer="10.0.0.1", use_sim_time="true")
    door = str(folder / "drone-d7.sock")
    assert node.parameters["control_socket"] == door and node.parameters["tunnel"] == DAEMON
    line = command(daemon)
    assert Path(line[0]).name == TUNNELD and line[-1] == file and "--ros-args" not in line
    assert line[1:3] == ["--node", "/d7/pqc_proxy"]
    assert line[line.index("--door") + 1] == door and "--paused" in line
    assert 'peer="10.0.0.1"' in line and not any(word.startswith(("tunnel=", "use_sim_time=")) for word in line)
    assert folder.stat().st_mode & 0o077 == 0
    assert (node.respawn, node.nice) == (daemon.respawn, daemon.nice)
    levels = {level: command(pair(config=file, log_level=level)[1]) for level in ("debug", "info", "warn", "fatal")}
    said = {level: [word for word in line if word.startswith("log_level=")] for level, line in levels.items()}
    assert said == {
        "debug": ["log_level=debug"],
        "info": [],
        "warn": ["log_level=warning"],
        "fatal": ["log_level=error"],
    }


def test_two_groups_of_launch_files_have_doors_of_their_own(folder: Path, tmp_path: Path) -> None:
    given = {"tunnel": DAEMON, "config": config(tmp_path, drone_id="d7"), **ALONE}

    def door(group: str) -> object:
        node, daemon = arranged(resolve(DRONE, given, group), group)
        assert node.parameters["control_socket"] == daemon.parameters["control_socket"]
        return daemon.parameters["control_socket"]

    assert door("fleet/one") == str(folder / "drone-d7@fleet.one.sock")
    assert door("two") == str(folder / "drone-d7@two.sock")
    assert door("") == str(folder / "drone-d7.sock")


@pytest.mark.parametrize("system", [DRONE, GCS, DEMO], ids=lambda system: system.name)
def test_it_runs_only_where_it_is_asked_for(system) -> None:
    values = {argument.name: argument.default or (argument.choices or "1")[0] for argument in system.arguments}
    for tunnel, count in (("inside", 0), (ATTACH, 0), (DAEMON, 1 + (system is DEMO))):
        processes = resolve(system, {**values, "tunnel": tunnel})
        assert sum(map(is_daemon, processes)) == count
        nodes = [each for each in processes if each.node == "pqc_proxy" and not is_daemon(each)]
        assert {each.parameters.get("tunnel", "inside") for each in nodes} == {tunnel}


def test_the_configuration_of_one_that_runs_already_is_not_ours_to_judge(tmp_path: Path) -> None:
    node, *_ = resolve(DRONE, {"tunnel": ATTACH, "config": config(tmp_path, keys="/nowhere"), **ALONE})
    assert engine_of(node) == {}


def test_where_a_door_cannot_be(folder: Path, tmp_path: Path) -> None:
    def refusal(**values: object) -> str:
        with pytest.raises(BringupError) as refused:
            pair(config=config(tmp_path, **values))
        return str(refused.value)

    assert "must not be 'off'" in refusal(control_socket="off")
    assert "There is no folder /nowhere" in refusal(control_socket="/nowhere/own.sock")
    assert "of 107 bytes at most" in refusal(control_socket=str(tmp_path / f"{'x' * 107}.sock"))
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert f"{folder} is open to other users" in refusal()
    folder.chmod(0o1777)
    assert pair(config=config(tmp_path, control_socket=str(folder / "own.sock")))[0].parameters["control_socket"]
    folder.rmdir()
    folder.write_text("no folder")
    assert "set PQCMAV_RUN_DIR to one of your own" in refusal()


def test_its_program_judges_its_configuration_before_anything_starts(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "lib" / "pqc_mav_tunnel" / TUNNELD
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho warned >&2\necho "{TUNNELD}: No." >&2\nexit 2\n')
    node, daemon = pair(config=config(tmp_path))
    check_daemon(node)
    with pytest.raises(BringupError, match=r"^No\.$"):
        check_daemon(daemon)
    assert (tmp_path / "asked").read_text().split()[-1] == "--check"
    check_daemon(pair(config=config(tmp_path), autostart="false")[1])
    program.write_text("#!/bin/sh\n")
    check_daemon(daemon)


def started(system: SystemDescription = GCS, **given: str) -> dict[str, str]:
    """The proxies of a system that is started, and where their engines are."""
    made = arranged(resolve(system, given))
    assert sum(map(is_daemon, made)) == sum(each.parameters.get("tunnel") == DAEMON for each in made)
    nodes = [each for each in made if each.node == "pqc_proxy" and not is_daemon(each)]
    return {each.label: str(each.parameters.get("tunnel", "inside")) for each in nodes}


def test_without_a_word_there_is_a_daemon_where_there_can_be_one(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def said() -> str:
        return capfd.readouterr().err

    proxy = "gcs/pqc_proxy"
    assert started() == {proxy: DAEMON} and started(DRONE, **ALONE) == {"drone/pqc_proxy": DAEMON} and not said()
    for tunnel in TUNNELS:
        assert started(tunnel=tunnel) == {proxy: tunnel}
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(folder / "gcs.sock"))
        assert started() == {proxy: DAEMON}, "a socket of the dead"
        other.listen()
        ports = dict.fromkeys(PORTS, "1")
        assert started(DEMO, **ports) == {proxy: "inside", "drone/pqc_proxy": DAEMON}
        assert said() == f"{proxy}: its tunnel is inside it: Another engine serves {folder / 'gcs.sock'}.\n"
        assert started(tunnel=DAEMON) == {proxy: DAEMON}, "who asks for it hears what that one says"
    assert started(config=config(tmp_path, control_socket="off")) == {proxy: "inside"} and "'off'" in said()
    (tmp_path / "lib" / "pqc_mav_tunnel" / TUNNELD).unlink()
    assert (started() == {proxy: "inside"} and "is not installed here" in said()) or shutil.which(TUNNELD)
    (folder / "gcs.sock").unlink()
    folder.chmod(0o777)
    assert started() == {proxy: "inside"} and "is open to other users" in said()


@pytest.mark.parametrize("composition", ["false", "true"])
def test_the_one_in_cpp_has_a_daemon_too(folder: Path, composition: str) -> None:
    alone = {**ALONE, "proxy": "cpp", "composed": composition}
    assert started(DRONE, **alone) == {"drone/pqc_proxy": DAEMON}
    for tunnel in TUNNELS:
        assert started(DRONE, **alone, tunnel=tunnel) == {"drone/pqc_proxy": tunnel}
    inside, others = split(arranged(resolve(DRONE, alone)), composition)
    assert any(map(is_daemon, others)), "a container that dies does not take it along"
    for each in components(inside):
        assert each.parameters["tunnel"] == DAEMON and each.parameters["control_socket"].startswith(str(folder))
