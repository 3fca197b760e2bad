# SPDX-License-Identifier: Apache-2.0
"""pqcmav-tunneld as a user runs it: files in, exit codes and sentences out."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from test_console import Client
from tunnel_support import LIGHT, udp

PROGRAM = shutil.which("pqcmav-tunneld")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def write(path: Path, **values: Any) -> Path:
    path.write_text("".join(f"{key}: {value}\n" for key, value in values.items()))
    return path


@pytest.fixture
def gcs_file(keys: Path, tmp_path: Path) -> Path:
    return write(
        tmp_path / "gcs.yaml",
        role="gcs",
        keys=keys / "gcs",
        drones="[uav1]",
        bind="127.0.0.1",
        data_port=0,
        key_pool_depth=0,
    )


class Daemon:
    """A running tunneld and what it printed."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [str(PROGRAM), *map(str, arguments)], stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.lines: list[str] = []

    def wait_for(self, pattern: str) -> re.Match[str]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if match := re.search(pattern, line):
                return match
        pytest.fail(f"{pattern} is not in {self.lines}")

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        _, rest = self.process.communicate(timeout=30)
        self.lines.append(rest)
        return self.process.returncode


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    running: list[Daemon] = []
    yield running
    for daemon in running:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.wait(30)
        if daemon.process.stderr:
            daemon.process.stderr.close()


def test_help_and_version() -> None:
    for argument in ("--help", "-h"):
        result = run(argument)
        assert result.returncode == 0
        assert "Usage: pqcmav-tunneld" in result.stdout
    version = run("--version")
    assert version.returncode == 0
    assert tunnel.engine_version() in version.stdout
    assert tunnel.liboqs_version() in version.stdout


def test_preflight() -> None:
    result = run("--preflight")
    assert "ML-KEM-768" in result.stdout
    lasting = [check["available"] for check in tunnel.preflight() if check["edition"] == "lasting"]
    assert result.returncode == (0 if all(lasting) else 1)


@pytest.mark.parametrize("arguments", [(), ("--nonsense",), ("--set",), ("--node", "/gcs")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Usage" in result.stderr
    assert result.stdout == ""


def test_check(gcs_file: Path) -> None:
    result = run("--check", gcs_file)
    assert (result.returncode, result.stderr) == (0, "")
    assert "good" in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("role: gcs\nkeys: [", "line"),
        ("", "is empty"),
        ("role: gcs\nkeys: /k\ndrones: [a]\nkeepalive: 1", "Did you mean 'keepalive_s'?"),
        ("role: gcs\nkeys: /k\ndrones: [a]\ndata_port: 70000", "between 0 and 65535"),
        ("role: gcs\nkeys: /nowhere\ndrones: [a]", "/nowhere"),
        ("role: gcs\nkeys: /k\ndrones: [drone1, drone1]", "'drones' names 'drone1' twice."),
        ("role: drone\nkeys: /k\ndrone_id: a\npeer: b\nplain_bind: '14590'", "write it as host:port"),
        ("role: drone\nkeys: /k\ndrone_id: a\npeer: b\nplain_bind: 14590", "must be a string, not 14590."),
        ("role: drone\nkeys: /k\ndrone_id: a\npeer: b\nplain_tap: 10.0.0.1:1", "loopback"),
    ],
)
@pytest.mark.parametrize("options", [("--check",), ()])
def test_bad_configurations(tmp_path: Path, text: str, words: str, options: tuple[str, ...]) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    result = run(*options, tmp_path / "bad.yaml")
    assert result.returncode == 2
    assert words in result.stderr
    assert result.stderr.startswith("pqcmav-tunneld: ")
    assert result.stderr.count("\n") == 1


