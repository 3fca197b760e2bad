# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
from pathlib import Path

import pytest
from test_up import ALONE, Ends

from pqc_mav_bringup import supervise
from pqc_mav_cli.app import main
from pqc_mav_common.free_ports import free_ports


@pytest.fixture
def ends(tmp_path: Path, keys: Path) -> Ends:
    return Ends(tmp_path, keys)


def test_both_ends_are_good_and_say_where_they_would_listen(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["up", "gcs", "--config", str(ends.write("gcs")), "--detect", "false", "--check"]) == 0
    assert f"UDP port {ends.data} on 127.0.0.1 is free" in capsys.readouterr().out
    assert main(["up", "drone", "--config", str(ends.write("drone")), *ALONE, "--check"]) == 0
    said = capsys.readouterr().out
    assert f"MAVLink: UDP port {ends.plain} on 127.0.0.1 is free" in said and "the keys in" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keys", "/nowhere"], "/nowhere/psk.key"),
        (["--suite", "nonsense"], "nonsense"),
        (["--config", "/none.yaml"], "/none.yaml"),
    ],
)
def test_what_is_wrong_is_one_line(
    ends: Ends, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["up", "drone", "--config", str(ends.write("drone")), *ALONE, "--check", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_port_that_is_taken_is_named(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", ends.plain))
        assert main(["up", "drone", "--config", str(ends.write("drone")), *ALONE, "--check"]) == 1
    assert f"MAVLink: UDP port {ends.plain} on 127.0.0.1: Address already in use." in capsys.readouterr().err


def test_every_port_that_it_would_open_is_looked_at(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    udp, tcp, relay = free_ports(3)
    plain = [f"udp-listen:127.0.0.1:{udp}", f"tcp-listen:127.0.0.1:{tcp}", f"udp:127.0.0.1:{ends.ground}"]
    more = {"plain_bind": "127.0.0.1:14590", "relay_port": relay, "relay_from": ["10.0.0.0/24"]}
    config = ends.write("drone", plain_endpoints=plain, **more)
    check = ["up", "drone", "--config", str(config), *ALONE, "--check"]
    ports = {
        f"MAVLink: UDP port {udp}": udp,
        f"MAVLink: TCP port {tcp}": tcp,
        f"to other drones: UDP port {relay}": relay,
    }
    assert main(check) == 0
    said = capsys.readouterr().out
    assert all(f"{name} on 127.0.0.1 is free" in said for name in ports)
    assert "14590" not in said, "plain_endpoints are in its place"
    for name, port in ports.items():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM if "TCP" in name else socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", port))
            if "TCP" in name:
                taken.listen()
            assert main(check) == 1
        assert f"{name} on 127.0.0.1: Address already in use." in capsys.readouterr().err


@pytest.mark.parametrize("end", ["drone", "gcs"])
@pytest.mark.parametrize(("options", "level"), [([], None), (["-v"], "debug"), (["-v", "--log-level", "warn"], "warn")])
def test_verbose_is_a_level_of_the_log(
    monkeypatch: pytest.MonkeyPatch, end: str, options: list[str], level: str | None
) -> None:
    given = {}
    monkeypatch.setattr(supervise, "replace_process", lambda _program, _name, options: given.update(options) or 0)
    assert main(["up", end, *options]) == 0
    assert given.get("log_level") == level
