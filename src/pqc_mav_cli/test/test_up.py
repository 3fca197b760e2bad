# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up` in place of the launch tests: the same systems, bad input, signals, respawn, nothing left over."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from commands import COMMAND, DEADLINE_S, Running, pqcmav, refused

from pqc_mav_bringup.description import SystemDescription
from pqc_mav_bringup.log_file import VARIABLE
from pqc_mav_bringup.share import prefixes
from pqc_mav_bringup.systems import DEMO, DRONE, SYSTEMS
from pqc_mav_cli.up_command import option
from pqc_mav_common.free_ports import free_ports

# The proxy alone.
ALONE = ("--sensing", "false", "--policy", "false", "--detect", "false")


class Ends:
    """Configuration files of both ends on free ports."""

    def __init__(self, folder: Path, keys: Path) -> None:
        self.data, self.plain, self.ground = free_ports(3)
        self.keys = keys
        self.folder = folder

    def write(self, role: str, /, **changes: object) -> Path:
        values: dict[str, object] = {
            "keys": str(self.keys / ("gcs" if role == "gcs" else "drones/d1")),
            "bind": "127.0.0.1",
            "data_port": self.data,
        }
        if role == "drone":
            plain = f"127.0.0.1:{self.plain}"
            values |= {"drone_id": "d1", "peer": "127.0.0.1", "local_data_port": 0, "plain_bind": plain}
        else:
            values |= {"drones": ["d1"], "drone": {"d1": {"plain_peer": f"127.0.0.1:{self.ground}"}}}
        document = {"/**": {"pqc_proxy": {"ros__parameters": {**values, **changes}}}}
        path = self.folder / f"{role}.yaml"
        path.write_text(json.dumps(document))  # JSON is YAML
        return path


@pytest.fixture
def ends(tmp_path: Path, keys: Path) -> Ends:
    return Ends(tmp_path, keys)


def descendants(running: Running) -> list[psutil.Process]:
    return psutil.Process(running.process.pid).children(recursive=True)


def wait_until_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=DEADLINE_S)
    assert not alive


@pytest.mark.parametrize(("number", "together"), [(signal.SIGINT, "true"), (signal.SIGTERM, "false")])
def test_both_ends_come_up_carry_data_and_end_cleanly(ends: Ends, number: signal.Signals, together: str) -> None:
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")))
    drone = Running("up", "drone", "--config", str(ends.write("drone")), "--together", together)
    nodes = ("tunneld", "pqc_onboard") if together == "true" else ("tunneld", "pqc_sensing", "pqc_policy", "pqc_detect")
    try:
        drone.wait_for("-> UP")
        gcs.wait_for("-> UP")
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ground,
        ):
            ground.bind(("127.0.0.1", ends.ground))
            ground.settimeout(DEADLINE_S)
            autopilot.settimeout(DEADLINE_S)
            autopilot.sendto(b"up there", ("127.0.0.1", ends.plain))
            received, sender = ground.recvfrom(2048)
            assert received == b"up there"
            ground.sendto(b"down here", sender)
            assert autopilot.recvfrom(2048)[0] == b"down here"
        started = descendants(gcs) + descendants(drone)
        assert len(started) >= 4 + len(nodes), "two proxies, tunnel and detector on the ground, and what the drone runs"
        assert drone.end(number) == 0
        gcs.wait_for("UP -> DOWN")
        assert gcs.end(number) == 0
        wait_until_gone(started)
    finally:
        drone.kill()
        gcs.kill()
    said_by = "|".join(("pqc_proxy", *nodes))
    assert all(re.match(rf"drone: |\d\d:\d\d:\d\d\.\d{{3}} drone/({said_by}) +\| ", line) for line in drone.lines)