def test_a_port_in_use(keys: Path, tmp_path: Path) -> None:
    with udp() as taken:
        config = write(
            tmp_path / "gcs.yaml",
            role="gcs",
            keys=keys / "gcs",
            drones="[uav1]",
            bind="127.0.0.1",
            data_port=taken.getsockname()[1],
        )
        result = run(config)
    assert result.returncode == 1
    assert "in use" in result.stderr


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_two_of_them_carry_packets(
    keys: Path, tmp_path: Path, gcs_file: Path, daemons: list[Daemon], sign: signal.Signals
) -> None:
    with udp() as ground, udp() as autopilot:
        gcs_file.write_text(gcs_file.read_text() + f"drone.uav1.plain_peer: 127.0.0.1:{ground.getsockname()[1]}\n")
        gcs = Daemon(gcs_file)
        daemons.append(gcs)
        ports = gcs.wait_for(r"UDP port (\d+), plaintext of uav1 on UDP port (\d+)")
        config = write(
            tmp_path / "drone.yaml",
            role="drone",
            keys=keys / "drones" / "uav1",
            drone_id="uav1",
            peer="127.0.0.1",
            bind="127.0.0.1",
            data_port=ports[1],
            local_data_port=0,
            suite=LIGHT,
            plain_bind="127.0.0.1:0",
        )
        drone = Daemon(config)
        daemons.append(drone)
        plain = int(drone.wait_for(r"plaintext of uav1 on UDP port (\d+)")[1])
        drone.wait_for(r"HANDSHAKING -> UP|DOWN -> UP")
        autopilot.sendto(b"telemetry", ("127.0.0.1", plain))
        assert ground.recv(100) == b"telemetry"
        ground.sendto(b"command", ("127.0.0.1", int(ports[2])))
        assert autopilot.recv(100) == b"command"
    assert drone.stop(sign) == 0
    gcs.wait_for("-> DOWN: The peer closed the session")
    assert gcs.stop(sign) == 0
    secret = (keys / "drones" / "uav1" / "psk.key").read_text().splitlines()[-1]
    assert secret[:16] not in "".join(drone.lines + gcs.lines)


def test_the_first_line_of_a_large_gcs_can_be_read(tmp_path: Path, daemons: list[Daemon]) -> None:
    drones = [f"uav{at}" for at in range(20)]
    tunnel.init_keys(str(tmp_path / "keys"), drones, ["mldsa44"])
    config = write(
        tmp_path / "gcs.yaml", role="gcs", keys=tmp_path / "keys" / "gcs", drones=drones, bind="127.0.0.1", data_port=0
    )
    daemon = Daemon(config)
    daemons.append(daemon)
    line = daemon.wait_for("gcs, encrypted UDP port .*").string
    assert "plaintext of uav7 on UDP port" in line
    assert "uav8" not in line
    assert line.rstrip().endswith(", and of 12 more drones")


def heard(manager: socket.socket) -> str:
    return manager.recv(4096).decode()