@pytest.mark.parametrize(
    ("tunnel", "program", "number", "said"),
    [
        ("inside", "pqc_proxy", signal.SIGKILL, "signal SIGKILL"),
        ("inside", "pqc_proxy", signal.SIGTERM, "exit code 0, as if it had been asked to"),
        ("daemon", "pqcmav-tunneld", signal.SIGTERM, "exit code 0, as if it had been asked to"),
    ],
)
def test_a_proxy_that_somebody_ends_is_started_again_and_connects_again(
    ends: Ends, tunnel: str, program: str, number: signal.Signals, said: str
) -> None:
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")))
    drone = Running("up", "drone", "--config", str(ends.write("drone")), "--tunnel", tunnel, *ALONE)
    try:
        drone.wait_for("-> UP")
        (proxy,) = (each for each in descendants(drone) if program in " ".join(each.cmdline()[:2]))
        proxy.send_signal(number)
        drone.wait_for(f"ended with {said}; starting it again in 0.3 s")
        deadline = time.monotonic() + DEADLINE_S
        while sum("-> UP" in line for line in drone.lines) < 2:
            assert time.monotonic() < deadline, "\n".join(drone.lines)
            time.sleep(0.05)
        assert drone.end(signal.SIGINT) == 0
    finally:
        drone.kill()
        gcs.kill()


def test_a_tunnel_goes_on_when_nothing_reads_its_output_any_more(ends: Ends) -> None:
    command = [*COMMAND, "up", "gcs", "--config", str(ends.write("gcs"))]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as gcs:
        try:
            assert gcs.stderr is not None and "(Ctrl-C stops)" in gcs.stderr.readline()
            gcs.stderr.close()
            drone = Running("up", "drone", "--config", str(ends.write("drone")), *ALONE)
            try:
                drone.wait_for("-> UP")
                gcs.send_signal(signal.SIGINT)
                assert gcs.wait(DEADLINE_S) == 0
            finally:
                drone.kill()
        finally:
            gcs.kill()


def test_nothing_survives_a_killed_supervisor(ends: Ends) -> None:
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")))
    try:
        gcs.wait_for("gcs, encrypted UDP port")
        started = descendants(gcs)
        assert started
        os.kill(gcs.process.pid, signal.SIGKILL)
        wait_until_gone(started)
    finally:
        gcs.kill()


def fails(code: int, *arguments: str) -> str:
    """`up` ends by itself with `code`; besides its greeting it prints one line, which is returned."""
    alone = ALONE if arguments[0] == "drone" else ALONE[-2:]
    ended = pqcmav("up", *arguments, *alone)
    assert ended.returncode == code, ended.stderr
    lines = [line for line in ended.stderr.splitlines() if "(Ctrl-C stops)" not in line]
    assert len(lines) == 1 and "Traceback" not in ended.stderr, ended.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sutie": "x"}, "Did you mean 'suite'"),
        ({"dscp": 64}, "between 0 and 63"),
        ({"keepalive_s": "often"}, "must be a number"),
        ({"suite": "cs-mlkem768-aesgcm-mldsa99"}, "cs-mlkem768-aesgcm-mldsa65"),
        ({"keys": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"drone_id": "Not An Id"}, "Not An Id"),
    ],
)
def test_bad_configuration_is_one_line_and_exit_code_2(ends: Ends, changes: dict[str, object], said: str) -> None:
    line = fails(2, "drone", "--config", str(ends.write("drone", **changes)))
    assert said in line


def test_broken_yaml(ends: Ends) -> None:
    path = ends.write("drone")
    path.write_text("/**:\n  pqc_proxy:\n    ros__parameters:\n      suite: [\n")
    line = fails(2, "drone", "--config", str(path))
    assert str(path) in line and "line 5" in line


def test_a_configuration_that_does_not_exist_or_is_of_the_other_end(ends: Ends, tmp_path: Path) -> None:
    missing = str(tmp_path / "none.yaml")
    assert f"There is no configuration file '{missing}'" in refused(2, "up", "gcs", "--config", missing)
    assert missing in refused(2, "up", "drone", "--config", str(ends.write("drone")), "--policy-config", missing)
    assert "needs a file with 'role: drone'" in refused(
        2, "up", "drone", "--config", str(ends.write("gcs", role="gcs"))
    )
    assert "needs a file with 'role: gcs'" in refused(
        2, "up", "gcs", "--config", str(ends.write("drone", role="drone"))
    )


def test_a_drone_named_twice(ends: Ends) -> None:
    line = fails(2, "gcs", "--config", str(ends.write("gcs")), "--drones", "d1,d1")
    assert "'drones' names 'd1' twice" in line


def test_a_key_the_group_can_read(ends: Ends, tmp_path: Path) -> None:
    import pqc_mav_tunnel

    pqc_mav_tunnel.export_drone(str(ends.keys), "d1", str(tmp_path / "d1"))
    (tmp_path / "d1" / "psk.key").chmod(0o640)
    line = fails(2, "drone", "--config", str(ends.write("drone")), "--keys", str(tmp_path / "d1"))
    assert "psk.key" in line and "chmod" in line


def test_a_port_in_use(ends: Ends) -> None:
    path = ends.write("gcs")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", ends.data))
        assert str(ends.data) in fails(1, "gcs", "--config", str(path), "--tunnel", "inside")
        ended = pqcmav("up", "gcs", "--config", str(path), *ALONE[-2:])
        assert ended.returncode == 1 and f":{ends.data} is in use" in ended.stderr.splitlines()[-1], ended.stderr


@pytest.mark.parametrize("bind", ["", "127.0.0.1"])
def test_a_peer_that_cannot_be_resolved_yet(ends: Ends, bind: str) -> None:
    """A drone boots before its network: it says so and goes on trying."""
    config = str(ends.write("drone", bind=bind))
    drone = Running("up", "drone", "--config", config, "--peer", "no-such-host.invalid", *ALONE)
    try:
        drone.wait_for("no-such-host.invalid")
        assert drone.end(signal.SIGINT) == 0
    finally:
        drone.kill()


def test_a_peer_that_can_never_be_resolved(ends: Ends) -> None:
    line = fails(2, "drone", "--config", str(ends.write("drone")), "--peer", "no such host")
    assert "no such host" in line


def test_options_win_over_the_file(ends: Ends) -> None:
    line = fails(2, "drone", "--config", str(ends.write("drone")), "--suite", "cs-none", "--peer", "127.0.0.1")
    assert "cs-none" in line


def test_what_cannot_be_started_is_refused_before_anything_starts(ends: Ends) -> None:
    if pytest.importorskip("pqc_mav_cli.doctor.mavros").installed(prefixes()):
        pytest.skip("mavros is installed here")
    assert "mavlink:=udp works without it" in refused(2, "up", "drone", "--mavlink", "mavros")
    assert "one of: udp, mavros" in refused(2, "up", "gcs", "--mavlink", "serial")