def test_a_service_manager_hears_ready_watchdog_and_stopping(
    gcs_file: Path, tmp_path: Path, daemons: list[Daemon]
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(30)
        daemon = Daemon(gcs_file, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="600000")
        daemons.append(daemon)
        ready, status = heard(manager).split("\n")
        assert ready == "READY=1"
        assert re.fullmatch(
            r"STATUS=gcs, encrypted UDP port \d+, plaintext of uav1 on UDP port \d+( \(MAVLink to [\d.:]+\))?", status
        )
        assert [heard(manager) for _ in range(3)] == ["WATCHDOG=1"] * 3
        daemon.process.send_signal(signal.SIGSTOP)
        manager.settimeout(1.5)
        with pytest.raises(TimeoutError):
            while True:
                heard(manager)
        daemon.process.send_signal(signal.SIGCONT)
        manager.settimeout(30)
        assert heard(manager) == "WATCHDOG=1"
        assert daemon.stop() == 0
        while (last := heard(manager)) == "WATCHDOG=1":
            pass
        assert last == "STOPPING=1"


def test_sighup_reads_the_keys_again(gcs_file: Path, daemons: list[Daemon]) -> None:
    daemon = Daemon(gcs_file)
    daemons.append(daemon)
    daemon.wait_for("Control socket")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for("Read the keys again. Nothing has changed.")
    assert daemon.stop() == 0


def test_sighup_reads_the_drones_again(tmp_path: Path, daemons: list[Daemon]) -> None:
    tunnel.init_keys(str(tmp_path / "keys"), ["uav1", "uav2"], sig_tokens=["mldsa44"])

    def serve(drones: str) -> Path:
        """Both ends in one file of ROS, as launch files have it."""
        ends = {"/gcs/pqc_proxy": f"role: gcs, drones: {drones}", "/drone/pqc_proxy": "role: drone, drones: [other]"}
        return write(tmp_path / "gcs.yaml", **{node: f"{{ros__parameters: {{{it}}}}}" for node, it in ends.items()})

    common = {"keys": tmp_path / "keys" / "gcs", "bind": "127.0.0.1", "key_pool_depth": 0, "data_port": 4433}
    below = write(tmp_path / "below.yaml", **common, allowed_suites=f"[{LIGHT}]")
    settings = ("--set", "data_port=0", "--set", f"control_socket={tmp_path / 'gcs.sock'}")

    def reload() -> None:
        daemon.process.send_signal(signal.SIGHUP)

    daemon = Daemon("--node", "/gcs/pqc_proxy", *settings, below, serve("[uav1]"))
    daemons.append(daemon)
    daemon.wait_for("Control socket")
    serve("[uav1, uav2]")
    reload()
    daemon.wait_for("The configuration has changed. Added: uav2.")
    serve("[uav1, stranger]")
    reload()
    daemon.wait_for("not reloaded: ")
    serve("[uav2")
    reload()
    daemon.wait_for("not reloaded: ")
    serve("[uav2]")
    reload()
    daemon.wait_for("The configuration has changed. Removed: uav1.")
    assert daemon.stop() == 0


def test_a_daemon_that_cannot_start_is_never_ready(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("role: gcs\nkeys: /nowhere\ndrones: [a]")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        result = run(tmp_path / "bad.yaml", NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert result.returncode == 2
        with pytest.raises(BlockingIOError):
            manager.recv(4096)


def ask(door: Path, command: str) -> dict[str, Any]:
    client = Client(str(door))
    answer = client.ask(command)
    client.close()
    return answer


def test_a_paused_tunnel_stays_closed_when_the_daemon_crashes(
    gcs_file: Path, tmp_path: Path, daemons: list[Daemon]
) -> None:
    door = tmp_path / "own.sock"

    def serve(*options: str) -> Daemon:
        daemons.append(Daemon("--set", f"control_socket={door}", *options, gcs_file))
        return daemons[-1]

    daemon = serve()
    daemon.wait_for("gcs, encrypted UDP port")
    for command, state in (("pause", "inactive"), ("resume", "active"), ("pause", "inactive")):
        assert ask(door, command)["result"]["state"] == state
        daemon.process.kill()
        daemon.process.wait(30)
        daemon = serve(*(["--paused"] if state == "active" else []))
        daemon.wait_for("gcs, encrypted UDP port" if state == "active" else "inactive: The tunnel is paused")
        assert ask(door, "hello")["result"]["state"] == state
    assert daemon.stop() == 0
    daemon = serve()
    daemon.wait_for("inactive: The tunnel is paused")  # an end that was asked for opens it no more than a crash
    assert ask(door, "resume")["ok"]
    assert daemon.stop() == 0
    daemon = serve("--paused")
    daemon.wait_for("inactive: The tunnel is paused")
    assert daemon.stop() == 0


def test_a_bad_configuration_is_told_at_the_door(gcs_file: Path, tmp_path: Path, daemons: list[Daemon]) -> None:
    door, good = tmp_path / "own.sock", gcs_file.read_text()
    gcs_file.write_text(good + "data_ports: 7\n")
    daemon = Daemon("--door", str(door), gcs_file)
    daemons.append(daemon)
    daemon.wait_for("unconfigured: .*data_ports")
    assert door.stat().st_mode & 0o777 == 0o600  # who else may use it is not known yet
    told = ask(door, "hello")["result"]
    assert told["state"] == "unconfigured" and "data_ports" in told["problem"]
    assert ask(door, "status")["error"] == {"code": "state", "text": told["problem"]}
    gcs_file.write_text(good)
    daemon.process.send_signal(signal.SIGHUP)
    for _ in range(1000):
        if ask(door, "hello")["result"]["state"] == "active":
            break
        time.sleep(0.02)
    assert ask(door, "status")["result"]["data_port"] > 0
    assert door.stat().st_mode & 0o777 == 0o660
    assert daemon.stop() == 0
    assert sum("data_ports" in line for line in daemon.lines) == 1, "said once"
    assert not door.exists()


def test_a_door_that_cannot_be_ends_the_start(gcs_file: Path) -> None:
    result = run("--door", "/nowhere/own.sock", gcs_file)
    assert result.returncode == 1 and "/nowhere/own.sock" in result.stderr


def test_health(gcs_file: Path, tmp_path: Path, daemons: list[Daemon]) -> None:
    file = str(tmp_path / "health")
    result = run("--healthy")
    assert result.returncode == 2
    assert "PQCMAV_HEALTH_FILE" in result.stderr
    assert run("--healthy", PQCMAV_HEALTH_FILE=file).returncode == 1
    daemon = Daemon(gcs_file, PQCMAV_HEALTH_FILE=file)
    daemons.append(daemon)
    daemon.wait_for("UDP port")
    deadline = time.monotonic() + 30
    while (result := run("--healthy", PQCMAV_HEALTH_FILE=file)).returncode != 0:
        assert time.monotonic() < deadline, result.stderr
    assert result.stdout == "uav1 DOWN\n"
    assert result.stderr == ""


def test_a_health_file_that_cannot_be_written_is_said_once(gcs_file: Path, daemons: list[Daemon]) -> None:
    daemon = Daemon(gcs_file, PQCMAV_HEALTH_FILE="/nowhere/health")
    daemons.append(daemon)
    daemon.wait_for("Cannot write /nowhere/health")
    assert daemon.stop() == 0
    assert "".join(daemon.lines).count("Cannot write") == 1