def test_mavros_that_would_listen_to_the_network_is_refused_with_the_cure() -> None:
    open_url = ("up", "drone", "--mavlink", "mavros", "--gcs-url", "udp://@127.0.0.1:14590")
    assert "write 'udp://127.0.0.1:14555@127.0.0.1:14590'" in refused(2, *open_url)
    assert "to 192.0.2.7, past the tunnel" in refused(
        2, *open_url, "--mavros-allow", "0.0.0.0", "--fcu-url", "tcp://192.0.2.7"
    )


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_the_options_are_the_arguments_of_the_launch_file(system: SystemDescription, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    said = " ".join(pqcmav("up", system.name, "--help").stdout.split())
    offered = set(re.findall(r"│ (--[\w-]+)", said))
    extra = {"--verbose", "--help"} | ({"--check"} if system is not DEMO else set())
    assert offered == {option(each.name) for each in system.arguments if each.name != "composed"} | extra
    assert ":=" not in said and "yaml. " not in said, "no path of this machine, and no word of a launch file"
    if system is DRONE:
        assert "see --mavros-allow" in said and "One of: udp (default), mavros." in said
        assert "Default: the installed one." in said


def test_the_demo_system() -> None:
    pytest.importorskip("pqc_mav_sim.vehicle", reason="pqc_mav_sim is not installed")
    demo = Running("up", "demo", "--rate", "50")
    try:
        demo.wait_for("gcs, encrypted UDP port")
        demo.wait_for("lost 0 dup 0")
        started = descendants(demo)
        assert len(started) in (6, 7), "the proxy in C++ is guarded from a process of its own"
        assert sum(each.name() == "pqcmav-tunneld" for each in started) == 2
        assert demo.end(signal.SIGINT) == 0
        wait_until_gone(started)
    finally:
        demo.kill()


@pytest.mark.parametrize(
    ("end", "options", "said"),
    [
        ("drone", ["--peer", "999.1.1.1"], "'peer' is '999.1.1.1': it is not an IPv4 address"),
        ("drone", ["--suite", "RSA"], "'suite': There is no suite \"RSA\"; 'pqcmav suites' lists all"),
        ("drone", ["--suite", "ML-768"], "the closest are cs-mlkem768-"),
        ("gcs", ["--suite", "RSA"], 'There is no suite "RSA"'),
        ("gcs", ["--keys", "/nowhere"], "/nowhere"),
    ],
)
def test_what_an_end_would_refuse_ends_the_command_before_anything_starts(
    ends: Ends, end: str, options: list[str], said: str
) -> None:
    assert said in refused(2, "up", end, "--config", str(ends.write(end)), *options)


@pytest.mark.parametrize(("key", "value"), [("peer", "999.1.1.1"), ("suite", "RSA"), ("suite", "ML-768")])
def test_so_does_the_same_in_the_configuration(ends: Ends, key: str, value: str) -> None:
    assert value in refused(2, "up", "drone", "--config", str(ends.write("drone", **{key: value})))


@pytest.mark.parametrize("command", ["demo", "up demo"])
@pytest.mark.parametrize(("suite", "said"), [("RSA", "lists all"), ("ML-768", "cs-mlkem768-")])
def test_a_demo_of_no_suite_does_not_begin(command: str, suite: str, said: str) -> None:
    assert said in refused(2, *command.split(), "--suite", suite)


def test_a_home_that_cannot_be_written_costs_the_logs_alone(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    (ends.folder / "home").touch()  # not even root makes a folder in a file
    monkeypatch.setenv("HOME", str(ends.folder / "home"))
    monkeypatch.delenv(VARIABLE)
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")))
    drone = Running("up", "drone", "--config", str(ends.write("drone")))
    try:
        drone.wait_for("-> UP")
        drone.wait_for("strategy measured")
        ended = pqcmav("status", "--once", "--ros")
        assert ended.returncode == 0, ended.stderr
        assert drone.end(signal.SIGINT) == gcs.end(signal.SIGINT) == 0
    finally:
        drone.kill()
        gcs.kill()
    for lines in (gcs.lines, drone.lines):
        assert sum("No logs are kept" in line for line in lines) == 1, lines
        assert lines[0].endswith("cannot be written; set PQCMAV_LOG_DIR and ROS_LOG_DIR to other folders.")
    assert "a file of that name is in the way" in refused(1, "keys", "init", "d9")


def test_a_disk_that_is_full_does_not_end_a_tunnel(ends: Ends) -> None:
    with Path("/dev/full").open("w") as full:
        command = [*COMMAND, "up", "gcs", "--config", str(ends.write("gcs")), "--detect", "false"]
        with subprocess.Popen(command, stderr=full, start_new_session=True) as gcs:
            drone = Running("up", "drone", "--config", str(ends.write("drone")), *ALONE)
            try:
                drone.wait_for("-> UP")
                gcs.send_signal(signal.SIGINT)
                assert gcs.wait(DEADLINE_S) == 0
            finally:
                drone.kill()
                gcs.kill()
